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


_MAX_ROW = 2000
"""Characters of a row; no terminal is as wide."""

_WORD = re.compile(r"[~./@#-]*\w(?:[\w./~@%+#=:-]*\w)?|\S")
"""A word, path, URL or option, without surrounding punctuation."""


_DECORATION = re.compile(r"(?P<margin> *[┃|] ?)(?P<text>.*?)(?P<time>  +\d\d:\d\d)? *")
"""A row beside a bar, which may end with a time; neither is part of the text."""


def text_span(text: str) -> tuple[int, int]:
    """The start and end of a row's own text, without margin, bar, time and trailing blanks."""
    found = _DECORATION.fullmatch(text) if len(text) < _MAX_ROW else None
    if found is not None:
        return found.span("text")
    end = len(text.rstrip())
    return min(len(text) - len(text.lstrip()), BODY_INDENT), end


def stable_row(rows: HistoryRows, index: int, line: int) -> int:
    """A number for a row, in row order, that does not change when rows are added above."""
    return (rows.history.older_count + index << _LINE_BITS) | line


def highlight_selection(strip: Strip, row: int, selection: Selection, style: Style) -> Strip:
    """The row with its selected part in `style`."""
    span = selection.get_span(row)
    if span is None:
        return strip
    text = strip.text
    margin, last_column = text_span(text)
    end = last_column if span[1] < 0 else span[1]
    start = max(span[0], margin)
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
    start, end = text_span(strip.text)
    return Selection(Offset(start, row), Offset(end, row))


def selected_text(rows: HistoryRows, selection: Selection) -> str:
    """The selected text without margins; if everything is selected, the unwrapped messages."""
    if not len(rows.history) or (selection.start is None and selection.end is None):
        return "\n\n".join(rows.history[at].text for at in range(len(rows.history)))
    older, newest = rows.history.older_count, len(rows.history) - 1
    first_row = selection.start.y if selection.start else older << _LINE_BITS
    end_row = selection.end.y if selection.end else (older + newest + 1 << _LINE_BITS) - 1
    pieces = []
    for index in range(
        (first_row >> _LINE_BITS) - older, min((end_row >> _LINE_BITS) - older, newest) + 1
    ):
        for line, strip in enumerate(rows.get_layout(index).strips):
            span = selection.get_span(stable_row(rows, index, line))
            if span is not None:
                first, last = text_span(strip.text)
                start = max(span[0], first)
                pieces.append(strip.text[start : last if span[1] < 0 else span[1]].rstrip())
    return "\n".join(pieces)
