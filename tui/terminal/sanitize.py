"""The final filter before the terminal: no row contains control characters.

Untrusted text is sanitized before it is stored. This filter also covers text that did not pass the
store (an error of another program, a path in a dialog), in every widget, including Textual's.
"""

from rich.cells import cell_len
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from model.base.text import make_visible

_LINE_CONTROLS = str.maketrans({"\t": "␉", "\n": "␊", "\r": "␍"})


class ControlCharFilter(LineFilter):
    """Replaces control characters by visible marks."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Filter a row; returns the same segments if everything is printable, as nearly always.

        The row keeps its width, so marks push the text after them out of it.
        """
        if all(segment.control or segment.text.isprintable() for segment in segments):
            return segments
        sanitized = [
            segment
            if segment.control
            else Segment(escape_control_chars(segment.text), segment.style)
            for segment in segments
        ]
        width = sum(cell_len(segment.text) for segment in segments if not segment.control)
        return Segment.adjust_line_length(sanitized, width, pad=False)


def escape_control_chars(text: str) -> str:
    """The text with every control character replaced by a visible mark."""
    return make_visible(text.translate(_LINE_CONTROLS))
