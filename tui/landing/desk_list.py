"""The worktrees of the landing desk as rows, with the heads of their columns."""

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.segment import Segment
from textual.content import Content

from tui.draw.colors import Palette
from tui.landing.columns import NAME, FittedColumn, Names, Part, fit_columns, join_words, lay_out
from tui.terminal import screen_reader
from tui.widgets.marked_list import MarkedList

if TYPE_CHECKING:
    from model.domain.landing import LandingRow

_EDGE = 2
"""Cells before the first column: the mark and a space."""


class DeskList(MarkedList["LandingRow"]):
    """Worktrees, those for which something can be done now first."""

    def __init__(self, palette: Palette) -> None:
        super().__init__(palette, id="desk")
        self._names: Names = {}
        self._columns: list[FittedColumn] = []
        self._lost: tuple[Hashable, Hashable] | None = None
        """The row under the cursor that is gone, and the one that was put in its place."""

    def key(self, item: "LandingRow") -> Hashable:
        """Return the worktree's id."""
        return item.worktree_id

    def show_rows(self, rows: "Sequence[LandingRow]", names: Names) -> None:
        """Show these rows; `names` has those of the worktrees that they may be in conflict with."""
        self._names = names
        self._fit(rows)
        before = self.item
        self.show(rows)
        self._return_cursor(before)
        self.refresh()

    def _return_cursor(self, before: "LandingRow | None") -> None:
        """Move the cursor back to a row that comes back.

        A worktree that has just landed is missing until it is recognized as merged.
        """
        keys, here = set(map(self.key, self.items)), self.item and self.key(self.item)
        if before is not None and self.key(before) not in keys:
            self._lost = self.key(before), here
        elif self._lost is not None and self._lost[0] in keys:
            if here == self._lost[1]:
                self.go_to(self._lost[0])
            self._lost = None

    def on_resize(self) -> None:
        """Fit the columns to the new width."""
        self._fit(self.items)

    def _fit(self, rows: "Sequence[LandingRow]") -> None:
        self._columns = fit_columns(rows, self._names, max(20, self.size.width - _EDGE - 1))

    @property
    def heads(self) -> Content:
        """The titles of the columns, above their cells."""
        if screen_reader.is_enabled() or not self.items:
            return Content("")
        titles = (
            f"{fitted.column.title:<{fitted.width}.{fitted.width}}" for fitted in self._columns
        )
        return Content.styled(" " * _EDGE + "  ".join(titles), "$text-muted")

    def draw(self, item: "LandingRow", width: int) -> list[Segment]:
        """Draw the mark and the cells."""
        is_marked = self.key(item) in self.marked
        if screen_reader.is_enabled():
            words = f"{'marked ' if is_marked else ''}{join_words(item, self._names)}"
            return [Segment(words, self.palette.text)]
        line = [Segment("✓ " if is_marked else "  ", self.palette.accent)]
        for fitted in self._columns:
            parts = fitted.column.describe(item, self._names)
            if fitted.column is NAME and sum(cell_len(text) for text, _ in parts) > fitted.width:
                parts = parts[:1]  # rather no branch than a piece of one
            laid_out = lay_out(parts, fitted.width)
            line += [*map(self._segment, laid_out), Segment("  ")]
        return line

    def _segment(self, part: Part) -> Segment:
        text, tone = part
        return Segment(text, getattr(self.palette, tone))
