"""A list of rows with a cursor: a single widget that draws lines, as there can be ten thousand."""

from collections.abc import Hashable, Sequence
from typing import ClassVar, Generic, TypeVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from themes.loader import load_chrome
from tui.draw.colors import Palette
from tui.draw.line_parts import to_strip

T = TypeVar("T")


class RowList(ScrollView, Generic[T], can_focus=True):
    """Items, one row each. A subclass draws them and says which are the same."""

    DEFAULT_CSS = "RowList { overflow-x: hidden; overflow-y: scroll; scrollbar-size-vertical: 1; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("pageup,ctrl+u", "page(-1)", show=False),
        Binding("pagedown,ctrl+d", "page(1)", show=False),
        Binding("home,g", "move(-1000000)", show=False),
        Binding("end,G", "move(1000000)", show=False),
        Binding("enter,right", "choose", show=False),
    ]

    class Moved(Message):
        """Posted when another item is under the cursor."""

    class Chosen(Message):
        """Posted to open the item under the cursor."""

    def __init__(self, palette: Palette, *, id: str) -> None:
        super().__init__(id=id)
        self.items: Sequence[T] = ()
        self.here = 0
        """The index of the cursor."""
        self.palette = palette

    def key(self, item: T) -> Hashable:
        """Return what identifies an item when it is shown again."""
        raise NotImplementedError

    def draw(self, item: T, width: int) -> list[Segment]:
        """Draw an item as a row."""
        raise NotImplementedError

    @property
    def cursor_row(self) -> int:
        """The row of the cursor."""
        return self.here

    @property
    def item(self) -> T | None:
        """The item under the cursor."""
        return self.items[self.here] if self.here < len(self.items) else None

    def show(self, items: Sequence[T]) -> None:
        """Show these items; the cursor stays on its own, or on its index if that is gone."""
        if list(items) == list(self.items):
            return
        here = self.key(self.item) if self.item is not None else None
        is_resized = len(items) != len(self.items)
        before, self.items = self.item, items
        self.virtual_size = Size(self.size.width, len(items))
        at = next((n for n, item in enumerate(items) if self.key(item) == here), self.here)
        self._move_to(at, before)
        self.refresh(layout=is_resized)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return a row for each item."""
        return max(1, len(self.items))

    def set_palette(self, palette: Palette) -> None:
        """Redraw in other colors."""
        self.palette = palette
        self.refresh()

    def go_to(self, key: Hashable) -> bool:
        """Move the cursor to an item; return whether it is in the list."""
        at = next((n for n, item in enumerate(self.items) if self.key(item) == key), None)
        if at is not None:
            self._move_to(at, self.item)
        return at is not None

    def go_to_first(self) -> None:
        """Move the cursor to the first item."""
        self._move_to(0, self.item)

    def _move_to(self, at: int, before: T | None) -> None:
        self.here = max(0, min(at, len(self.items) - 1))
        top, height = round(self.scroll_y), max(1, self.size.height)
        if not top <= self.here < top + height:
            top = self.here if self.here < top else self.here - height + 1
            self.scroll_to(y=top, animate=False, immediate=True)
        self.refresh()
        if self.item != before:
            self.post_message(self.Moved())

    def action_move(self, by: int) -> None:
        """Move the cursor up or down."""
        self._move_to(self.here + by, self.item)

    def action_page(self, by: int) -> None:
        """Move the cursor by a screen."""
        self.action_move(by * max(1, self.size.height - 1))

    def action_choose(self) -> None:
        """Open the item under the cursor."""
        self.post_message(self.Chosen())

    def on_click(self, event: events.Click) -> None:
        """Move the cursor to the clicked item; a second click opens it."""
        self.focus()
        at = event.y + round(self.scroll_y)
        if at < len(self.items):
            self._move_to(at, self.item)
            if event.chain == 2:
                self.action_choose()

    def on_resize(self) -> None:
        """Fit the rows to the new width, and keep the cursor visible."""
        self.virtual_size = Size(self.size.width, len(self.items))
        self.action_move(0)

    def on_focus(self) -> None:
        """Redraw the cursor in its other color."""
        self.refresh()

    on_blur = on_focus

    def render_line(self, y: int) -> Strip:
        """Draw a row."""
        at, width = y + round(self.scroll_y), self.size.width
        if at >= len(self.items):
            return to_strip([], width, self.palette.kind)
        strip = to_strip(self.draw(self.items[at], width), width, self.palette.kind)
        if at != self.here:
            return strip
        ui = load_chrome(self.palette.kind).ui
        ground = Style(bgcolor=ui["accent_muted"] if self.has_focus else ui["panel"])
        return Strip(Segment.apply_style(strip, post_style=ground), strip.cell_length)
