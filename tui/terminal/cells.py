"""A screen as cells, each with its text and pen."""

from functools import lru_cache
from typing import Final, TypeVar

from rich.cells import split_graphemes

from tui.terminal.sgr import PLAIN, Pen

T = TypeVar("T")

UNKNOWN: Final = "\0"
"""The text of a cell with unknown content."""
CONTINUED: Final = ""
"""The text of the second cell of a wide character."""
_FIRST_EMOJI: Final = "\U0001f000"
_EMOJI_SELECTOR: Final = "\ufe0f"


class Cells:
    """The rows of a screen. A wide character has two cells, the second of which is empty."""

    __slots__ = ("height", "pens", "text", "width")

    def __init__(self, width: int, height: int, text: str = UNKNOWN) -> None:
        self.width = width
        self.height = height
        self.text = [[text] * width for _ in range(height)]
        self.pens = [[PLAIN] * width for _ in range(height)]

    def put(self, x: int, y: int, text: str, pen: Pen) -> int:
        """Draw text and return the column after it. Text that does not fit is dropped."""
        cells = text if text.isascii() else split_cells(text)
        if not cells or x >= self.width:
            return x
        end = min(x + len(cells), self.width)
        row = self.text[y]
        if row[x] == CONTINUED:
            row[x - 1] = " "  # half of a wide character becomes a space
        row[x:end] = cells[: end - x]
        if end < self.width and row[end] == CONTINUED:
            row[end] = " "
        if cells[end - x : end - x + 1] == (CONTINUED,):
            row[end - 1] = " "
        visible = len(text.rstrip(" ")) + len(cells) - len(text)
        visible = min(max(visible, 0), end - x)
        self.pens[y][x:end] = [pen] * visible + [pen.blank] * (end - x - visible)
        return end

    def copy_row(self, y: int, other: "Cells") -> None:
        """Copy a row from another screen."""
        self.text[y] = other.text[y].copy()
        self.pens[y] = other.pens[y].copy()

    def scroll(self, top: int, bottom: int, rows: int) -> None:
        """Scroll the rows from `top` to `bottom` (exclusive) up, or down if `rows` is negative."""
        blank = Cells(self.width, abs(rows), " ")
        _scroll(self.text, top, bottom, rows, blank.text)
        _scroll(self.pens, top, bottom, rows, blank.pens)

    def view(self) -> "Cells":
        """A screen that shares the rows, for moving them; not for drawing."""
        other = Cells(0, 0)
        other.width, other.height = self.width, self.height
        other.text, other.pens = self.text.copy(), self.pens.copy()
        return other


def has_known_width(text: str, width: int) -> bool:
    """Whether the text takes `width` cells in every terminal.

    Terminals differ about emoji and about combined characters.
    """
    return len(text) <= width and max(text) < _FIRST_EMOJI and _EMOJI_SELECTOR not in text


def _scroll(lines: list[T], top: int, bottom: int, rows: int, blank: list[T]) -> None:
    part = lines[top:bottom]
    lines[top:bottom] = part[rows:] + blank if rows > 0 else blank + part[:rows]


@lru_cache(maxsize=4096)
def split_cells(text: str) -> tuple[str, ...]:
    """Split text into cells. Zero-width characters join the character before them."""
    cells: list[str] = []
    for start, end, width in split_graphemes(text)[0]:
        cells += [text[start:end], CONTINUED][:width]
    return tuple(cells)
