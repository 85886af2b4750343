"""The dialog that puts a train together: which worktrees, in which order, and how."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final, cast

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from model.base.text import clean_line
from tui.draw.line_parts import fit, one_line
from tui.screens.dialog import Dialog
from tui.screens.landing_choices import METHODS
from tui.terminal import screen_reader
from tui.widgets.key_line import keys_line

if TYPE_CHECKING:
    from model.domain.hosting import MergeMethod
    from model.domain.landing import LandingRow

_MAX_NAME: Final = 24
_MAX_REASON: Final = 38


@dataclass(frozen=True, slots=True)
class TrainPlan:
    """The worktrees of a train, in order, and how they are brought in."""

    worktree_ids: tuple[str, ...]
    method: "MergeMethod"
    with_check: bool
    keep_going: bool


class NewTrain(Dialog[TrainPlan]):
    """Space takes a worktree in or out, shift+↑ and shift+↓ move it, enter starts.

    Args:
        rows: The worktrees that may take part, in the suggested order.
        taken: The ids of those that do at first.
        method: How they are brought in at first.
        keep_going: Whether one that fails is left out at first, instead of stopping the train.
        has_check: Whether the repository has a `check` script.
        base: The branch that they land in.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "take", show=False),
        Binding("shift+up,K", "shift(-1)", show=False),
        Binding("shift+down,J", "shift(1)", show=False),
        Binding("m", "next_method", show=False),
        Binding("c", "toggle_check", show=False),
        Binding("g", "toggle_keep_going", show=False),
    ]

    def __init__(
        self,
        rows: "Sequence[LandingRow]",
        taken: Sequence[str],
        method: "MergeMethod",
        *,
        keep_going: bool,
        has_check: bool,
        base: str,
    ) -> None:
        super().__init__("Train")
        self._rows = list(rows)
        self._taken = set(taken)
        self._has_check = has_check
        self._with_check = has_check
        self._keep_going = keep_going
        self._base = clean_line(base)
        self._method = [choice.value for choice in METHODS].index(method)

    def body(self) -> list[Widget]:
        """What it does, the worktrees, how, and the keys."""
        what = (
            f"Each is brought in on top of the one before{', then checked' * self._has_check}. "
            f"{self._base} stays as it is until you land the train."
        )
        return [
            Static(what, markup=False, classes="words"),
            OptionList(markup=False, compact=True),
            Static(id="train-how", markup=False),
            Static(id="train-keys", classes="keys"),
        ]

    def on_mount(self) -> None:
        """Show the worktrees."""
        self._fill(0)
        self.query_one(OptionList).focus()

    def _fill(self, at: int) -> None:
        options = self.query_one(OptionList)
        options.clear_options()
        options.add_options([Option(self._draw(row)) for row in self._rows])
        options.highlighted = at if self._rows else None
        check = "run the check after each" if self._with_check else "without the check"
        if not self._has_check:
            check = "there is no check script"
        method = METHODS[self._method]
        going = "one that fails is left out" if self._keep_going else "one that fails stops it"
        how = f"\n{method.label}: {method.description}; {check}; {going}"
        self.query_one("#train-how", Static).update(Content.styled(how, "$text-muted"))
        keys = [("enter", "start"), ("space", "take in or out"), ("⇧↑ ⇧↓", "move")]
        more = [("m", "method"), *([("c", "check on or off")] if self._has_check else [])]
        more.append(("g", "stop" if self._keep_going else "keep going"))
        lines = [keys_line(*keys), keys_line(*more, ("esc", "cancel"))]
        self.query_one("#train-keys", Static).update(Content("\n").join(lines))

    def _draw(self, row: "LandingRow") -> Content:
        is_in = row.worktree_id in self._taken
        taken = [each.worktree_id for each in self._rows if each.worktree_id in self._taken]
        sign = f"{taken.index(row.worktree_id) + 1:>2}" if is_in else " ·"
        if screen_reader.is_enabled():
            sign = sign if is_in else "out"
        reason = one_line(f"{row.next}: {clean_line(row.reason)}", _MAX_REASON)
        return Content.assemble(
            (f"{sign}  ", "bold" if is_in else "$text-muted"),
            (f"{fit(clean_line(row.name), _MAX_NAME)}  ", "" if is_in else "$text-muted"),
            (reason, "$text-muted"),
        )

    @property
    def _at(self) -> int:
        return self.query_one(OptionList).highlighted or 0

    def action_take(self) -> None:
        """Take the worktree under the cursor in or out."""
        if self._rows:
            self._taken ^= {self._rows[self._at].worktree_id}
            self._fill(self._at)

    def action_shift(self, by: int) -> None:
        """Move the worktree under the cursor up or down."""
        at, to = self._at, self._at + by
        if 0 <= to < len(self._rows):
            self._rows[at], self._rows[to] = self._rows[to], self._rows[at]
            self._fill(to)

    def action_next_method(self) -> None:
        """Choose the next method."""
        self._method = (self._method + 1) % len(METHODS)
        self._fill(self._at)

    def action_toggle_check(self) -> None:
        """Run the check after each, or not."""
        if self._has_check:
            self._with_check = not self._with_check
            self._fill(self._at)

    def action_toggle_keep_going(self) -> None:
        """Leave one that fails out, or stop at it."""
        self._keep_going = not self._keep_going
        self._fill(self._at)

    @on(OptionList.OptionSelected)
    def _start(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        ids = tuple(row.worktree_id for row in self._rows if row.worktree_id in self._taken)
        if not ids:
            self.notify("Take at least one worktree in: space.", markup=False)
            return
        method = cast("MergeMethod", METHODS[self._method].value)
        self.dismiss(TrainPlan(ids, method, self._with_check, self._keep_going))
