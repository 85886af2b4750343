"""A list of rows of which several can be marked, to act on all of them at once."""

from collections.abc import Hashable, Sequence
from typing import ClassVar, TypeVar

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.strip import Strip

from tui.draw.colors import Palette
from tui.draw.line_parts import to_strip, wrap_prose
from tui.widgets.row_list import RowList

T = TypeVar("T")


class MarkedList(RowList[T]):
    """Space marks the row under the cursor and moves on; ctrl+click marks as well."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("space", "mark", show=False)]

    def __init__(self, palette: Palette, *, id: str) -> None:
        super().__init__(palette, id=id)
        self.marked: set[Hashable] = set()
        """The keys of the marked items."""
        self._empty = ""

    @property
    def chosen(self) -> list[T]:
        """The marked items, or else the one under the cursor."""
        marked = [item for item in self.items if self.key(item) in self.marked]
        return marked or ([] if self.item is None else [self.item])

    def show(self, items: Sequence[T]) -> None:
        """Show these items; the cursor and the marks stay with theirs."""
        self.marked &= {self.key(item) for item in items}
        super().show(items)

    def show_empty(self, text: str) -> None:
        """Set the text that is shown while there are no items."""
        if text != self._empty:
            self._empty = text
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw a row, or one of the text in place of the items."""
        if self.items:
            return super().render_line(y)
        width = self.size.width
        rows = wrap_prose(self._empty, max(width - 4, 8), self.palette.muted)
        line = rows[y - 1] if 0 < y <= len(rows) else []
        return to_strip([Segment("  "), *line], width, self.palette.kind)

    def mark(self, keys: set[Hashable]) -> None:
        """Mark exactly these items."""
        self.marked = keys
        self.refresh()
        self.post_message(self.Moved())

    def action_mark(self) -> None:
        """Toggle the mark of the row under the cursor, and move on."""
        if self.item is not None:
            self._toggle()
            self.action_move(1)

    def _toggle(self) -> None:
        if self.item is not None:
            self.mark(self.marked ^ {self.key(self.item)})

    def on_click(self, event: events.Click) -> None:
        """Mark with ctrl; otherwise as in every list."""
        event.prevent_default()  # Textual would call the handler of the base class as well
        super().on_click(event)
        if event.ctrl:
            self._toggle()
