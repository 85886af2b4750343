"""Parses Markdown into block trees: a whole text, or one that is still being streamed.

CommonMark with tables and strikethrough. Raw HTML is text, line breaks are kept, and only `http`,
`https` and `mailto` links are links. `MarkdownStream` reparses only the open end; after `finish`
its result equals that of `render` for the whole text.
"""

import re
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from model.base.text import make_visible
from model.richtext.blocks import (
    Block,
    CodeBlock,
    CodeLine,
    Paragraph,
    Quote,
    Span,
    Table,
    Token,
)
from model.richtext.highlight import LineHighlighter, highlight_code
from model.richtext.markdown_tokens import MAX_NESTING, TopLevelBlock, build_blocks, fence_language

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_core import StateCore

MAX_PARAGRAPH: Final = 20_000
"""Characters; longer paragraphs are not parsed for emphasis and links: a million brackets alone
take 15 seconds, and an open paragraph is reparsed for each frame."""

_MAX_SIGNS: Final = 1000
"""Signs of an open end that is reparsed whenever more arrives; each costs some 12 microseconds."""
_SIGN: Final = re.compile(r"[^\w\s]|\n")
_SHARE: Final = 8

# A link definition may be inside quotes and lists; 999 characters is CommonMark's limit.
_DEFINITION: Final = re.compile(
    r"^[ \t>*+\-0-9.)]*\[(?:[^\[\]\\]|\\.){1,999}\]:", re.MULTILINE | re.DOTALL
)
_OPEN_FENCE: Final = re.compile(r"(?P<mark>`{3,}+|~{3,}+)(?P<info>[^\n]*+)\n")
_CONTINUES_PARAGRAPH: Final = re.compile(r"[ \t]*+[^\s\d#>\-+*=_`~|:<\[]")
"""A line that begins no other block and turns the lines before it into none. Others may do so."""


def parse_markdown(text: str) -> tuple[Block, ...]:
    """Parse a whole text into blocks."""
    text = _normalize(text)
    return tuple(piece.block for piece in _parse(text, definitions=_has_definition(text)))


class MarkdownStream:
    """Incremental parser for a growing text; its first `stable` blocks do not change any more.

    Appending only stores the text; it is parsed when the blocks are read, so appending often
    and reading once per frame costs one parse of the open end. The rules:

    - A top-level block is final when another follows whose first line is complete. While the
      last line has no line break, it may still join the previous block, which stays open too.
    - An open top-level code block grows by whole lines and is not reparsed; a last line that
      could become its closing fence is held back.
    - An open top-level paragraph of more than `MAX_PARAGRAPH` characters is not reparsed for
      lines that cannot end it.
    - An open end of more than `_MAX_SIGNS` signs is reparsed when it has grown by an eighth, so
      that the time for all of it stays in proportion; what came since then is shown as it is.
    - Link definitions may be anywhere, also after their links. Until `finish`, they and the
      links that use them are text; it parses the whole text again if there is one.
    """

    def __init__(self) -> None:
        self._source: list[str] = []
        self._unread: list[str] = []
        self._final: list[Block] = []
        self._has_dropped = False
        self._tail = ""
        self._open: tuple[Block, ...] = ()
        self._signs = 0  # of the tail, when it was parsed
        self._waiting = ""  # is not parsed yet
        self._grown = ""  # a long open paragraph as it is shown, with the blanks at its end
        self._item_number: int | None = None  # set while the tail begins inside a long list
        self._fence: _OpenFence | None = None

    def append(self, text: str) -> None:
        """Append text; it may end anywhere."""
        self._source.append(text)
        self._unread.append(text)

    @property
    def blocks(self) -> tuple[Block, ...]:
        """All blocks so far, the open ones last."""
        self._read()
        waiting = self._waiting.strip()
        shown = (Paragraph((Span(make_visible(waiting)),)),) if waiting else ()
        return (*self._final, *self._open, *shown)

    @property
    def stable(self) -> int:
        """The number of leading blocks that are final; only `finish` may still change them."""
        self._read()
        return len(self._final)

    def discard_stable(self) -> None:
        """Drop the final blocks from `blocks` to save memory.

        If `finish` changes one of them, it restores all.
        """
        self._read()
        self._has_dropped = self._has_dropped or bool(self._final)
        self._final = []

    def finish(self) -> int:
        """End the text; return the index of the first block that this changed.

        -1 if forgotten blocks may have changed: `blocks` are then those of the whole text.
        """
        before = self.blocks
        if self._unread:  # a carriage return that waited for its line feed
            self._unread.append("\n")
        self._read(is_whole=True)
        source = _normalize("".join(self._source))
        is_reparsed = _has_definition(source)
        if is_reparsed:
            after = parse_markdown(source)
        elif self._fence:
            after = (*self._final, self._end_fence(self._fence))
        else:
            after = self.blocks
        self._final, self._open = list(after), ()
        self._source, self._tail, self._fence = [], "", None
        return -1 if is_reparsed and self._has_dropped else _first_difference(before, after)

    def _end_fence(self, fence: "_OpenFence") -> CodeBlock:
        closed = fence.is_end(self._tail)
        if self._tail.strip(" \t") and not closed:
            fence.add(self._tail)
        return fence.complete(closed=closed)

    def _read(self, *, is_whole: bool = False) -> None:
        text = "".join(self._unread)
        self._unread = ["\r"] if text.endswith("\r") else []
        text = self._waiting + _normalize(text.removesuffix("\r"))
        self._waiting = ""
        if self._signs > _MAX_SIGNS and not is_whole:
            end = text.rfind("\n") + 1 or len(text) if self._is_due(text) else 0
            text, self._waiting = text[:end], text[end:]
        if not text:
            return
        grows = self._grows_paragraph(text)
        self._tail += text
        if grows:
            self._open = (Paragraph((Span(self._show_grown(text)),)),)
            return
        self._grown = ""
        while self._advance():
            pass
        self._signs = 0 if self._fence else len(_SIGN.findall(self._tail))
        if self._waiting and self._signs <= _MAX_SIGNS:
            self._read()

    def _is_due(self, text: str) -> bool:
        """Whether `text` is parsed now although that costs much."""
        if len(text) >= len(self._tail) // _SHARE:
            return True
        if not self._open or not isinstance(self._open[-1], Paragraph | Quote | Table):
            return False
        # These end with an empty line; once a whole line follows, they need not be parsed again.
        _, _, after = f"{self._tail[-1:]}{text}".partition("\n\n")
        return "\n" in after.lstrip()

    def _grows_paragraph(self, text: str) -> bool:
        """Whether the tail is a paragraph too long for emphasis, and `text` continues it."""
        is_paragraph = len(self._open) == 1 and isinstance(self._open[0], Paragraph)
        if not is_paragraph or len(self._tail) <= MAX_PARAGRAPH:
            return False
        paragraph = self._tail.strip()
        last_line = self._tail[self._tail.rfind("\n") + 1 :]
        return (
            len(paragraph) > MAX_PARAGRAPH
            and self._tail.count("\n", len(self._tail.rstrip())) < 2  # no empty line ended it
            and _continues_paragraph(paragraph.partition("\n")[0])  # not of a quote
            and _continues_paragraph(last_line + text)
        )

    def _show_grown(self, text: str) -> str:
        """The tail as it is shown after `text` was added; if plain, only that is looked at."""
        if self._grown and _is_plain(self._grown[-1] + text):
            self._grown += text
            return self._grown.rstrip()
        shown = make_visible(self._tail.strip())
        end = self._tail[len(self._tail.rstrip()) :]
        self._grown = shown + end if _is_plain(end) else ""
        return shown

    def _advance(self) -> bool:
        """Move final blocks out of the tail; return whether to continue with its rest."""
        if self._fence:
            return self._advance_fence(self._fence)
        parsed = _parse(self._tail, definitions=False, item_number=self._item_number)
        if not parsed:
            return False
        last = parsed[-1]
        last_source = _from_line(self._tail, last.first_line)
        fence = _OPEN_FENCE.match(last_source) if _is_open(last.block) else None
        if fence and "|" in fence["info"] and "\n" not in last_source[fence.end() :]:
            fence = None  # Its next line may make it the header of a table.
        final = len(parsed) - (1 if fence or self._tail.endswith("\n") else 2)
        if final > 0:
            self._final += (each.block for each in parsed[:final])
            self._tail = _from_line(self._tail, parsed[final].first_line)
            self._item_number = parsed[final - 1].next_item
        self._open = tuple(each.block for each in parsed[max(final, 0) :])
        if fence is None:
            return False
        self._fence = _OpenFence(fence["mark"], fence_language(fence["info"]))
        self._tail = last_source[fence.end() :]
        return True

    def _advance_fence(self, fence: "_OpenFence") -> bool:
        start = 0
        while (end := self._tail.find("\n", start)) >= 0:
            line, start = self._tail[start:end], end + 1
            if fence.is_end(line):
                self._tail = self._tail[start:]
                self._final.append(fence.complete(closed=True))
                self._open, self._fence, self._item_number = (), None, None
                return True
            fence.add(line)
        self._tail = self._tail[start:]
        self._open = (fence.partial(self._tail),)
        return False


def _is_plain(text: str) -> bool:
    """Whether the text is shown as it is, whatever is beside it."""
    return text.isascii() and make_visible(text) == text


class _OpenFence:
    """A top-level code block whose closing fence has not arrived."""

    def __init__(self, mark: str, language: str) -> None:
        self._language = language
        self._end = re.compile(rf" {{0,3}}{mark[0]}{{{len(mark)},}}[ \t]*")
        self._may_end = re.compile(rf" {{0,3}}{mark[0]}*[ \t]*")
        self._highlighter = LineHighlighter(language)
        self._source: list[str] = []
        self._lines: list[CodeLine] = []

    def is_end(self, line: str) -> bool:
        return self._end.fullmatch(line) is not None

    def add(self, line: str) -> None:
        self._source.append(line)
        self._lines.append(self._highlighter.highlight(line))

    def partial(self, last: str) -> CodeBlock:
        """The block with an incomplete last line, unless that may become the closing fence."""
        shown = () if self._may_end.fullmatch(last) else ((Token(last),),)
        return CodeBlock(self._language, (*self._lines, *shown), closed=False)

    def complete(self, *, closed: bool) -> CodeBlock:
        code = "".join(f"{line}\n" for line in self._source)
        return CodeBlock(self._language, highlight_code(code, self._language), closed)


def _parse(text: str, *, definitions: bool, item_number: int | None = None) -> list[TopLevelBlock]:
    return build_blocks(_parser(definitions).parse(text), text.split("\n"), item_number)


@lru_cache(maxsize=2)
def _parser(definitions: bool) -> "MarkdownIt":
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": MAX_NESTING})
    parser.enable(["table", "strikethrough"])
    parser.core.ruler.at("inline", _parse_inline)
    return parser if definitions else parser.disable("reference")


def _parse_inline(state: "StateCore") -> None:
    """The parser's own rule, except that huge (generated) paragraphs stay plain text."""
    for token in state.tokens:
        if token.type != "inline":
            continue
        token.children = []
        if len(token.content) <= MAX_PARAGRAPH:
            state.md.inline.parse(token.content, state.md, state.env, token.children)
        else:
            token.children.append(replace(token, type="text", children=None))


def _normalize(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")


def _has_definition(text: str) -> bool:
    return "]:" in text and _DEFINITION.search(text) is not None


def _continues_paragraph(text: str) -> bool:
    """Whether these lines, the last of which may be incomplete, can only continue a paragraph."""
    *lines, last = text.split("\n")
    return all(map(_CONTINUES_PARAGRAPH.match, lines)) and (
        not last or _CONTINUES_PARAGRAPH.match(last) is not None
    )


def _is_open(block: Block) -> bool:
    return isinstance(block, CodeBlock) and not block.closed


def _from_line(text: str, line: int) -> str:
    return text.split("\n", line)[line]


def _first_difference(before: tuple[Block, ...], after: tuple[Block, ...]) -> int:
    pairs = enumerate(zip(before, after, strict=False))
    return next((index for index, (a, b) in pairs if a != b), min(len(before), len(after)))
