"""Markdown while it is being written: final blocks keep their rows, the open end is made anew."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rich.segment import Segment
from textual.strip import Strip

from model.richtext.blocks import Block, CodeBlock, ListBlock
from model.richtext.markdown import MarkdownStream
from tui.draw.colors import Palette
from tui.draw.line_parts import strip_of
from tui.draw.markdown import render_block, render_code_lines
from tui.draw.wrap import Line
from tui.transcript.packed_rows import Joined, Packed

_PIECE: Final = 1 << 16
"""Characters that are read at once: the blocks of a text take sixty times its room."""


class GrowingText:
    """The rows of a text that mostly grows at its end, `indent` cells from the left."""

    def __init__(self, indent: int) -> None:
        self._indent = indent
        self._look: tuple[int, Palette] | None = None
        self._begin()

    def _begin(self) -> None:
        self._text, self._stream = "", MarkdownStream()
        self._done, self._done_blocks = Packed(), 0
        self._code, self._code_lines = Packed(), 0

    def rows(
        self, text: str, width: int, palette: Palette, *, ended: bool = False
    ) -> Sequence[Strip]:
        """All rows of the text, `width` cells wide; those of final blocks are the same as before.

        After `ended` the text can only be replaced, not added to.
        """
        if not text.startswith(self._text) or self._look != (width, palette):
            self._begin()
        self._look = width, palette
        at, size = len(self._text), _PIECE
        while at < len(text):
            self._stream.append(text[at : at + size])
            at += size
            # What stays open is read again with the next piece.
            size = _PIECE if self._take_final() else 2 * size
        self._text = text
        if ended:
            if self._stream.finish() < 0:
                self._done, self._done_blocks = Packed(), 0
            self._take_final()
        return Joined((self._done, *self._open_rows(self._stream.blocks)))

    def _take_final(self) -> bool:
        """Draw what will not change any more, if anything; nothing but its rows is kept of it."""
        count = self._stream.stable
        if not count:
            return False
        self._done += self._rows_of(self._stream.blocks[:count])
        self._done_blocks += count
        self._stream.discard_stable()
        self._code, self._code_lines = Packed(), 0
        return True

    def _open_rows(self, blocks: Sequence[Block]) -> Iterator[Sequence[Strip]]:
        last = blocks[0] if len(blocks) == 1 else None
        if not isinstance(last, CodeBlock) or len(last.lines) < 2:
            yield self._rows_of(blocks)
            return
        # A long open code block grows line by line: all but its last line are as they will stay
        # until it is closed. Measured: drawing 500 lines anew for each delta takes 20 ms.
        width, palette = self._known_look()
        if not self._code:
            self._code += self._rows_of([CodeBlock(last.language, (), closed=False)])
        complete = last.lines[self._code_lines : -1]
        room = width - self._indent - 1
        self._code += self._strips(render_code_lines(complete, room, palette))
        self._code_lines = len(last.lines) - 1
        yield self._code
        yield self._strips(render_code_lines(last.lines[-1:], room, palette))

    def _rows_of(self, blocks: Iterable[Block]) -> list[Strip]:
        """The rows of blocks that follow on the final ones."""
        width, palette = self._known_look()
        lines: list[Line] = []
        for at, block in enumerate(blocks, self._done_blocks):
            if at and not (isinstance(block, ListBlock) and block.continues):
                lines.append([])
            lines += render_block(block, width - self._indent - 1, palette)
        return self._strips(lines)

    def _strips(self, lines: Sequence[Line]) -> list[Strip]:
        width, palette = self._known_look()
        margin = Segment(" " * self._indent)
        return [strip_of([margin, *line], width, palette.kind) for line in lines]

    def _known_look(self) -> tuple[int, Palette]:
        assert self._look is not None
        return self._look
