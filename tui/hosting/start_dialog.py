"""The dialog that begins work on items: a worktree for each, with its progress and errors."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, ClassVar, Final, Literal

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from model.base.errors import SpinneyError
from model.base.plural import count
from model.base.text import clean_line, make_visible
from model.domain.modes import ExecutionMode
from tui.hosting.work_list import describe_item, number_of
from tui.screens.choose import Choice
from tui.screens.dialog import Dialog
from tui.screens.pick import Pick
from tui.screens.pick_field import PickField
from tui.screens.working import LongText
from tui.widgets.key_line import keys_line

if TYPE_CHECKING:
    from model.api.hosting import StartedWork
    from tui.hosting.work_source import Entry

    Start = Callable[[Entry, bool, ExecutionMode | None], Awaitable[StartedWork]]

_FIRST: Final = (
    Choice("investigate", "a session investigates", "with the prompt for it"),
    Choice("nothing", "only the worktree", "to begin later"),
)
_MODES: "Final[dict[ExecutionMode, str]]" = {
    "plan": "proposes a plan, changes nothing",
    "build": "edits files, asks before most commands",
    "yolo": "does everything without asking",
}
_MAX_TEXT: Final = 4000
"""Characters of an item's text that are shown; the agent gets more of it."""

Step = Literal["waiting", "working", "done", "failed"]
_SIGNS: "Final[dict[Step, tuple[str, str]]]" = {
    "waiting": ("·", "$text-muted"),
    "working": ("◐", "$accent"),
    "done": ("✓", "$success"),
    "failed": ("✗", "$error"),
}


class StartWork(Dialog["list[StartedWork]"]):
    """What to begin from, and how; then the progress. Enter begins, again what failed.

    Escape stops after the item in progress; what was created stays. The result is what was
    created, `None` without anything.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "begin", show=False)]

    def __init__(
        self,
        entries: "Sequence[Entry]",
        where: str,
        start: "Start",
        mode: ExecutionMode,
    ) -> None:
        super().__init__(f"New worktree in {where}" if len(entries) == 1 else "New worktrees")
        self._entries = [entry for entry in entries if entry.item is not None]
        self._start = start
        self._mode = mode
        self._steps: list[Step] = ["waiting"] * len(self._entries)
        self._problems = [""] * len(self._entries)
        self._started: list[StartedWork] = []
        self._is_busy = False
        self._is_stopping = False

    def body(self) -> list[Widget]:
        """The items with their progress, the choices, and the keys."""
        modes = [Choice(name, name, what) for name, what in _MODES.items()]
        present = next(choice for choice in modes if choice.value == self._mode)
        self._list = Static("", markup=False)
        self._keys = Static("", classes="keys")
        return [
            LongText(self._list, classes="page status", id="items"),
            Static("", markup=False, classes="note"),
            PickField("First", _FIRST[0], self._pick_first, steps=_FIRST, id="first"),
            PickField("Mode", present, self._pick_mode, steps=modes, id="mode"),
            self._keys,
        ]

    def on_mount(self) -> None:
        """Show the items."""
        self.query_one(".note", Static).update(_NOTE)
        self.query_one("#first").focus()
        self._draw()

    def _pick_first(self, present: str, typed: str) -> Pick:
        return Pick("First", _FIRST, present, typed=typed)

    def _pick_mode(self, present: str, typed: str) -> Pick:
        choices = [Choice(name, name, what) for name, what in _MODES.items()]
        return Pick("Mode", choices, present, typed=typed)

    def _draw(self) -> None:
        parts: list[Content | tuple[str, str] | str] = []
        rows = zip(self._entries, self._steps, self._problems, strict=True)
        for entry, step, problem in rows:
            item = entry.item
            assert item is not None
            sign, tone = _SIGNS[step]
            shown = f"{sign} " if len(self._entries) > 1 or step != "waiting" else ""
            parts += [(shown, tone), (f"{number_of(item)} ", "$text-muted"),
                      (f"{clean_line(item.title)[:200]}\n", "bold")]  # fmt: skip
            if problem:
                parts.append((f"  {make_visible(problem)}\n", "$error"))
        if len(self._entries) == 1:
            parts.append(self._about(self._entries[0]))
        self._list.update(Content.assemble(*parts).rstrip())
        self._show_keys()

    def _about(self, entry: "Entry") -> Content:
        """Return what is known of the only item: author, facts, the beginning of its text."""
        item = entry.item
        assert item is not None
        by = f"by {clean_line(item.author)}" if item.author else ""
        facts = " · ".join(filter(None, (by, describe_item(item))))
        body = make_visible(getattr(item, "body", "")[:_MAX_TEXT]).strip()
        return Content.assemble((f"{facts}\n" if facts else "", "$text-muted"), f"\n{body}")

    def _show_keys(self) -> None:
        if self._is_busy:
            keys = [("esc", "stop after this one" if len(self._entries) > 1 else "wait elsewhere")]
        elif "failed" in self._steps:
            keys = [("enter", "try again"), ("tab", "field"), ("esc", "close")]
        else:
            number = "create" if len(self._entries) == 1 else f"create {len(self._entries)}"
            keys = [("enter", number), ("tab", "field"), ("← →", "choose"), ("esc", "cancel")]
        self._keys.update(keys_line(*keys))

    @on(PickField.Submitted)
    def action_begin(self) -> None:
        """Create the worktrees that do not exist yet."""
        if not self._is_busy:
            self._is_busy, self._is_stopping = True, False
            self.run_worker(self._begin(), exit_on_error=False)

    async def _begin(self) -> None:
        first = self.query_one("#first", PickField).choice.value
        value = self.query_one("#mode", PickField).choice.value
        mode = next((name for name in _MODES if name == value), None)
        for at, entry in enumerate(self._entries):
            if self._steps[at] == "done" or self._is_stopping:
                continue
            self._steps[at], self._problems[at] = "working", ""
            self._draw()
            try:
                self._started.append(await self._start(entry, first == "investigate", mode))
                self._steps[at] = "done"
            except SpinneyError as error:
                self._steps[at], self._problems[at] = "failed", error.message
            self._draw()
        self._is_busy = False
        self._draw()
        if self._is_stopping or all(step == "done" for step in self._steps):
            self.dismiss(self._started or None)

    def action_leave(self) -> None:
        """Stop after the item in progress, or close."""
        if self._is_busy and not self._is_stopping and len(self._entries) > 1:
            self._is_stopping = True
            left = self._steps.count("waiting")
            note = f"Stops after this one; {count(left, 'item')} will not be begun."
            self.query_one(".note", Static).update(note)
        else:
            self.dismiss(self._started or None)


_NOTE: Final = (
    "Each gets its own branch and directory, and its text and comments as context, marked as "
    "written by others."
)
