"""Block trees of the model as HTML elements, in pieces that a small page has room for.

Code has no colours here: they would make it five times as long.
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
"""Bytes of HTML that one piece has at most, but for a character or two."""

_LONGEST_ADDRESS: Final = 800
"""Characters; a longer one is only text, for a link cannot be cut."""

_CHUNK: Final = re.compile(r".{1,100}(?:(?<=\s)|$)|.{1,100}", re.DOTALL)
"""At most so many characters, up to a space where there is one."""


def elements_of(blocks: Iterable[Block]) -> Iterator[Element]:
    """The blocks as elements, each no longer than a piece."""
    return map(_element, chain.from_iterable(map(_split, blocks)))


def said(text: str) -> Iterator[Element]:
    """Text as it was typed, as elements no longer than a piece."""
    for spans in _grouped(_cut((Span(text),)), _spans_size):
        yield make("p", _spans(spans), class_="said")


def lines(text: str) -> list[Node]:
    """Text whose line breaks show in any browser, with or without a style sheet."""
    first, *rest = text.split("\n")
    broken: list[Node] = [[make("br"), line] for line in rest]
    return [first, *broken]


def _element(block: Block) -> Element:
    match block:
        case Paragraph(spans):
            return make("p", _spans(spans))
        case Heading(level, spans):
            return make(f"h{min(6, level + 2)}", _spans(spans))
        case CodeBlock(_, code):
            return make("pre", make("code", "\n".join(map(_plain, code))), tabindex=0)
        case ListBlock():
            items = [make("li", map(_element, item)) for item in block.items]
            start = block.start if block.ordered and block.start != 1 else None
            tight = "tight" if block.tight else None
            return make("ol" if block.ordered else "ul", items, start=start, class_=tight)
        case Quote(blocks):
            return make("blockquote", map(_element, blocks))
        case Table(header, rows):
            head = make("tr", [make("th", _spans(cell)) for cell in header])
            body = [make("tr", [make("td", _spans(cell)) for cell in row]) for row in rows]
            return make("table", make("thead", head), make("tbody", body) if body else None)
        case Rule():
            return make("hr")


def _plain(line: CodeLine) -> str:
    return "".join(token.text for token in line)


def _spans(spans: Iterable[Span]) -> list[Node]:
    return [_span(span) for span in spans]


def _span(span: Span) -> Node:
    made: Node = lines(span.text)
    looks = {"code": span.code, "b": span.bold, "i": span.italic, "s": span.strike}
    for name, is_on in looks.items():
        if is_on:
            made = make(name, made)
    if span.href and len(span.href) <= _LONGEST_ADDRESS:
        made = make("a", made, href=span.href, rel="noopener noreferrer")
    return made


# Pieces -----------------------------------------------------------------------------------------


def _split(block: Block) -> Iterator[Block]:
    """The block, as several where it is too long for one piece."""
    if size(_element(block)) <= PIECE:
        yield block
        return
    match block:
        case Paragraph(spans):
            yield from map(Paragraph, _grouped(_cut(spans), _spans_size))
        case Heading(level, spans):
            yield from (Heading(level, some) for some in _grouped(_cut(spans), _spans_size))
        case CodeBlock(language, code):
            cut = chain.from_iterable(map(_cut_line, code))
            for some in _grouped(cut, lambda line: size(_plain(line)) + 1):
                yield CodeBlock(language, some)
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
    """Lists of some items each; what is left of an item that is too long stands after its list."""
    waiting: list[tuple[Block, ...]] = []
    first = block.start
    for number, item in enumerate(block.items, block.start):
        head, *rest = _grouped(chain.from_iterable(map(_split, item)), _block_size) or [()]
        if waiting and sum(map(_item_size, [*waiting, head])) > PIECE:
            yield replace(block, items=tuple(waiting), start=first)
            waiting, first = [], number
        waiting.append(head)
        if rest:
            yield replace(block, items=tuple(waiting), start=first)
            waiting, first = [], number + 1
            yield from chain.from_iterable(rest)
    if waiting:
        yield replace(block, items=tuple(waiting), start=first)


def _split_table(table: Table) -> Iterator[Block]:
    """Tables of some rows each; where one row is too long, its cells become paragraphs."""
    if any(_row_size(row) > PIECE / 2 for row in (table.header, *table.rows)):
        for row in (table.header, *table.rows):
            yield from chain.from_iterable(_split(Paragraph(cell)) for cell in row)
        return
    for rows in _grouped(table.rows, _row_size, PIECE - _row_size(table.header)):
        yield replace(table, rows=rows)


def _cut(spans: Iterable[Span]) -> Iterator[Span]:
    for span in spans:
        yield from (replace(span, text=part) for part in _CHUNK.findall(span.text))


def _cut_line(line: CodeLine) -> Iterator[CodeLine]:
    text = _plain(line)
    parts = [text] if size(text) <= PIECE // 2 else _CHUNK.findall(text)
    yield from ((Token(part),) for part in parts)


def _grouped(
    items: Iterable[T], size_of: Callable[[T], int], most: int = PIECE
) -> list[tuple[T, ...]]:
    """The items in runs that are no longer together than `most`; none is empty."""
    runs: list[list[T]] = []
    used = 0
    for item in items:
        length = size_of(item)
        if not runs or used + length > most:
            runs.append([])
            used = 0
        runs[-1].append(item)
        used += length
    return [tuple(run) for run in runs]


def _block_size(block: Block) -> int:
    return size(_element(block))


def _item_size(item: tuple[Block, ...]) -> int:
    return sum(map(_block_size, item)) + len("<li></li>")


def _spans_size(span: Span) -> int:
    return size(_span(span))


def _row_size(row: tuple[tuple[Span, ...], ...]) -> int:
    return sum(size(make("td", _spans(cell))) for cell in row) + len("<tr></tr>")
