"""A scroll bar that is drawn again only when it would look different.

Textual draws one for every row that comes, a piece of text ten times a second; in a long column the
thumb does not move by that.
"""

from math import ceil
from typing import Final

from textual.scrollbar import ScrollBar

_EIGHTHS: Final = 8
"""Steps of a cell in which the thumb is drawn."""


def follow(bar: ScrollBar, rows: int, first: int) -> None:
    """Take up at once how many rows there are and which is the first in sight."""
    drawn = _thumb(bar)
    bar.set_reactive(ScrollBar.window_virtual_size, rows)
    bar.set_reactive(ScrollBar.position, bar.validate_position(first))
    if _thumb(bar) != drawn:
        bar.refresh()


def _thumb(bar: ScrollBar) -> tuple[int, int]:
    """Where it begins and ends, in eighths of a cell, as Textual counts."""
    height, rows, window = bar.size.height, ceil(bar.window_virtual_size), bar.window_size
    if not height or window >= rows:
        return 0, 0
    thumb = max(1.0, height * window / rows)
    start = int((height - thumb) * bar.position / (rows - window) * _EIGHTHS)
    return start, start + ceil(thumb * _EIGHTHS)
