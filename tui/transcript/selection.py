"""Text selection in the transcript: stable positions while rows move, highlighting, and text."""

import re

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Offset
from textual.selection import Selection
from textual.strip import Strip

from tui.transcript.parts import BODY_INDENT
from tui.transcript.rows import HistoryRows

_LINE_BITS = 24
"""Bits of a selection's `y` for the row in its message; rows move, message numbers are stable."""


_WORD = re.compile(r"[~./@#-]*\w(?:[\w./~@%+#=:-]*\w)?|\S")
"""A word, path, URL or option, without surrounding punctuation."""


def stable_row(rows: HistoryRows, index: int, line: int) -> int:
    """A number for a row, in row order, that does not change when rows are added above."""
    return (rows.history.older_count + index << _LINE_BITS) | line


def highlight_selection(strip: Strip, row: int, selection: Selection, style: Style) -> Strip:
    """The row with its selected part in `style`."""
    span = selection.get_span(row)
    if span is None:
        return strip
    text = strip.text
    end = len(text.rstrip()) if span[1] < 0 else span[1]
    margin = len(text) - len(text.lstrip())
    start = max(span[0], min(margin, BODY_INDENT))
    first, last = cell_len(text[:start]), cell_len(text[:end])
    if last <= first:
        return strip
    inner = Segment.apply_style(strip.crop(first, last), post_style=style)
    return Strip.join([strip.crop(0, first), Strip(inner), strip.crop(last)])


def select_word(strip: Strip, row: int, cell: int) -> Selection | None:
    """Select the word at a cell; `None` between words."""
    at = len(strip.crop(0, cell).text)
    for word in _WORD.finditer(strip.text):
        if word.start() <= at < word.end():
            return Selection(Offset(word.start(), row), Offset(word.end(), row))
    return None


def select_row(strip: Strip, row: int) -> Selection:
    """Select the text of a row."""
    text = strip.text.rstrip()
    return Selection(Offset(len(text) - len(text.lstrip()), row), Offset(len(text), row))


def selected_text(rows: HistoryRows, selection: Selection) -> str:
    """The selected text without margins; if everything is selected, the unwrapped messages."""
    if not len(rows.history) or (selection.start is None and selection.end is None):
        return "\n\n".join(rows.history[at].text for at in range(len(rows.history)))
    older, last = rows.history.older_count, len(rows.history) - 1
    first_row = selection.start.y if selection.start else older << _LINE_BITS
    end_row = selection.end.y if selection.end else (older + last + 1 << _LINE_BITS) - 1
    pieces = []
    for index in range(
        (first_row >> _LINE_BITS) - older, min((end_row >> _LINE_BITS) - older, last) + 1
    ):
        for line, strip in enumerate(rows.get_layout(index).strips):
            span = selection.get_span(stable_row(rows, index, line))
            if span is not None:
                start, end = span
                piece = strip.text[max(start, 0) : None if end < 0 else end].rstrip()
                margin = BODY_INDENT if start == 0 and not piece[:BODY_INDENT].strip() else 0
                pieces.append(piece[margin:])
    return "\n".join(pieces)
