"""Block trees to lines for the terminal: pure functions of blocks, width and palette.

A line is a list of segments and never wider than asked, so `Strip(line)` can be drawn as it is.
Nothing here is kept; whoever draws keeps the lines of blocks that do not change.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from model.richtext.blocks import (
    Block,
    CodeBlock,
    CodeLine,
    Heading,
    ListBlock,
    Paragraph,
    Quote,
    Rule,
    Span,
    Table,
)
from tui.draw.colors import Palette, palette
from tui.draw.diff import render_diff, render_diff_rows
from tui.draw.table import table_lines
from tui.draw.wrap import MIN_WIDTH, Line, Piece, filled, line_width, wrap, wrap_code

__all__ = [
    "Line",
    "Palette",
    "palette",
    "render_block",
    "render_blocks",
    "render_code_lines",
    "render_diff",
    "render_diff_rows",
    "render_spans",
]


@dataclass(frozen=True, slots=True)
class _Place:
    """Where blocks are drawn: the room, the colours, and what surrounds them."""

    width: int
    palette: Palette
    base: Style
    depth: int = 0


def render_blocks(blocks: Iterable[Block], width: int, palette: Palette) -> list[Line]:
    """The lines of blocks, one under the other with an empty line between them."""
    return _stack(blocks, _Place(max(width, MIN_WIDTH), palette, palette.text), spaced=True)


def render_block(block: Block, width: int, palette: Palette) -> list[Line]:
    """The lines of one block. An empty line belongs before it, unless its list `continues`."""
    return _block_lines(block, _Place(max(width, MIN_WIDTH), palette, palette.text))


def render_spans(spans: Iterable[Span], width: int, palette: Palette, base: Style) -> list[Line]:
    """Running text in lines, on the style `base`."""
    return wrap(_pieces(spans, palette, base), max(width, MIN_WIDTH))


def render_code_lines(lines: Iterable[CodeLine], width: int, palette: Palette) -> list[Line]:
    """Code on the ground of its theme, the width filled, long lines wrapped behind a mark.

    What a growing code block got since the last drawing can be drawn by this and appended.
    """
    edge = _code_edge(width, palette)
    room = width - 2 * len(edge)
    mark = Segment(f"{palette.marks.continued} ", palette.code_faint)
    drawn: list[Line] = []
    for line in lines:
        pieces = [(token.text, palette.tokens[token.kind]) for token in line]
        for number, part in enumerate(wrap_code(pieces, room, room - 2)):
            content = [mark, *part] if number else part
            drawn.append(filled([*edge, *content], width, palette.code))
    return drawn


def _stack(blocks: Iterable[Block], place: _Place, *, spaced: bool) -> list[Line]:
    lines: list[Line] = []
    for block in blocks:
        continues = isinstance(block, ListBlock) and block.continues
        if lines and spaced and not continues:
            lines.append([])
        lines += _block_lines(block, place)
    return lines


def _block_lines(block: Block, place: _Place) -> list[Line]:
    width, palette = place.width, place.palette
    match block:
        case Paragraph(spans):
            return wrap(_pieces(spans, palette, place.base), width)
        case Heading(level, spans):
            return wrap(_pieces(spans, palette, palette.headings[level - 1]), width)
        case CodeBlock(language, lines):
            return _language_tag(language, place) + render_code_lines(lines, width, palette)
        case ListBlock():
            return _list_lines(block, place)
        case Quote(blocks):
            return _quote_lines(blocks, place)
        case Table():
            cells = [[_pieces(cell, palette, place.base) for cell in row] for row in block.rows]
            header = [_pieces(cell, palette, palette.headings[2]) for cell in block.header]
            return table_lines(header, cells, block.aligns, width, palette)
        case Rule():
            return [[Segment(palette.marks.across * width, palette.border)]]


def _language_tag(language: str, place: _Place) -> list[Line]:
    if not language:
        return []
    width, palette = place.width, place.palette
    edge = _code_edge(width, palette)
    tag = wrap_code([(language, palette.code_faint)], width - 2, width)[0]
    space = " " * (width - 1 - line_width(tag) - len(edge))
    return [[*edge, Segment(space, palette.code), *tag, Segment(" ", palette.code)]]


def _code_edge(width: int, palette: Palette) -> Line:
    """Says where code is: some themes have nearly the ground of the chrome."""
    return [Segment(palette.marks.code, palette.code_faint)] if width > 2 * MIN_WIDTH else []


def _list_lines(block: ListBlock, place: _Place) -> list[Line]:
    bullets = place.palette.marks.bullets
    if block.ordered:
        last = block.start + len(block.items) - 1
        markers = [f"{number}.".rjust(len(f"{last}.")) for number in range(block.start, last + 1)]
    else:
        markers = [bullets[min(place.depth, len(bullets) - 1)]] * len(block.items)
    deeper = replace(place, depth=place.depth + 1)
    lines: list[Line] = []
    for marker, blocks in zip(markers, block.items, strict=True):
        if lines and not block.tight:
            lines.append([])
        first = Segment(f"{marker} ", place.palette.muted)
        rest = Segment(" " * cell_len(first.text), place.base)
        lines += _beside(first, rest, blocks, deeper, spaced=not block.tight)
    return lines


def _quote_lines(blocks: Sequence[Block], place: _Place) -> list[Line]:
    bar = Segment(f"{place.palette.marks.quote} ", place.palette.border)
    quoted = replace(place, base=place.palette.muted)
    return _beside(bar, bar, blocks, quoted, spaced=True)


def _beside(
    first: Segment, rest: Segment, blocks: Sequence[Block], place: _Place, *, spaced: bool
) -> list[Line]:
    """Blocks behind a mark, or under it where there is no room beside it."""
    room = place.width - cell_len(first.text)
    if room < MIN_WIDTH:
        return [[Segment(first.text.strip(), first.style)], *_stack(blocks, place, spaced=spaced)]
    lines = _stack(blocks, replace(place, width=room), spaced=spaced) or [[]]
    return [[rest if number else first, *line] for number, line in enumerate(lines)]


def _pieces(spans: Iterable[Span], palette: Palette, base: Style) -> list[Piece]:
    return [(span.text, _style(palette, base, replace(span, text=""))) for span in spans]


@lru_cache(maxsize=1024)
def _style(palette: Palette, base: Style, look: Span) -> Style:
    style = base
    if look.code:
        style += palette.code_inline
    if look.href:
        web = look.href if look.href.lower().startswith(("http://", "https://")) else None
        style += palette.link + Style(link=web)
    if look.bold or look.italic or look.strike:
        style += Style(
            bold=look.bold or None, italic=look.italic or None, strike=look.strike or None
        )
    return style
