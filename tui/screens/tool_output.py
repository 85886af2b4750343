"""The dialog with a tool's full result, read in pages; the conversation shows only its ends."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from textual import events, on
from textual.content import Content
from textual.geometry import Size
from textual.message import Message as TextualMessage
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static

from model.base.errors import SpinneyError
from tui.draw.colors import Palette
from tui.draw.line_parts import to_strip, wrap_output
from tui.screens.dialog import Dialog
from tui.widgets.key_line import keys_line


@dataclass(frozen=True, slots=True)
class Page:
    """A piece of the text; offsets and sizes are bytes."""

    content: str
    next_offset: int | None
    """The offset of the next piece; `None` at the end."""
    size: int
    """The size of the whole text."""


Read = Callable[[int], Awaitable[Page]]
"""Reads the page that begins at this byte."""

PAGE_SIZE: Final = 64 * 1024
"""Bytes that are read at once: some two thousand lines."""


class OutputView(ScrollView, can_focus=True):
    """Rows of text; requests more before the end is reached."""

    class MoreWanted(TextualMessage):
        """Posted when the end of the loaded rows is near."""

    def __init__(self, palette: Palette) -> None:
        super().__init__(id="output")
        self._palette = palette
        self._text = ""
        self.strip_rows: list[Strip] = []

    @property
    def _width(self) -> int:
        """Cells per row, without the space reserved for the scrollbar."""
        return max(self.scrollable_content_region.width, 8)

    def add(self, text: str) -> None:
        """Append text."""
        self._text += text
        self._wrap(text)

    def replace(self, text: str) -> None:
        """Show another text."""
        self._text = text
        self._rewrap()

    def set_palette(self, palette: Palette) -> None:
        """Redraw in other colors."""
        self._palette = palette
        self._rewrap()

    def on_resize(self, event: events.Resize) -> None:
        """Wrap the lines again if the width has changed."""
        if self.strip_rows and self.strip_rows[0].cell_length != self._width:
            self._rewrap()

    def _rewrap(self) -> None:
        """Wrap and draw all rows again."""
        self.strip_rows = []
        self._wrap(self._text)

    def _wrap(self, text: str) -> None:
        self.strip_rows += self.strips(text)
        self._fit_virtual_size()

    def strips(self, text: str) -> list[Strip]:
        """Return a text as rows of the view's width."""
        width, kind = self._width, self._palette.kind
        lines = wrap_output(text, width, self._palette.text)
        return [to_strip(line, width, kind) for line in lines]

    def _fit_virtual_size(self) -> None:
        self.virtual_size = Size(self._width, len(self.strip_rows))
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Render a row."""
        row = y + self.scroll_offset.y
        if row < len(self.strip_rows):
            return self.strip_rows[row]
        return to_strip([], self._width, self._palette.kind)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Request more rows before the end is reached."""
        super().watch_scroll_y(old_value, new_value)
        if new_value + 2 * self.size.height >= len(self.strip_rows):
            self.post_message(self.MoreWanted())


class Output(Dialog[None]):
    """The text, which loads further pages on scrolling."""

    def __init__(self, title: str, palette: Callable[[], Palette], read: Read) -> None:
        super().__init__(title)
        self._palette = palette
        self._read = read
        self._next: int | None = 0
        self._is_reading = False

    def body(self) -> list[Widget]:
        """The text and its keys."""
        keys = (("↑ ↓ pgup pgdn", "scroll"), ("end", "load more"), ("esc", "close"))
        return [OutputView(self._palette()), Static(keys_line(*keys), classes="keys")]

    def on_mount(self) -> None:
        """Read the first page."""
        view = self.query_one(OutputView)
        view.focus()
        self.app.theme_changed_signal.subscribe(self, lambda _: view.set_palette(self._palette()))
        self._load_more()

    @on(OutputView.MoreWanted)
    def _load_more(self) -> None:
        if self._next is not None and not self._is_reading:
            self._is_reading = True
            self.run_worker(self._read_page(self._next), exit_on_error=False)

    async def _read_page(self, offset: int) -> None:
        box = self.query_one(".dialog")
        try:
            page = await self._read(offset)
        except SpinneyError as error:
            self._next = None
            box.border_subtitle = Content(error.message)
            return
        finally:
            self._is_reading = False
        self._next = page.next_offset
        self.query_one(OutputView).add(page.content)
        read = page.size if page.next_offset is None else page.next_offset
        box.border_subtitle = Content(f"{read:,} of {page.size:,} bytes")
