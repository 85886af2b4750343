"""Block trees: the parsed form of Markdown and code, and its JSON representation.

The terminal draws lines from them and the page builds elements from them; neither parses text.
"""

from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from themes.tokens import TokenClass

Align = Literal["left", "center", "right"]

MAX_LIST_ITEMS: Final = 50
"""Longer top-level lists continue in another block, so that their first items become final."""


class Token(NamedTuple):
    """A piece of a line of code and its token class; plain text has none."""

    text: str
    kind: TokenClass | None = None


CodeLine = tuple[Token, ...]


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of inline text with one style; `\\n` in it is a line break."""

    text: str
    bold: bool = False
    italic: bool = False
    strike: bool = False
    code: bool = False
    href: str | None = None
    """The link target; always `http:`, `https:` or `mailto:`."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Inline text."""

    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of level 1 to 6."""

    level: int
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """Code, line by line; `closed` is false until its end has arrived."""

    language: str
    lines: tuple[CodeLine, ...]
    closed: bool = True


@dataclass(frozen=True, slots=True)
class ListBlock:
    """A list, or the next part of a long list."""

    ordered: bool
    start: int
    """The number of the first item; 1 for unordered lists."""
    items: tuple[tuple["Block", ...], ...]
    tight: bool = True
    """Whether the source has no blank lines within or between the items."""
    continues: bool = False
    """Whether it continues the list in the previous block."""


@dataclass(frozen=True, slots=True)
class Quote:
    """A block quote."""

    blocks: tuple["Block", ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table; every row has the same number of cells as the header."""

    header: tuple[tuple[Span, ...], ...]
    rows: tuple[tuple[tuple[Span, ...], ...], ...]
    aligns: tuple[Align, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """A thematic break (horizontal rule)."""


Block = Paragraph | Heading | CodeBlock | ListBlock | Quote | Table | Rule


def as_json(block: Block) -> dict[str, Any]:
    """Return the block as JSON: a `type` and its fields; unset styles are omitted from spans.

    A line of code is a list of `[text, class]`, or `[text]` for plain text.
    """
    match block:
        case Paragraph(spans):
            return {"type": "paragraph", "spans": _spans(spans)}
        case Heading(level, spans):
            return {"type": "heading", "level": level, "spans": _spans(spans)}
        case CodeBlock(language, lines, closed):
            tokens = [[[text, kind] if kind else [text] for text, kind in line] for line in lines]
            return {"type": "code", "language": language, "lines": tokens, "closed": closed}
        case ListBlock():
            return {
                "type": "list",
                "ordered": block.ordered,
                "start": block.start,
                "tight": block.tight,
                "continues": block.continues,
                "items": [[as_json(child) for child in item] for item in block.items],
            }
        case Quote(blocks):
            return {"type": "quote", "blocks": [as_json(child) for child in blocks]}
        case Table(header, rows, aligns):
            return {
                "type": "table",
                "header": [_spans(cell) for cell in header],
                "rows": [[_spans(cell) for cell in row] for row in rows],
                "aligns": list(aligns),
            }
        case Rule():
            return {"type": "rule"}


def _spans(spans: tuple[Span, ...]) -> list[dict[str, Any]]:
    return [_span(span) for span in spans]


def _span(span: Span) -> dict[str, Any]:
    styles = {
        "bold": span.bold,
        "italic": span.italic,
        "strike": span.strike,
        "code": span.code,
        "href": span.href,
    }
    return {"text": span.text} | {name: value for name, value in styles.items() if value}
