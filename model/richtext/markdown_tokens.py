"""Converts markdown-it tokens to block trees and records the source line of top-level blocks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Final, cast

from model.base.text import make_visible
from model.richtext.blocks import (
    MAX_LIST_ITEMS,
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
"""Deeper blocks are shown as source text: the parser would drop their content."""

_WEB_SCHEMES: Final = ("http://", "https://", "mailto:")


@dataclass(frozen=True, slots=True)
class TopLevelBlock:
    """A top-level block, its first line, and the next item's number if a long list was split."""

    block: Block
    first_line: int
    next_item: int | None = None


def build_blocks(
    tokens: Sequence["Token"], lines: Sequence[str], item_number: int | None = None
) -> list[TopLevelBlock]:
    """Build the top-level blocks; with `item_number` the text begins at that item of a list."""
    blocks: list[TopLevelBlock] = []
    for part in _children(tokens):
        first, end = part[0].map or (0, 0)
        if part[0].type.endswith("_list_open"):
            blocks += _list_blocks(part, lines, item_number)
        elif _is_too_deep(part):
            blocks.append(TopLevelBlock(_source_text(lines[first:end]), first))
        else:
            blocks.append(TopLevelBlock(_block(part, lines), first))
        item_number = None
    return blocks


def fence_language(info: str) -> str:
    """The language in the info string of a fence, as written there, or empty."""
    words = info.split()
    return words[0].strip("{}.") if words else ""


def _children(tokens: Sequence["Token"]) -> Iterator[Sequence["Token"]]:
    """Split the tokens into runs of one block each, at the level of the first."""
    start = depth = 0
    for index, token in enumerate(tokens):
        depth += token.nesting
        if depth == 0:
            yield tokens[start : index + 1]
            start = index + 1


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
    """An unclosed fence has one more line of source than of code, a closed one two."""
    first, end = fence.map or (0, 0)
    code_lines = fence.content.removesuffix("\n").count("\n") + 1 if fence.content else 0
    return end - first - code_lines == 2 and fence.markup in lines[end - 1]


def _list_blocks(
    tokens: Sequence["Token"], lines: Sequence[str], item_number: int | None
) -> Iterator[TopLevelBlock]:
    items = list(_children(tokens[1:-1]))
    number = _number(tokens[0]) if item_number is None else item_number
    continues = item_number is not None
    for start in range(0, len(items), MAX_LIST_ITEMS):
        part = items[start : start + MAX_LIST_ITEMS]
        first_line, end_line = _first_line(part[0]), (part[-1][0].map or (0, 0))[1]
        block: Block
        if any(map(_is_too_deep, part)):
            block = _source_text(lines[first_line:end_line])
        else:
            block = _list(tokens, part, lines, number + start)
            block = replace(block, continues=continues or start > 0)
        more = start + MAX_LIST_ITEMS < len(items)
        yield TopLevelBlock(block, first_line, number + start + MAX_LIST_ITEMS if more else None)


def _list(
    tokens: Sequence["Token"],
    items: list[Sequence["Token"]],
    lines: Sequence[str],
    number: int,
) -> ListBlock:
    contents = [list(_children(item[1:-1])) for item in items]
    ordered = tokens[0].type == "ordered_list_open"
    neighbors = [*pairwise(items), *(pair for blocks in contents for pair in pairwise(blocks))]
    return ListBlock(
        ordered=ordered,
        start=number if ordered else 1,
        items=tuple(tuple(_block(part, lines) for part in blocks) for blocks in contents),
        tight=not any(_is_blank(lines[_first_line(after) - 1]) for _, after in neighbors),
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
    for index, token in enumerate(tokens):
        if token.type == "tr_open":
            rows.append([])
        elif token.type in ("th_open", "td_open"):
            rows[-1].append(_inline(tokens[index + 1]))
            if token.type == "th_open":
                style = str(token.attrs.get("style", "text-align:left"))
                aligns.append(cast(Align, style.removeprefix("text-align:")))
    header, *body = (tuple(row) for row in rows)
    return Table(header, tuple(body), tuple(aligns))


def _is_too_deep(tokens: Sequence["Token"]) -> bool:
    return any(token.level >= MAX_NESTING - 1 for token in tokens)


def _source_text(lines: Sequence[str]) -> Paragraph:
    return Paragraph((Span("\n".join(lines).rstrip("\n")),))


def _inline(token: "Token") -> tuple[Span, ...]:
    """The spans of a block; adjacent spans of the same style are merged."""
    spans = (span for span in _spans(token.children or ()) if span.text)
    runs = groupby(spans, key=lambda span: replace(span, text=""))
    return tuple(replace(style, text="".join(s.text for s in run)) for style, run in runs)


def _spans(tokens: Sequence["Token"]) -> Iterator[Span]:
    depth = {"strong": 0, "em": 0, "s": 0}
    target: str | None = None
    shown = ""

    def span(text: str, *, code: bool = False) -> Span:
        # An entity can produce control or bidirectional characters that the cleaned source lacked.
        return Span(
            make_visible(text),
            bold=depth["strong"] > 0,
            italic=depth["em"] > 0,
            strike=depth["s"] > 0,
            code=code,
            href=_web_url(target),
        )

    for token in tokens:
        name = token.type.rpartition("_")[0]
        if name in depth:
            depth[name] += token.nesting
        elif token.type == "link_open":
            target, shown = str(token.attrs["href"]), ""
        elif token.type == "link_close":
            suffix = _target_suffix(target, shown)
            target = None
            yield span(suffix)
        elif token.type == "image":
            alt, source = _alt_text(token), str(token.attrs["src"])
            yield replace(span(alt or source), href=_web_url(target) or _web_url(source))
            yield span(_target_suffix(source, alt or source))
            shown += alt
        else:
            text = "\n" if token.type in ("softbreak", "hardbreak") else token.content
            shown += text
            yield span(text, code=token.type == "code_inline")


def _alt_text(image: "Token") -> str:
    return "".join(child.content or _alt_text(child) for child in image.children or ())


def _web_url(target: str | None) -> str | None:
    return target if target and target.lower().startswith(_WEB_SCHEMES) else None


def _target_suffix(target: str | None, shown: str) -> str:
    """The target of a link that we do not open, such as a file, to be shown after its text."""
    return f" ({target})" if target and not _web_url(target) and target != shown else ""
