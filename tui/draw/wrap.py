"""Wrapping of styled text, measured in terminal cells: wide characters count as two.

Not `rich.Text.wrap` nor Textual's `Content.wrap`: they break East Asian text like one long word and
let a line begin with its full stop, and take 40 ms for 100 KB of prose where this takes 17 (Rich
15.0, Textual 8.2.8).
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from rich.cells import cell_len, split_graphemes
from rich.segment import Segment
from rich.style import Style

Line = list[Segment]
Piece = tuple[str, Style]

TAB: Final = 4
MAX_PROSE: Final = 100
"""Cells of a line of prose; code, tables and diffs use the width that there is."""
MIN_WIDTH: Final = 8
"""Nothing is drawn narrower than this; bullets and bars do not reduce their content below it."""

# East Asian text breaks between any two characters, except before closing punctuation.
_WIDE: Final = (
    "\u1100-\u115f\u2e80-\u3000\u3003-\u300c\u300e\u3010\u3012-\ua4cf\uac00-\ud7a3"
    "\uf900-\ufaff\U00020000-\U0003fffd"
)
_NEVER_FIRST: Final = (
    "\u3001\u3002\u300d\u300f\u3011\u3099\u309a\uff01\uff09\uff0c\uff0e\uff1a\uff1b\uff1f"
)
_UNIT: Final = re.compile(rf"(?P<space>\s+)|[{_WIDE}][{_NEVER_FIRST}\ufe0f\u200d]*|[^\s{_WIDE}]+")


def wrap(pieces: Sequence[Piece], width: int) -> list[Line]:
    """Wrap text between words, at most `width` cells per line; longer words are cut.

    White space at a line break is dropped. `\\n` ends a line; a tab counts as a space.
    """
    text = "".join(text for text, _ in pieces).replace("\t", " ")
    return list(_cut(pieces, text, line_spans(text, width)))


def line_spans(text: str, width: int) -> list[tuple[int, int]]:
    """The first and end offset of each line of `wrap`.

    If the text grows at its end, all lines but the last stay the same.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for part in text.replace("\t", " ").split("\n"):
        spans += ((start + first, start + end) for first, end in _word_spans(part, width))
        start += len(part) + 1
    return spans


def wrap_code(pieces: Sequence[Piece], width: int, rest_width: int) -> list[Line]:
    """Wrap one line of code at `width`, continuation lines at `rest_width`.

    Every character is kept; tabs become spaces up to the next tab stop.
    """
    pieces = expand_tabs(pieces)
    text = "".join(text for text, _ in pieces)
    spans = list(_cell_spans(text, width, rest_width)) or [(0, 0)]
    return list(_cut(pieces, text, spans))


def expand_tabs(pieces: Sequence[Piece]) -> Sequence[Piece]:
    """Replace the tabs of one line by spaces."""
    if not any("\t" in text for text, _ in pieces):
        return pieces
    column = 0
    expanded: list[Piece] = []
    for text, style in pieces:
        first, *rest = text.split("\t")
        column += cell_len(first)
        for part in rest:
            spaces = TAB - column % TAB
            first += " " * spaces + part
            column += spaces + cell_len(part)
        expanded.append((first, style))
    return expanded


def pad_line(content: Line, width: int, style: Style) -> Line:
    """Pad the line with `style` up to the width."""
    space = width - line_width(content)
    return [*content, Segment(" " * space, style)] if space > 0 else content


def line_width(line: Line) -> int:
    """The width of a line in cells."""
    return sum(cell_len(segment.text) for segment in line)


def _word_spans(text: str, width: int) -> Iterator[tuple[int, int]]:
    if cell_len(text) <= width:
        yield 0, len(text)
        return
    start = end = used = gap = 0
    for unit in _UNIT.finditer(text):
        size = cell_len(unit.group())
        if unit["space"]:
            gap = size
            continue
        if used and used + gap + size > width:
            yield start, end
            start, used, gap = unit.start(), 0, 0
        if used + gap + size > width:  # the word, or the spaces before it, are too long
            start = unit.start()
            *full, last = _cell_spans(unit.group(), width, width)
            yield from ((start + first, start + stop) for first, stop in full)
            start, used = start + last[0], cell_len(unit.group()[last[0] :])
        else:
            used += gap + size
        end, gap = unit.end(), 0
    yield start, end


def _cell_spans(text: str, width: int, rest_width: int) -> Iterator[tuple[int, int]]:
    if text.isascii():
        if text:
            yield 0, min(width, len(text))
        for start in range(width, len(text), rest_width):
            yield start, min(start + rest_width, len(text))
        return
    # A letter is put in front and removed again: Rich 15's `split_graphemes` and `cell_len` measure
    # joiners at the start of a text differently.
    start, used = 0, -1
    for offset, _, size in split_graphemes(f"x{text}")[0]:
        first = offset - 1
        if used + size > width and first > start:
            yield start, first
            start, used, width = first, 0, rest_width
        used += size
    yield start, len(text)


def _cut(pieces: Sequence[Piece], text: str, spans: Sequence[tuple[int, int]]) -> Iterator[Line]:
    """The `spans` of `text` (the joined pieces) as lines; spans are in ascending order."""
    at = offset = 0
    for start, end in spans:
        line: Line = []
        while start < end:
            while offset + len(pieces[at][0]) <= start:
                offset += len(pieces[at][0])
                at += 1
            stop = min(end, offset + len(pieces[at][0]))
            line.append(Segment(text[start:stop], pieces[at][1]))
            start = stop
        yield line
