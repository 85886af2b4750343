"""A screen as cells: the text of each, and the pen that draws it."""

from functools import lru_cache
from typing import Final, TypeVar

from rich.cells import split_graphemes

from tui.terminal.sgr import PLAIN, Pen

T = TypeVar("T")

UNKNOWN: Final = "\0"
"""In a cell of which nobody knows what it shows."""
CONTINUED: Final = ""
"""In the second cell of a wide character."""
_FIRST_UNSURE: Final = "\U0001f000"
_EMOJI_SIGN: Final = "\ufe0f"


class Cells:
    """The rows of a screen. A wide character has two cells, the second of which is empty."""

    __slots__ = ("height", "pens", "text", "width")

    def __init__(self, width: int, height: int, text: str = UNKNOWN) -> None:
        self.width = width
        self.height = height
        self.text = [[text] * width for _ in range(height)]
        self.pens = [[PLAIN] * width for _ in range(height)]

    def put(self, x: int, y: int, text: str, pen: Pen) -> int:
        """Draw text; the column behind it. What does not fit into the row is left out."""
        cells = text if text.isascii() else cells_of(text)
        if not cells or x >= self.width:
            return x
        end = min(x + len(cells), self.width)
        row = self.text[y]
        if row[x] == CONTINUED:
            row[x - 1] = " "  # half of a wide character is none
        row[x:end] = cells[: end - x]
        if end < self.width and row[end] == CONTINUED:
            row[end] = " "
        if cells[end - x : end - x + 1] == (CONTINUED,):
            row[end - 1] = " "
        drawn = len(text.rstrip(" ")) + len(cells) - len(text)
        drawn = min(max(drawn, 0), end - x)
        self.pens[y][x:end] = [pen] * drawn + [pen.blank] * (end - x - drawn)
        return end

    def copy_row(self, y: int, other: "Cells") -> None:
        """Take a row over as it stands there."""
        self.text[y] = other.text[y].copy()
        self.pens[y] = other.pens[y].copy()

    def scroll(self, top: int, bottom: int, rows: int) -> None:
        """Move the rows from `top` up to `bottom` as a terminal does: up, or down if negative."""
        blank = Cells(self.width, abs(rows), " ")
        _scroll(self.text, top, bottom, rows, blank.text)
        _scroll(self.pens, top, bottom, rows, blank.pens)

    def view(self) -> "Cells":
        """Another screen of the same rows, to move them about; not to draw on."""
        other = Cells(0, 0)
        other.width, other.height = self.width, self.height
        other.text, other.pens = self.text.copy(), self.pens.copy()
        return other


def is_sure(text: str, width: int) -> bool:
    """Whether every terminal gives the text so many cells.

    They differ about emoji and about what is put together of several characters.
    """
    return len(text) <= width and max(text) < _FIRST_UNSURE and _EMOJI_SIGN not in text


def _scroll(lines: list[T], top: int, bottom: int, rows: int, blank: list[T]) -> None:
    part = lines[top:bottom]
    lines[top:bottom] = part[rows:] + blank if rows > 0 else blank + part[:rows]


@lru_cache(maxsize=4096)
def cells_of(text: str) -> tuple[str, ...]:
    """The text by cells. What has no width goes with the character before it."""
    cells: list[str] = []
    for start, end, width in split_graphemes(text)[0]:
        cells += [text[start:end], CONTINUED][:width]
    return tuple(cells)
