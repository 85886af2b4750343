"""Scroll bar updates that redraw only if the bar would look different.

Textual redraws it for every added row, ten times a second while text streams; in a long
conversation the thumb does not move by that.
"""

from math import ceil
from typing import Final

from textual.scrollbar import ScrollBar

_EIGHTHS: Final = 8
"""The thumb is drawn in steps of an eighth of a cell."""


def update_scrollbar(bar: ScrollBar, rows: int, first: int) -> None:
    """Set the number of rows and the first visible row immediately."""
    drawn = _thumb(bar)
    bar.set_reactive(ScrollBar.window_virtual_size, rows)
    bar.set_reactive(ScrollBar.position, bar.validate_position(first))
    if _thumb(bar) != drawn:
        bar.refresh()


def _thumb(bar: ScrollBar) -> tuple[int, int]:
    """Start and end of the thumb in eighths of a cell, computed as in Textual."""
    height, rows, viewport = bar.size.height, ceil(bar.window_virtual_size), bar.window_size
    if not height or viewport >= rows:
        return 0, 0
    thumb = max(1.0, height * viewport / rows)
    start = int((height - thumb) * bar.position / (rows - viewport) * _EIGHTHS)
    return start, start + ceil(thumb * _EIGHTHS)
