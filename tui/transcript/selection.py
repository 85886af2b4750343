"""Text selected in the transcript: where a selection stands while rows move, its look, its text."""

import re

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Offset
from textual.selection import Selection
from textual.strip import Strip

from tui.transcript.parts import BODY
from tui.transcript.rows import Rows

_BITS = 24
"""Of a selection's `y`, for the row within its message: rows move, messages keep their number."""


_WORD = re.compile(r"[~./@#-]*\w(?:[\w./~@%+#=:-]*\w)?|\S")
"""A word, a path, an address or an option, without the sentence's own signs."""


def stable_row(rows: Rows, index: int, line: int) -> int:
    """A number for a row that stays while others come above it, ordered like the rows."""
    return (rows.history.older + index << _BITS) | line


def marked(strip: Strip, row: int, selection: Selection, style: Style) -> Strip:
    """The row with what is selected of it in another style."""
    span = selection.get_span(row)
    if span is None:
        return strip
    text = strip.text
    end = len(text.rstrip()) if span[1] < 0 else span[1]
    margin = len(text) - len(text.lstrip())
    start = max(span[0], min(margin, BODY))
    first, last = cell_len(text[:start]), cell_len(text[:end])
    if last <= first:
        return strip
    inner = Segment.apply_style(strip.crop(first, last), post_style=style)
    return Strip.join([strip.crop(0, first), Strip(inner), strip.crop(last)])


def word_at(strip: Strip, row: int, cell: int) -> Selection | None:
    """The word that is drawn there; `None` between words."""
    at = len(strip.crop(0, cell).text)
    for word in _WORD.finditer(strip.text):
        if word.start() <= at < word.end():
            return Selection(Offset(word.start(), row), Offset(word.end(), row))
    return None


def row_of(strip: Strip, row: int) -> Selection:
    """All that is drawn in the row."""
    text = strip.text.rstrip()
    return Selection(Offset(len(text) - len(text.lstrip()), row), Offset(len(text), row))


def selected_text(rows: Rows, selection: Selection) -> str:
    """What is selected, without the margins; for everything, the text as it was written."""
    if not len(rows.history) or (selection.start is None and selection.end is None):
        return "\n\n".join(rows.history[at].text for at in range(len(rows.history)))
    older, last = rows.history.older, len(rows.history) - 1
    first_row = selection.start.y if selection.start else older << _BITS
    end_row = selection.end.y if selection.end else (older + last + 1 << _BITS) - 1
    found = []
    for index in range((first_row >> _BITS) - older, min((end_row >> _BITS) - older, last) + 1):
        for line, strip in enumerate(rows.laid_out(index).strips):
            span = selection.get_span(stable_row(rows, index, line))
            if span is not None:
                start, end = span
                piece = strip.text[max(start, 0) : None if end < 0 else end].rstrip()
                margin = BODY if start == 0 and not piece[:BODY].strip() else 0
                found.append(piece[margin:])
    return "\n".join(found)
