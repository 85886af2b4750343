"""Markdown while it is being written: final blocks keep their rows, the open end is made anew."""

from collections.abc import Sequence

from rich.segment import Segment
from textual.strip import Strip

from model.blocks import Block, CodeBlock, ListBlock
from model.markdown import MarkdownStream
from tui.colours import Palette
from tui.line_parts import strip_of
from tui.render import render_block, render_code_lines
from tui.wrap import Line


class GrowingText:
    """The rows of a text that mostly grows at its end, `indent` cells from the left."""

    def __init__(self, indent: int) -> None:
        self._indent = indent
        self._text = ""
        self._stream = MarkdownStream()
        self._look: tuple[int, Palette] | None = None
        self._done: list[Strip] = []
        self._done_blocks = 0
        self._code: list[Strip] = []
        self._code_lines = 0

    def rows(self, text: str, width: int, palette: Palette, *, ended: bool = False) -> list[Strip]:
        """All rows of the text, `width` cells wide; those of final blocks are the same as before.

        After `ended` the text can only be replaced, not added to.
        """
        if not text.startswith(self._text):
            self._text, self._stream, self._look = "", MarkdownStream(), None
        self._stream.append(text[len(self._text) :])
        self._text = text
        if ended and self._stream.finish() < self._done_blocks:
            self._look = None
        if self._look != (width, palette):
            self._look = (width, palette)
            self._done, self._done_blocks = [], 0
            self._code, self._code_lines = [], 0
        blocks, stable = self._stream.blocks, self._stream.stable
        if stable > self._done_blocks:
            self._done += self._rows_of(blocks, self._done_blocks, stable)
            self._done_blocks = stable
            self._code, self._code_lines = [], 0
        return self._done + self._open_rows(blocks, stable)

    def _open_rows(self, blocks: Sequence[Block], stable: int) -> list[Strip]:
        last = blocks[-1] if len(blocks) == stable + 1 else None
        if not isinstance(last, CodeBlock) or len(last.lines) < 2:
            return self._rows_of(blocks, stable, len(blocks))
        # A long open code block grows line by line: all but its last line are as they will stay
        # until it is closed. Measured: drawing 500 lines anew for each delta takes 20 ms.
        width, palette = self._known_look()
        if not self._code:
            opening = CodeBlock(last.language, (), closed=False)
            self._code = self._rows_of((*blocks[:stable], opening), stable, stable + 1)
        complete = last.lines[self._code_lines : -1]
        room = width - self._indent - 1
        self._code += self._strips(render_code_lines(complete, room, palette))
        self._code_lines = len(last.lines) - 1
        return self._code + self._strips(render_code_lines(last.lines[-1:], room, palette))

    def _rows_of(self, blocks: Sequence[Block], first: int, end: int) -> list[Strip]:
        width, palette = self._known_look()
        lines: list[Line] = []
        for at in range(first, end):
            block = blocks[at]
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
