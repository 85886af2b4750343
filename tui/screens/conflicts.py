"""The dialog with the conflicts that merging a project's worktrees would have."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from textual import on
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from model.base.plural import count
from tui.draw.line_parts import one_line
from tui.screens.dialog import Dialog
from tui.widgets.key_line import keys_line

_MAX_COLUMNS: Final = 8
"""Worktrees of the matrix; with more of them only the list is shown."""
_WIDTH: Final = 68
"""Columns of the dialog in a terminal of 80."""
_MAX_COLUMN: Final = 20


@dataclass(frozen=True, slots=True)
class Pair:
    """Two worktrees, or a worktree and its base, that would be in conflict."""

    one: str
    other: str
    paths: tuple[str, ...]


class Conflicts(Dialog[tuple[str, int]]):
    """A matrix of the worktrees, and the pairs with their files.

    Enter shows both versions, `m` and `M` write to a session of the first or the second worktree.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("m", "choose('first')", show=False),
        Binding("M", "choose('second')", show=False),
    ]

    def __init__(self, pairs: Sequence[Pair], at: int = 0) -> None:
        super().__init__("Conflicts to come")
        self._pairs = pairs
        self._at = at

    def body(self) -> list[Widget]:
        """The matrix, the pairs and the keys."""
        options = [Option(_row(pair)) for pair in self._pairs]
        keys = [("enter", "both versions"), ("m", "message to the first"), ("M", "to the second")]
        lines = [keys_line(*keys), keys_line(("esc", "close"))]
        matrix = _draw_matrix(self._pairs)
        return [
            *([Static(matrix, markup=False, classes="words")] if matrix is not None else []),
            OptionList(*options, markup=False, compact=True),
            Static(Content("\n").join(lines), classes="keys"),
        ]

    def on_mount(self) -> None:
        """Restore the cursor."""
        options = self.query_one(OptionList)
        options.highlighted = max(0, min(self._at, len(self._pairs) - 1))
        options.focus()

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.action_choose("show")

    def action_choose(self, what: str) -> None:
        """Close with the action and the pair under the cursor."""
        self.dismiss((what, self.query_one(OptionList).highlighted or 0))


def _row(pair: Pair) -> Content:
    names = f"{one_line(pair.one, 30)} and {one_line(pair.other, 30)}"
    files = f"{count(len(pair.paths), 'file')}: {', '.join(pair.paths)}"
    return Content.assemble(names, (f"\n  {one_line(files, 66)}", "$text-muted"))


def _draw_matrix(pairs: Sequence[Pair]) -> Content | None:
    """The number of files for each two names; `None` for two names, or for too many."""
    names = sorted({name for pair in pairs for name in (pair.one, pair.other)})
    if not 2 < len(names) <= _MAX_COLUMNS:
        return None
    files = {frozenset((pair.one, pair.other)): len(pair.paths) for pair in pairs}
    width = min(_WIDTH // len(names), _MAX_COLUMN)
    head = "".join(f"{one_line(name, width - 1):>{width}}" for name in names[1:])
    parts: list[str | tuple[str, str]] = [(" " * width + head, "$text-muted")]
    for at, name in enumerate(names[:-1]):
        parts.append((f"\n{one_line(name, width - 1):<{width}}", "$text-muted"))
        for column, other in enumerate(names[1:], 1):
            number = files.get(frozenset((name, other)), 0)
            cell = "" if column <= at else str(number or "·")
            parts.append((f"{cell:>{width}}", "$warning" if number else "$text-muted"))
    return Content.assemble(*parts)
