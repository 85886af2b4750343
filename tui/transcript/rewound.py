"""Messages that were taken back: adjacent ones are folded into one line, and dimmed when shown."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import Final

from rich.segment import Segment
from textual.strip import Strip

from model.base.plural import count
from model.domain.messages import Message
from tui.draw.line_parts import one_line
from tui.draw.wrap import Line
from tui.transcript.parts import BODY_INDENT, CLOSED, Part, RenderContext

REWOUND: Final = -7
"""The key of the line that rewound messages are folded into."""
FOLDED_ROWS: Final = 2
"""That line, and the empty row after it."""


def find_rewound(messages: Sequence[Message]) -> dict[str, range]:
    """The indexes of the adjacent rewound messages that each rewound one is folded with."""
    found: dict[str, range] = {}
    indexes = (at for at, message in enumerate(messages) if message.rewound)
    for _, group in groupby(enumerate(indexes), lambda pair: pair[1] - pair[0]):
        adjacent = [at for _, at in group]
        together = range(adjacent[0], adjacent[-1] + 1)
        found |= {messages[at].id: together for at in together}
    return found


def rewound_line(messages: int, level: int, context: RenderContext) -> Line:
    """The line that stands for rewound messages, or above them while they are shown."""
    sign, action = (context.glyphs.closed, "show")
    if level != CLOSED:
        sign, action = (context.glyphs.open, "hide")
    label = f"{sign} {count(messages, 'message')} rewound {context.glyphs.dot} {action}"
    text = one_line(label, context.body_width)
    return [Segment(" " * BODY_INDENT), Segment(text, context.palette.muted)]


def dim(part: Part, context: RenderContext) -> Part:
    """The part with all of its text in a faint color."""
    style = context.palette.faint
    strips = [
        Strip(Segment.apply_style(strip, post_style=style), strip.cell_length)
        for strip in part.strips
    ]
    return replace(part, strips=strips)
