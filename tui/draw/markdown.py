"""Rendering of block trees as terminal lines: pure functions of blocks, width and palette.

A line is a list of segments, never wider than requested, so `Strip(line)` can be drawn as it is.
Nothing is cached here; callers cache the lines of blocks that do not change.
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
from tui.draw.colors import Palette, get_palette
from tui.draw.diff import render_diff, render_diff_rows
from tui.draw.table import table_lines
from tui.draw.wrap import MAX_PROSE, MIN_WIDTH, Line, Piece, line_width, pad_line, wrap, wrap_code

__all__ = [
    "Line",
    "Palette",
    "get_palette",
    "render_block",
    "render_blocks",
    "render_code_lines",
    "render_diff",
    "render_diff_rows",
    "render_spans",
]


@dataclass(frozen=True, slots=True)
class _Context:
    """How blocks are drawn: available width, colors, base style and list depth."""

    width: int
    palette: Palette
    base: Style
    depth: int = 0


def render_blocks(blocks: Iterable[Block], width: int, palette: Palette) -> list[Line]:
    """Render blocks one below the other, with an empty line between them."""
    return _stack(blocks, _Context(max(width, MIN_WIDTH), palette, palette.text), spaced=True)


def render_block(block: Block, width: int, palette: Palette) -> list[Line]:
    """Render one block. An empty line belongs before it, unless its list `continues`."""
    return _block_lines(block, _Context(max(width, MIN_WIDTH), palette, palette.text))


def render_spans(spans: Iterable[Span], width: int, palette: Palette, base: Style) -> list[Line]:
    """Render inline text, on top of the style `base`."""
    return wrap(_pieces(spans, palette, base), max(width, MIN_WIDTH))


def render_code_lines(
    lines: Iterable[CodeLine], width: int, palette: Palette, language: str = ""
) -> list[Line]:
    """Render code on its theme's background, padded to `width`; wrapped lines start with a mark.

    The new lines of a growing code block can be rendered separately and appended. `language` is
    shown at the right of the first line, if there is room.
    """
    edge = _code_edge(width, palette)
    available = width - 2 * len(edge)
    mark = Segment(f"{palette.glyphs.continued} ", palette.code_faint)
    drawn: list[Line] = []
    for line in lines:
        pieces = [(token.text, palette.tokens[token.kind]) for token in line]
        for number, part in enumerate(wrap_code(pieces, available, available - 2)):
            content = [mark, *part] if number else part
            row = [*edge, *content]
            if not drawn and language:
                row = _with_language(row, language, width, palette)
            drawn.append(pad_line(row, width, palette.code))
    return drawn


def _with_language(row: Line, language: str, width: int, palette: Palette) -> Line:
    label = wrap_code([(language, palette.code_faint)], max(1, width // 2), width)[0]
    space = width - 1 - line_width(row) - line_width(label)
    return row if space < 2 else [*row, Segment(" " * space, palette.code), *label]


def _stack(blocks: Iterable[Block], context: _Context, *, spaced: bool) -> list[Line]:
    lines: list[Line] = []
    for block in blocks:
        continues = isinstance(block, ListBlock) and block.continues
        if lines and spaced and not continues:
            lines.append([])
        lines += _block_lines(block, context)
    return lines


def _block_lines(block: Block, context: _Context) -> list[Line]:
    width, palette = context.width, context.palette
    match block:
        case Paragraph(spans):
            return wrap(_pieces(spans, palette, context.base), min(width, MAX_PROSE))
        case Heading(level, spans):
            return wrap(_pieces(spans, palette, palette.headings[level - 1]), min(width, MAX_PROSE))
        case CodeBlock(language, lines):
            return render_code_lines(lines, width, palette, language)
        case ListBlock():
            return _list_lines(block, context)
        case Quote(blocks):
            return _quote_lines(blocks, context)
        case Table():
            cells = [[_pieces(cell, palette, context.base) for cell in row] for row in block.rows]
            header = [_pieces(cell, palette, palette.headings[2]) for cell in block.header]
            return table_lines(header, cells, block.aligns, width, palette)
        case Rule():
            return [[Segment(palette.glyphs.horizontal * width, palette.border)]]


def _code_edge(width: int, palette: Palette) -> Line:
    """The bar beside code: the background of some themes resembles the chrome's."""
    return [Segment(palette.glyphs.code, palette.code_faint)] if width > 2 * MIN_WIDTH else []


def _list_lines(block: ListBlock, context: _Context) -> list[Line]:
    bullets = context.palette.glyphs.bullets
    if block.ordered:
        last = block.start + len(block.items) - 1
        markers = [f"{number}.".rjust(len(f"{last}.")) for number in range(block.start, last + 1)]
    else:
        markers = [bullets[min(context.depth, len(bullets) - 1)]] * len(block.items)
    deeper = replace(context, depth=context.depth + 1)
    lines: list[Line] = []
    for marker, blocks in zip(markers, block.items, strict=True):
        if lines and not block.tight:
            lines.append([])
        first = Segment(f"{marker} ", context.palette.muted)
        rest = Segment(" " * cell_len(first.text), context.base)
        lines += _beside(first, rest, blocks, deeper, spaced=not block.tight)
    return lines


def _quote_lines(blocks: Sequence[Block], context: _Context) -> list[Line]:
    bar = Segment(f"{context.palette.glyphs.quote} ", context.palette.border)
    quoted = replace(context, base=context.palette.muted)
    return _beside(bar, bar, blocks, quoted, spaced=True)


def _beside(
    first: Segment, rest: Segment, blocks: Sequence[Block], context: _Context, *, spaced: bool
) -> list[Line]:
    """Blocks beside a marker, or below it if there is no space beside it."""
    available = context.width - cell_len(first.text)
    if available < MIN_WIDTH:
        return [[Segment(first.text.strip(), first.style)], *_stack(blocks, context, spaced=spaced)]
    lines = _stack(blocks, replace(context, width=available), spaced=spaced) or [[]]
    return [[rest if number else first, *line] for number, line in enumerate(lines)]


def _pieces(spans: Iterable[Span], palette: Palette, base: Style) -> list[Piece]:
    return [(span.text, _style(palette, base, replace(span, text=""))) for span in spans]


@lru_cache(maxsize=1024)
def _style(palette: Palette, base: Style, span: Span) -> Style:
    style = base
    if span.code:
        style += palette.code_inline
    if span.href:
        web = span.href if span.href.lower().startswith(("http://", "https://")) else None
        style += palette.link + Style(link=web)
    if span.bold or span.italic or span.strike:
        style += Style(
            bold=span.bold or None, italic=span.italic or None, strike=span.strike or None
        )
    return style
