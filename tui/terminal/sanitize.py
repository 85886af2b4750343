"""The last guard before the terminal: no row that is drawn holds a character that steers it.

What strangers write is made visible before it is stored. This holds where it did not pass the store
(an error of another program, a path in a dialog), for every widget alike, those of Textual as well.
"""

from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from model.base.text import make_visible

_INSIDE_A_ROW = str.maketrans({"\t": "␉", "\n": "␊", "\r": "␍"})


class Harmless(LineFilter):
    """Draws hidden characters as marks."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The row; the same segments where all can be printed, which is nearly always.

        A row stays as wide as it was, so that marks push what is behind them out of it.
        """
        if all(segment.control or segment.text.isprintable() for segment in segments):
            return segments
        shown = [
            segment if segment.control else Segment(harmless(segment.text), segment.style)
            for segment in segments
        ]
        width = sum(cell_len(segment.text) for segment in segments if not segment.control)
        return Segment.adjust_line_length(shown, width, pad=False)


def harmless(text: str) -> str:
    """A part of a row with every hidden character shown as a mark."""
    return make_visible(text.translate(_INSIDE_A_ROW))
