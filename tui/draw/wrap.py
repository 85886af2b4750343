"""Styled text cut into lines of a width, in terminal cells: wide characters count for two."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from rich.cells import cell_len, split_graphemes
from rich.segment import Segment
from rich.style import Style

Line = list[Segment]
Piece = tuple[str, Style]

TAB: Final = 4
MIN_WIDTH: Final = 8
"""Narrower than this nothing is drawn, and no bullet or bar makes its content narrower."""

# East Asian text breaks between any two characters, but not before its closing punctuation.
_WIDE: Final = (
    "\u1100-\u115f\u2e80-\u3000\u3003-\u300c\u300e\u3010\u3012-\ua4cf\uac00-\ud7a3"
    "\uf900-\ufaff\U00020000-\U0003fffd"
)
_NEVER_FIRST: Final = (
    "\u3001\u3002\u300d\u300f\u3011\u3099\u309a\uff01\uff09\uff0c\uff0e\uff1a\uff1b\uff1f"
)
_UNIT: Final = re.compile(rf"(?P<space>\s+)|[{_WIDE}][{_NEVER_FIRST}\ufe0f\u200d]*|[^\s{_WIDE}]+")


def wrap(pieces: Sequence[Piece], width: int) -> list[Line]:
    """Lines of words, at most `width` cells each; a longer word is cut.

    White space where a line is broken is left out. `\\n` ends a line; a tab is a space.
    """
    text = "".join(text for text, _ in pieces).replace("\t", " ")
    places: list[tuple[int, int]] = []
    start = 0
    for part in text.split("\n"):
        places += ((start + first, start + end) for first, end in _word_places(part, width))
        start += len(part) + 1
    return list(_cut(pieces, text, places))


def wrap_code(pieces: Sequence[Piece], width: int, rest_width: int) -> list[Line]:
    """One line of code cut at the width, the second and later parts at `rest_width`.

    Every character stays; tabs become spaces up to the next stop.
    """
    pieces = expand_tabs(pieces)
    text = "".join(text for text, _ in pieces)
    places = list(_cell_places(text, width, rest_width)) or [(0, 0)]
    return list(_cut(pieces, text, places))


def expand_tabs(pieces: Sequence[Piece]) -> Sequence[Piece]:
    """The pieces of one line with its tabs as spaces."""
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


def filled(content: Line, width: int, ground: Style) -> Line:
    """The line with `ground` up to the width."""
    space = width - line_width(content)
    return [*content, Segment(" " * space, ground)] if space > 0 else content


def line_width(line: Line) -> int:
    """The cells that a line takes."""
    return sum(cell_len(segment.text) for segment in line)


def _word_places(text: str, width: int) -> Iterator[tuple[int, int]]:
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
        if used + gap + size > width:  # the word alone is too long, or spaces before it are
            start = unit.start()
            *full, last = _cell_places(unit.group(), width, width)
            yield from ((start + first, start + stop) for first, stop in full)
            start, used = start + last[0], cell_len(unit.group()[last[0] :])
        else:
            used += gap + size
        end, gap = unit.end(), 0
    yield start, end


def _cell_places(text: str, width: int, rest_width: int) -> Iterator[tuple[int, int]]:
    if text.isascii():
        if text:
            yield 0, min(width, len(text))
        for start in range(width, len(text), rest_width):
            yield start, min(start + rest_width, len(text))
        return
    # Behind a letter, which is taken off again: joiners at the start of a text are measured in one
    # way by Rich 15's `split_graphemes` and in another by its `cell_len`.
    start, used = 0, -1
    for place, _, size in split_graphemes(f"x{text}")[0]:
        first = place - 1
        if used + size > width and first > start:
            yield start, first
            start, used, width = first, 0, rest_width
        used += size
    yield start, len(text)


def _cut(pieces: Sequence[Piece], text: str, places: Sequence[tuple[int, int]]) -> Iterator[Line]:
    """The stretches of `text`, the joined pieces, as lines; `places` go forwards."""
    at = offset = 0
    for start, end in places:
        line: Line = []
        while start < end:
            while offset + len(pieces[at][0]) <= start:
                offset += len(pieces[at][0])
                at += 1
            stop = min(end, offset + len(pieces[at][0]))
            line.append(Segment(text[start:stop], pieces[at][1]))
            start = stop
        yield line
