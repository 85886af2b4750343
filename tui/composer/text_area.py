"""A text area that redraws only the cells that changed.

Textual redraws a whole text area for each key, and lays out the whole screen for each line: over
SSH that is 2 KB for a letter and 15 KB for a line break. Here a letter takes about 100 bytes.
"""

from collections.abc import Iterator
from typing import Any, Final, Self

from rich.cells import cell_len
from textual.geometry import Offset, Region, Size
from textual.reactive import Reactive
from textual.strip import Strip
from textual.widgets import TextArea

from tui.terminal.textual_internals import apply_text_area_colors

TALL_SCREEN: Final = 30
"""Terminals with at least this many rows give the box a few lines from the start."""
GROWTH_STEP: Final = 3
"""Rows by which it grows: each step moves everything above it."""


class DiffingTextArea(TextArea):
    """A text area that grows in steps and redraws only the cells that differ."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._painted: dict[int, Strip] = {}
        self._painted_size = Size(0, 0)
        self._is_painting = False
        self._is_comparing = False
        super().__init__(*args, **kwargs)

    virtual_size = Reactive(Size(0, 0), repaint=False)
    """Replaces Textual's reactive, which lays out the screen for every line."""

    # Height -------------------------------------------------------------------------------------

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """The height of the text, rounded up so that not every line moves what is above."""
        return _round_height(
            super().get_content_height(container, viewport, width), viewport.height
        )

    def watch_virtual_size(self, size: Size) -> None:
        """Lay out the screen if the height of the text changes; for most lines it does not."""
        if not self.is_mounted or self.content_size.height != _round_height(
            size.height, self.app.size.height
        ):
            self.refresh(layout=True)

    def scroll_cursor_visible(self, center: bool = False, animate: bool = False) -> Offset:
        """Do nothing during an undo, when the cursor may be past the end of the text."""
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
        """Redraw changed cells; only a new size or style redraws the whole box."""
        is_whole = not regions and repaint
        if not is_whole or layout or recompose or self._painted_size != self.size:
            return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)
        if not self._is_comparing:
            # After the edit is complete: each key causes several refreshes.
            self._is_comparing = True
            self.call_next(self._refresh_changed)
        return self

    def notify_style_update(self) -> None:
        """Redraw everything with the new style."""
        self._painted_size = Size(0, 0)
        super().notify_style_update()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw a region, and remember its rows."""
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
        apply_text_area_colors(self)
        for y in range(self.content_size.height):
            strip, painted = self.render_line(y), self._painted.get(y)
            if painted is None:
                super().refresh()
                return
            if strip is not painted and (span := _difference(painted, strip, self.size.width)):
                start, end = span
                super().refresh(Region(start, y, end - start, 1))


def _round_height(rows: int, screen: int) -> int:
    least = GROWTH_STEP if screen >= TALL_SCREEN else 1
    return least + -(-max(0, rows - least) // GROWTH_STEP) * GROWTH_STEP


def _difference(before: Strip, after: Strip, width: int) -> tuple[int, int] | None:
    """The range of cells that differ (end exclusive), for rows of up to `width` cells."""
    old, new = list(_characters(before)), list(_characters(after))
    shared = min(len(old), len(new))
    start = next((at for at in range(shared) if old[at] != new[at]), shared)
    if start == len(old) == len(new):
        return None
    end = 0
    if before.cell_length != after.cell_length:
        return _width(new[:start]), width
    while end < shared - start and old[-1 - end] == new[-1 - end]:
        end += 1
    return _width(new[:start]), after.cell_length - _width(new[len(new) - end :])


def _characters(strip: Strip) -> Iterator[tuple[str, object]]:
    for text, style, _ in strip:
        for character in text:
            yield character, style


def _width(characters: list[tuple[str, object]]) -> int:
    return sum(cell_len(character) for character, _ in characters)
