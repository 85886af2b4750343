"""Block trees as HTML elements, in pieces small enough for a page.

Code is not highlighted: that would make it five times as long.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import Final, TypeVar

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
    Token,
)
from server.lite.html import Element, Node, make, size

T = TypeVar("T")

PIECE: Final = 1500
"""Maximum bytes of HTML of a piece, give or take a character or two."""

_MAX_ADDRESS: Final = 800
"""Maximum characters of a link's address; a longer one becomes text, as links cannot be cut."""

_CHUNK: Final = re.compile(r".{1,100}(?:(?<=\s)|$)|.{1,100}", re.DOTALL)
"""At most 100 characters, up to a space if there is one."""


def make_elements(blocks: Iterable[Block]) -> Iterator[Element]:
    """Convert blocks to elements, each no larger than a piece."""
    return map(_make_element, chain.from_iterable(map(_split, blocks)))


def verbatim(text: str) -> Iterator[Element]:
    """Text exactly as typed, as elements no larger than a piece."""
    for spans in _group(_cut_spans((Span(text),)), _spans_size):
        yield make("p", _make_spans(spans), class_="verbatim")


def break_lines(text: str) -> list[Node]:
    """Text with `br` elements for its line breaks, which need no style sheet."""
    first, *rest = text.split("\n")
    others: list[Node] = [[make("br"), line] for line in rest]
    return [first, *others]


def _make_element(block: Block) -> Element:
    match block:
        case Paragraph(spans):
            return make("p", _make_spans(spans))
        case Heading(level, spans):
            return make(f"h{min(6, level + 2)}", _make_spans(spans))
        case CodeBlock(_, code):
            return make("pre", make("code", "\n".join(map(_line_text, code))), tabindex=0)
        case ListBlock():
            items = [make("li", map(_make_element, item)) for item in block.items]
            start = block.start if block.ordered and block.start != 1 else None
            tight = "tight" if block.tight else None
            return make("ol" if block.ordered else "ul", items, start=start, class_=tight)
        case Quote(blocks):
            return make("blockquote", map(_make_element, blocks))
        case Table(header, rows):
            head = make("tr", [make("th", _make_spans(cell)) for cell in header])
            body = [make("tr", [make("td", _make_spans(cell)) for cell in row]) for row in rows]
            return make("table", make("thead", head), make("tbody", body) if body else None)
        case Rule():
            return make("hr")


def _line_text(line: CodeLine) -> str:
    return "".join(token.text for token in line)


def _make_spans(spans: Iterable[Span]) -> list[Node]:
    return [_make_span(span) for span in spans]


def _make_span(span: Span) -> Node:
    node: Node = break_lines(span.text)
    styles = {"code": span.code, "b": span.bold, "i": span.italic, "s": span.strike}
    for name, is_set in styles.items():
        if is_set:
            node = make(name, node)
    if span.href and len(span.href) <= _MAX_ADDRESS:
        node = make("a", node, href=span.href, rel="noopener noreferrer")
    return node


# Pieces -----------------------------------------------------------------------------------------


def _split(block: Block) -> Iterator[Block]:
    """Split a block that is too large for one piece."""
    if size(_make_element(block)) <= PIECE:
        yield block
        return
    match block:
        case Paragraph(spans):
            yield from map(Paragraph, _group(_cut_spans(spans), _spans_size))
        case Heading(level, spans):
            yield from (Heading(level, group) for group in _group(_cut_spans(spans), _spans_size))
        case CodeBlock(language, code):
            cut_lines = chain.from_iterable(map(_cut_line, code))
            for group in _group(cut_lines, lambda line: size(_line_text(line)) + 1):
                yield CodeBlock(language, group)
        case ListBlock():
            yield from _split_list(block)
        case Quote(blocks):
            for child in chain.from_iterable(map(_split, blocks)):
                yield Quote((child,))
        case Table():
            yield from _split_table(block)
        case Rule():
            yield block


def _split_list(block: ListBlock) -> Iterator[Block]:
    """Split a list by items; the rest of an item that is too large follows its list."""
    pending: list[tuple[Block, ...]] = []
    first = block.start
    for number, item in enumerate(block.items, block.start):
        head, *rest = _group(chain.from_iterable(map(_split, item)), _block_size) or [()]
        if pending and sum(map(_item_size, [*pending, head])) > PIECE:
            yield replace(block, items=tuple(pending), start=first)
            pending, first = [], number
        pending.append(head)
        if rest:
            yield replace(block, items=tuple(pending), start=first)
            pending, first = [], number + 1
            yield from chain.from_iterable(rest)
    if pending:
        yield replace(block, items=tuple(pending), start=first)


def _split_table(table: Table) -> Iterator[Block]:
    """Split a table by rows; if a row is too large, all cells become paragraphs."""
    if any(_row_size(row) > PIECE / 2 for row in (table.header, *table.rows)):
        for row in (table.header, *table.rows):
            yield from chain.from_iterable(_split(Paragraph(cell)) for cell in row)
        return
    for rows in _group(table.rows, _row_size, PIECE - _row_size(table.header)):
        yield replace(table, rows=rows)


def _cut_spans(spans: Iterable[Span]) -> Iterator[Span]:
    for span in spans:
        yield from (replace(span, text=part) for part in _CHUNK.findall(span.text))


def _cut_line(line: CodeLine) -> Iterator[CodeLine]:
    text = _line_text(line)
    parts = [text] if size(text) <= PIECE // 2 else _CHUNK.findall(text)
    yield from ((Token(part),) for part in parts)


def _group(
    items: Iterable[T], size_of: Callable[[T], int], limit: int = PIECE
) -> list[tuple[T, ...]]:
    """Group items into runs of at most `limit` bytes; no run is empty."""
    runs: list[list[T]] = []
    used = 0
    for item in items:
        length = size_of(item)
        if not runs or used + length > limit:
            runs.append([])
            used = 0
        runs[-1].append(item)
        used += length
    return [tuple(run) for run in runs]


def _block_size(block: Block) -> int:
    return size(_make_element(block))


def _item_size(item: tuple[Block, ...]) -> int:
    return sum(map(_block_size, item)) + len("<li></li>")


def _spans_size(span: Span) -> int:
    return size(_make_span(span))


def _row_size(row: tuple[tuple[Span, ...], ...]) -> int:
    return sum(size(make("td", _make_spans(cell))) for cell in row) + len("<tr></tr>")
