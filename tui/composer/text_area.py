"""A text box that sends to the terminal only what changed in it.

Textual draws a whole text box anew for each key, and lays the whole screen out for each line: over
SSH that is 2 KB for a letter and 15 KB for a line break. Here a letter is some 100 bytes.
"""

from collections.abc import Iterator
from typing import Any, Final, Self

from rich.cells import cell_len
from textual.geometry import Offset, Region, Size
from textual.reactive import Reactive
from textual.strip import Strip
from textual.widgets import TextArea

ROOMY: Final = 30
"""Rows of a terminal in which the box has room for a few lines from the start."""
STEP: Final = 3
"""Rows by which it grows: each time, all that stands above it moves."""


class QuietText(TextArea):
    """A text box that grows in steps and draws the cells that are different."""

    def __init__(self, *args: Any, **named: Any) -> None:
        self._painted: dict[int, Strip] = {}
        self._painted_size = Size(0, 0)
        self._is_painting = False
        self._is_comparing = False
        super().__init__(*args, **named)

    virtual_size = Reactive(Size(0, 0), repaint=False)
    """Textual's own lays the screen out for every line."""

    # Its height ---------------------------------------------------------------------------------

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """The rows of the text, rounded up, so that not every line moves what is above."""
        return _rounded(super().get_content_height(container, viewport, width), viewport.height)

    def watch_virtual_size(self, size: Size) -> None:
        """Lay the screen out if the text needs another height; most lines do not."""
        if not self.is_mounted or self.content_size.height != _rounded(
            size.height, self.app.size.height
        ):
            self.refresh(layout=True)

    def scroll_cursor_visible(self, center: bool = False, animate: bool = False) -> Offset:
        """Not in the middle of an undo: there the cursor stands behind the end of the text."""
        if self.cursor_location[0] >= self.document.line_count:
            return Offset()
        return super().scroll_cursor_visible(center, animate)

    # Drawing ------------------------------------------------------------------------------------

    def refresh(
        self,
        *regions: Region,
        repaint: bool = True,
        layout: bool = False,
        recompose: bool = False,
    ) -> Self:
        """Draw what changed; only another size or look draws the whole box."""
        is_whole = not regions and repaint
        if not is_whole or layout or recompose or self._painted_size != self.size:
            return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)
        if not self._is_comparing:
            # When the edit that asks for it is over: several ask for each key.
            self._is_comparing = True
            self.call_next(self._refresh_changed)
        return self

    def notify_style_update(self) -> None:
        """Another look: everything is drawn."""
        self._painted_size = Size(0, 0)
        super().notify_style_update()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw a region, and remember what was drawn."""
        self._is_painting = True
        if self._painted_size != self.size:
            self._painted.clear()
            self._painted_size = self.size
        try:
            return super().render_lines(crop)
        finally:
            self._is_painting = False

    def render_line(self, y: int) -> Strip:
        """Draw a row."""
        strip = super().render_line(y)
        if self._is_painting:
            self._painted[y] = strip
        return strip

    def _refresh_changed(self) -> None:
        self._is_comparing = False
        for y in range(self.content_size.height):
            strip, painted = self.render_line(y), self._painted.get(y)
            if painted is None:
                super().refresh()
                return
            if strip is not painted and (span := _difference(painted, strip, self.size.width)):
                start, end = span
                super().refresh(Region(start, y, end - start, 1))


def _rounded(rows: int, screen: int) -> int:
    least = STEP if screen >= ROOMY else 1
    return least + -(-max(0, rows - least) // STEP) * STEP


def _difference(before: Strip, after: Strip, width: int) -> tuple[int, int] | None:
    """The first cell that differs, and the one behind the last, of rows of up to `width` cells."""
    old, new = list(_characters(before)), list(_characters(after))
    most = min(len(old), len(new))
    start = next((at for at in range(most) if old[at] != new[at]), most)
    if start == len(old) == len(new):
        return None
    end = 0
    if before.cell_length != after.cell_length:
        return _width(new[:start]), width
    while end < most - start and old[-1 - end] == new[-1 - end]:
        end += 1
    return _width(new[:start]), after.cell_length - _width(new[len(new) - end :])


def _characters(strip: Strip) -> Iterator[tuple[str, object]]:
    for text, style, _ in strip:
        for character in text:
            yield character, style


def _width(characters: list[tuple[str, object]]) -> int:
    return sum(cell_len(character) for character, _ in characters)
