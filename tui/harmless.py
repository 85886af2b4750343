"""The last guard before the terminal: no row that is drawn holds a character that steers it.

What strangers write is cleaned before it is stored. This holds where it did not pass the store (an
error of another program, a path in a dialog), for every widget alike, those of Textual as well.
"""

import re

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

_STEERS = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\u061c]"
)
"""Characters without a width: taking them out moves nothing."""
_SURROGATE = re.compile(r"[\ud800-\udfff]")


class Harmless(LineFilter):
    """Draws text without what is no text."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The row; the same segments where all can be printed, which is nearly always."""
        return [
            segment
            if segment.control or segment.text.isprintable()
            else Segment(harmless(segment.text), segment.style)
            for segment in segments
        ]


def harmless(text: str) -> str:
    """The text without characters that steer a terminal or turn its direction."""
    return _SURROGATE.sub("\ufffd", _STEERS.sub("", text))
