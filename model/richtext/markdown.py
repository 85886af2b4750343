"""Markdown to block trees, whole or while it is still being written.

CommonMark with tables and strikethrough. Raw HTML is text, line breaks are kept as written, and
only links to `http`, `https` and `mailto` are links. `MarkdownStream` parses the open end again and
nothing else; what it gives after `finish` is what `render` gives for the whole text.
"""

import re
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from model.richtext.blocks import Block, CodeBlock, CodeLine, Token
from model.richtext.highlight import LineHighlighter, highlight_code
from model.richtext.markdown_tokens import MAX_NESTING, Piece, fence_language, pieces

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_core import StateCore

MAX_PARAGRAPH: Final = 20_000
"""Characters, beyond which no emphasis and no links are looked for: a million brackets alone take a
quarter of a minute, and an open paragraph is read anew for each frame."""

# A link definition may stand inside quotes and lists; at most 999 characters is CommonMark's limit.
_DEFINITION: Final = re.compile(
    r"^[ \t>*+\-0-9.)]*\[(?:[^\[\]\\]|\\.){1,999}\]:", re.MULTILINE | re.DOTALL
)
_OPEN_FENCE: Final = re.compile(r"(?P<mark>`{3,}+|~{3,}+)(?P<info>[^\n]*+)\n")


def render(text: str) -> tuple[Block, ...]:
    """The blocks of a whole text."""
    text = _normal(text)
    return tuple(piece.block for piece in _parse(text, definitions=_has_definition(text)))


class MarkdownStream:
    """A text that grows: its blocks, of which the first `stable` will not change any more.

    Appending only stores the text; it is parsed when the blocks are read, so appending often
    and reading once a frame costs one parse of the open end. The rules:

    - A top-level block is final when another follows whose first line is complete. While the
      last line has no line break it may still join the block before, which stays open too.
    - An open code block of the top level grows by whole lines and is not parsed again; a last
      line that could become its closing mark is held back.
    - Link definitions may stand anywhere, also after their links. Until `finish` they and the
      links that use them are text; it renders once more if there is one.
    """

    def __init__(self) -> None:
        self._source: list[str] = []
        self._unread: list[str] = []
        self._done: list[Block] = []
        self._has_forgotten = False
        self._tail = ""
        self._open: tuple[Block, ...] = ()
        self._item_number: int | None = None  # set while the tail begins inside a long list
        self._fence: _OpenFence | None = None

    def append(self, text: str) -> None:
        """Add what came next; it may end anywhere."""
        self._source.append(text)
        self._unread.append(text)

    @property
    def blocks(self) -> tuple[Block, ...]:
        """All blocks so far, the open ones last."""
        self._read()
        return (*self._done, *self._open)

    @property
    def stable(self) -> int:
        """How many leading blocks are final, as of now; `finish` alone may still change them."""
        self._read()
        return len(self._done)

    def forget_stable(self) -> None:
        """Leave out of `blocks` from now on those that are final; they take much room.

        Where `finish` changes one of them, it brings all back.
        """
        self._read()
        self._has_forgotten = self._has_forgotten or bool(self._done)
        self._done = []

    def finish(self) -> int:
        """Take the end of the text as it is; the index of the first block that this changed.

        -1 if what was forgotten may have changed: `blocks` are those of the whole text then.
        """
        before = self.blocks
        if self._unread:  # a carriage return that waited for its line feed
            self._unread.append("\n")
        self._read()
        source = _normal("".join(self._source))
        is_anew = _has_definition(source)
        if is_anew:
            after = render(source)
        elif self._fence:
            after = (*self._done, self._end_fence(self._fence))
        else:
            after = self.blocks
        self._done, self._open = list(after), ()
        self._source, self._tail, self._fence = [], "", None
        return -1 if is_anew and self._has_forgotten else _first_difference(before, after)

    def _end_fence(self, fence: "_OpenFence") -> CodeBlock:
        closed = fence.is_end(self._tail)
        if self._tail.strip(" \t") and not closed:
            fence.add(self._tail)
        return fence.whole(closed=closed)

    def _read(self) -> None:
        text = "".join(self._unread)
        self._unread = ["\r"] if text.endswith("\r") else []
        text = _normal(text.removesuffix("\r"))
        if not text:
            return
        self._tail += text
        while self._advance():
            pass

    def _advance(self) -> bool:
        """Move what is final out of the tail; whether to go on with what is left of it."""
        if self._fence:
            return self._advance_fence(self._fence)
        found = _parse(self._tail, definitions=False, item_number=self._item_number)
        if not found:
            return False
        last = found[-1]
        begun = _from_line(self._tail, last.first_line)
        opened = _OPEN_FENCE.match(begun) if _is_open(last.block) else None
        if opened and "|" in opened["info"] and "\n" not in begun[opened.end() :]:
            opened = None  # Its next line may make it the heading of a table.
        final = len(found) - (1 if opened or self._tail.endswith("\n") else 2)
        if final > 0:
            self._done += (piece.block for piece in found[:final])
            self._tail = _from_line(self._tail, found[final].first_line)
            self._item_number = found[final - 1].next_item
        self._open = tuple(piece.block for piece in found[max(final, 0) :])
        if opened is None:
            return False
        self._fence = _OpenFence(opened["mark"], fence_language(opened["info"]))
        self._tail = begun[opened.end() :]
        return True

    def _advance_fence(self, fence: "_OpenFence") -> bool:
        at = 0
        while (end := self._tail.find("\n", at)) >= 0:
            line, at = self._tail[at:end], end + 1
            if fence.is_end(line):
                self._tail = self._tail[at:]
                self._done.append(fence.whole(closed=True))
                self._open, self._fence, self._item_number = (), None, None
                return True
            fence.add(line)
        self._tail = self._tail[at:]
        self._open = (fence.so_far(self._tail),)
        return False


class _OpenFence:
    """A code block of the top level whose closing mark has not come."""

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
        self._lines.append(self._highlighter.line(line))

    def so_far(self, last: str) -> CodeBlock:
        """The block with a last line that is not complete, unless that may become the end."""
        shown = () if self._may_end.fullmatch(last) else ((Token(last),),)
        return CodeBlock(self._language, (*self._lines, *shown), closed=False)

    def whole(self, *, closed: bool) -> CodeBlock:
        code = "".join(f"{line}\n" for line in self._source)
        return CodeBlock(self._language, highlight_code(code, self._language), closed)


def _parse(text: str, *, definitions: bool, item_number: int | None = None) -> list[Piece]:
    return pieces(_parser(definitions).parse(text), text.split("\n"), item_number)


@lru_cache(maxsize=2)
def _parser(definitions: bool) -> "MarkdownIt":
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": MAX_NESTING})
    parser.enable(["table", "strikethrough"])
    parser.core.ruler.at("inline", _read_inline)
    return parser if definitions else parser.disable("reference")


def _read_inline(state: "StateCore") -> None:
    """As the parser's own rule, but for what no person wrote: that is shown as it stands."""
    for token in state.tokens:
        if token.type != "inline":
            continue
        token.children = []
        if len(token.content) <= MAX_PARAGRAPH:
            state.md.inline.parse(token.content, state.md, state.env, token.children)
        else:
            token.children.append(replace(token, type="text", children=None))


def _normal(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")


def _has_definition(text: str) -> bool:
    return "]:" in text and _DEFINITION.search(text) is not None


def _is_open(block: Block) -> bool:
    return isinstance(block, CodeBlock) and not block.closed


def _from_line(text: str, line: int) -> str:
    return text.split("\n", line)[line]


def _first_difference(before: tuple[Block, ...], after: tuple[Block, ...]) -> int:
    same = (one == other for one, other in zip(before, after, strict=False))
    return next((at for at, equal in enumerate(same) if not equal), min(len(before), len(after)))
