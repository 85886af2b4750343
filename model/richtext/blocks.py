"""Block trees: what Markdown and code become before anybody draws them, and their JSON form.

The terminal draws lines from them and the page builds elements from them; neither parses a string.
"""

from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from themes.tokens import TokenClass

Align = Literal["left", "center", "right"]

LIST_ITEMS: Final = 50
"""A list of the top level longer than this goes on in another block, so that its head is final."""


class Token(NamedTuple):
    """A piece of a line of code and its class; plain text has none."""

    text: str
    kind: TokenClass | None = None


CodeLine = tuple[Token, ...]


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of running text of one look; `\\n` in it is a line break."""

    text: str
    bold: bool = False
    italic: bool = False
    strike: bool = False
    code: bool = False
    href: str | None = None
    """Where the text leads; only ever `http:`, `https:` or `mailto:`."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Running text."""

    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of level 1 to 6."""

    level: int
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """Code, line by line; `closed` is false while its end has not come."""

    language: str
    lines: tuple[CodeLine, ...]
    closed: bool = True


@dataclass(frozen=True, slots=True)
class ListBlock:
    """A list, or the next part of a long one."""

    ordered: bool
    start: int
    """The number of the first item; 1 where the list has no numbers."""
    items: tuple[tuple["Block", ...], ...]
    tight: bool = True
    """Whether the source has no blank line in or between the items."""
    continues: bool = False
    """Whether the block before is the same list."""


@dataclass(frozen=True, slots=True)
class Quote:
    """Blocks that somebody else said."""

    blocks: tuple["Block", ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table; every row has as many cells as the header."""

    header: tuple[tuple[Span, ...], ...]
    rows: tuple[tuple[tuple[Span, ...], ...], ...]
    aligns: tuple[Align, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """A line across."""


Block = Paragraph | Heading | CodeBlock | ListBlock | Quote | Table | Rule


def as_json(block: Block) -> dict[str, Any]:
    """The block as JSON: a `type` and its fields; looks that are off are left out of spans.

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
    looks = {
        "bold": span.bold,
        "italic": span.italic,
        "strike": span.strike,
        "code": span.code,
        "href": span.href,
    }
    return {"text": span.text} | {name: value for name, value in looks.items() if value}
