"""The whole of a tool's long result, of which the conversation shows the ends: read in pages."""

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
from tui.draw.line_parts import output_rows, strip_of
from tui.screens.dialog import Dialog
from tui.widgets.key_line import keys_line


@dataclass(frozen=True, slots=True)
class Page:
    """A piece of the text; offsets and sizes are bytes."""

    content: str
    next_offset: int | None
    """Where the next piece begins; `None` at the end."""
    size: int
    """Of the whole."""


Read = Callable[[int], Awaitable[Page]]
"""Reads the page that begins at this byte."""

PAGE_SIZE: Final = 64 * 1024
"""Bytes that are read at once: some two thousand lines."""


class OutputView(ScrollView, can_focus=True):
    """Rows of text; more are asked for when the last ones come near."""

    class MoreWanted(TextualMessage):
        """The end of what is there comes near."""

    def __init__(self, palette: Palette) -> None:
        super().__init__(id="output")
        self._palette = palette
        self._text = ""
        self._rows: list[Strip] = []

    @property
    def _width(self) -> int:
        """Cells of a row: the room beside the scrollbar, which is kept free for it."""
        return max(self.scrollable_content_region.width, 8)

    def add(self, text: str) -> None:
        """Put more at the end."""
        self._text += text
        self._wrap(text)

    def set_palette(self, palette: Palette) -> None:
        """Draw in other colours."""
        self._palette = palette
        self._again()

    def on_resize(self, event: events.Resize) -> None:
        """Break the lines anew where the width is another."""
        if self._rows and self._rows[0].cell_length != self._width:
            self._again()

    def _again(self) -> None:
        """Break and draw all of it anew."""
        self._rows = []
        self._wrap(self._text)

    def _wrap(self, text: str) -> None:
        self._rows += self.strips(text)
        self._laid_out()

    def strips(self, text: str) -> list[Strip]:
        """The rows of a text, as wide as the window."""
        width, kind = self._width, self._palette.kind
        lines = output_rows(text, width, self._palette.text)
        return [strip_of(line, width, kind) for line in lines]

    def _laid_out(self) -> None:
        self.virtual_size = Size(self._width, len(self._rows))
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """A row of the window."""
        row = y + self.scroll_offset.y
        if row < len(self._rows):
            return self._rows[row]
        return strip_of([], self._width, self._palette.kind)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Ask for more in time."""
        super().watch_scroll_y(old_value, new_value)
        if new_value + 2 * self.size.height >= len(self._rows):
            self.post_message(self.MoreWanted())


class Output(Dialog[None]):
    """The text in a window of its own; pages come while one scrolls."""

    def __init__(self, title: str, palette: Callable[[], Palette], read: Read) -> None:
        super().__init__(title)
        self._palette = palette
        self._read = read
        self._next: int | None = 0
        self._is_reading = False

    def body(self) -> list[Widget]:
        """The text and its keys."""
        keys = (("↑ ↓ pgup pgdn", "scroll"), ("end", "on and on"), ("esc", "close"))
        return [OutputView(self._palette()), Static(keys_line(*keys), classes="keys")]

    def on_mount(self) -> None:
        """Read the first page."""
        view = self.query_one(OutputView)
        view.focus()
        self.app.theme_changed_signal.subscribe(self, lambda _: view.set_palette(self._palette()))
        self._more()

    @on(OutputView.MoreWanted)
    def _more(self) -> None:
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
