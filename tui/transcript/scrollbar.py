"""A scroll bar that is drawn again only when it would look different.

Textual draws one for every row that comes, a piece of text ten times a second; in a long column the
thumb does not move by that.
"""

from math import ceil
from typing import Final

from textual.reactive import Reactive
from textual.scrollbar import ScrollBar

_EIGHTHS: Final = 8
"""Steps of a cell in which the thumb is drawn."""


class QuietScrollBar(ScrollBar):
    """Textual's, for a widget whose size grows all the time."""

    window_virtual_size: Reactive[int] = Reactive(100, repaint=False)
    position: Reactive[float] = Reactive(0, repaint=False)
    _drawn: tuple[int, int] | None = None

    def follow(self, rows: int, first: int) -> None:
        """Take up at once how many rows there are and which is the first in sight."""
        self.set_reactive(QuietScrollBar.window_virtual_size, rows)
        self.set_reactive(QuietScrollBar.position, self.validate_position(first))
        self._draw_if_changed()

    def watch_window_virtual_size(self) -> None:
        """There are more or fewer rows."""
        self._draw_if_changed()

    def watch_position(self) -> None:
        """Another row is the first in sight."""
        self._draw_if_changed()

    def _draw_if_changed(self) -> None:
        thumb = self._thumb()
        if thumb != self._drawn:
            self._drawn = thumb
            self.refresh()

    def _thumb(self) -> tuple[int, int]:
        """Where it begins and ends, in eighths of a cell, as Textual counts."""
        height, rows, window = self.size.height, ceil(self.window_virtual_size), self.window_size
        if not height or window >= rows:
            return 0, 0
        thumb = max(1.0, height * window / rows)
        start = int((height - thumb) * self.position / (rows - window) * _EIGHTHS)
        return start, start + ceil(thumb * _EIGHTHS)
