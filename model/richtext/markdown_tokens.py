"""The tokens of markdown-it as block trees, each top-level block with its place in the source."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Final, cast

from model.base.text import make_visible
from model.richtext.blocks import (
    LIST_ITEMS,
    Align,
    Block,
    CodeBlock,
    Heading,
    ListBlock,
    Paragraph,
    Quote,
    Rule,
    Span,
    Table,
)
from model.richtext.highlight import highlight_code

if TYPE_CHECKING:
    from markdown_it.token import Token

MAX_NESTING: Final = 40
"""Deeper blocks are shown as they were written: the parser would leave their text out."""

_WEB: Final = ("http://", "https://", "mailto:")


@dataclass(frozen=True, slots=True)
class Piece:
    """A block of the top level, the line it begins on, and the next item's number in a list cut."""

    block: Block
    first_line: int
    next_item: int | None = None


def pieces(
    tokens: Sequence["Token"], lines: Sequence[str], item_number: int | None = None
) -> list[Piece]:
    """The top-level blocks; with `item_number` the text begins inside a list, at that item."""
    found: list[Piece] = []
    for part in _children(tokens):
        first, end = part[0].map or (0, 0)
        if part[0].type.endswith("_list_open"):
            found += _list_pieces(part, lines, item_number)
        elif _too_deep(part):
            found.append(Piece(_as_written(lines[first:end]), first))
        else:
            found.append(Piece(_block(part, lines), first))
        item_number = None
    return found


def fence_language(info: str) -> str:
    """The language that the first line of a fence names, as written there, or nothing."""
    words = info.split()
    return words[0].strip("{}.") if words else ""


def _children(tokens: Sequence["Token"]) -> Iterator[Sequence["Token"]]:
    """The runs of tokens that make one block each, at the level of the first."""
    start = depth = 0
    for at, token in enumerate(tokens):
        depth += token.nesting
        if depth == 0:
            yield tokens[start : at + 1]
            start = at + 1


def _block(tokens: Sequence["Token"], lines: Sequence[str]) -> Block:
    first = tokens[0]
    match first.type:
        case "heading_open":
            return Heading(int(first.tag[1:]), _inline(tokens[1]))
        case "fence":
            code = highlight_code(first.content, fence_language(first.info))
            return CodeBlock(fence_language(first.info), code, _is_closed(first, lines))
        case "code_block":
            return CodeBlock("", highlight_code(first.content, None))
        case "bullet_list_open" | "ordered_list_open":
            return _list(tokens, list(_children(tokens[1:-1])), lines, _number(first))
        case "blockquote_open":
            return Quote(tuple(_block(part, lines) for part in _children(tokens[1:-1])))
        case "table_open":
            return _table(tokens)
        case "hr":
            return Rule()
        case _:
            return Paragraph(_inline(tokens[1]))


def _is_closed(fence: "Token", lines: Sequence[str]) -> bool:
    """A fence without its end has one line of source more than of code, else two."""
    first, end = fence.map or (0, 0)
    code_lines = fence.content.removesuffix("\n").count("\n") + 1 if fence.content else 0
    return end - first - code_lines == 2 and fence.markup in lines[end - 1]


def _list_pieces(
    tokens: Sequence["Token"], lines: Sequence[str], item_number: int | None
) -> Iterator[Piece]:
    items = list(_children(tokens[1:-1]))
    number = _number(tokens[0]) if item_number is None else item_number
    continues = item_number is not None
    for start in range(0, len(items), LIST_ITEMS):
        part = items[start : start + LIST_ITEMS]
        first_line, end_line = _first_line(part[0]), (part[-1][0].map or (0, 0))[1]
        block: Block
        if any(map(_too_deep, part)):
            block = _as_written(lines[first_line:end_line])
        else:
            block = _list(tokens, part, lines, number + start)
            block = replace(block, continues=continues or start > 0)
        more = start + LIST_ITEMS < len(items)
        yield Piece(block, first_line, number + start + LIST_ITEMS if more else None)


def _list(
    tokens: Sequence["Token"],
    items: list[Sequence["Token"]],
    lines: Sequence[str],
    number: int,
) -> ListBlock:
    contents = [list(_children(item[1:-1])) for item in items]
    ordered = tokens[0].type == "ordered_list_open"
    neighbours = [*pairwise(items), *(pair for blocks in contents for pair in pairwise(blocks))]
    return ListBlock(
        ordered=ordered,
        start=number if ordered else 1,
        items=tuple(tuple(_block(part, lines) for part in blocks) for blocks in contents),
        tight=not any(_is_blank(lines[_first_line(after) - 1]) for _, after in neighbours),
    )


def _number(token: "Token") -> int:
    return int(token.attrs.get("start", 1))


def _first_line(tokens: Sequence["Token"]) -> int:
    return (tokens[0].map or (0, 0))[0]


def _is_blank(line: str) -> bool:
    return not line.strip(" \t>")


def _table(tokens: Sequence["Token"]) -> Table:
    rows: list[list[tuple[Span, ...]]] = []
    aligns: list[Align] = []
    for at, token in enumerate(tokens):
        if token.type == "tr_open":
            rows.append([])
        elif token.type in ("th_open", "td_open"):
            rows[-1].append(_inline(tokens[at + 1]))
            if token.type == "th_open":
                style = str(token.attrs.get("style", "text-align:left"))
                aligns.append(cast(Align, style.removeprefix("text-align:")))
    header, *body = (tuple(row) for row in rows)
    return Table(header, tuple(body), tuple(aligns))


def _too_deep(tokens: Sequence["Token"]) -> bool:
    return any(token.level >= MAX_NESTING - 1 for token in tokens)


def _as_written(lines: Sequence[str]) -> Paragraph:
    return Paragraph((Span("\n".join(lines).rstrip("\n")),))


def _inline(token: "Token") -> tuple[Span, ...]:
    """The text of a block; neighbours of one look become one span."""
    written = (span for span in _spans(token.children or ()) if span.text)
    alike = groupby(written, key=lambda span: replace(span, text=""))
    return tuple(replace(look, text="".join(s.text for s in run)) for look, run in alike)


def _spans(tokens: Sequence["Token"]) -> Iterator[Span]:
    depth = {"strong": 0, "em": 0, "s": 0}
    target: str | None = None
    shown = ""

    def span(text: str, *, code: bool = False) -> Span:
        # An entity can name a control or a bidirectional mark that the cleaned source had not.
        return Span(
            make_visible(text),
            bold=depth["strong"] > 0,
            italic=depth["em"] > 0,
            strike=depth["s"] > 0,
            code=code,
            href=_web(target),
        )

    for token in tokens:
        name = token.type.rpartition("_")[0]
        if name in depth:
            depth[name] += token.nesting
        elif token.type == "link_open":
            target, shown = str(token.attrs["href"]), ""
        elif token.type == "link_close":
            after = _elsewhere(target, shown)
            target = None
            yield span(after)
        elif token.type == "image":
            alt, source = _text(token), str(token.attrs["src"])
            yield replace(span(alt or source), href=_web(target) or _web(source))
            yield span(_elsewhere(source, alt or source))
            shown += alt
        else:
            text = "\n" if token.type in ("softbreak", "hardbreak") else token.content
            shown += text
            yield span(text, code=token.type == "code_inline")


def _text(image: "Token") -> str:
    return "".join(child.content or _text(child) for child in image.children or ())


def _web(target: str | None) -> str | None:
    return target if target and target.lower().startswith(_WEB) else None


def _elsewhere(target: str | None, shown: str) -> str:
    """Where a link leads that is none for us, such as a file: people want to read it."""
    return f" ({target})" if target and not _web(target) and target != shown else ""
