"""Draws the rows of a diff; only visible ones are highlighted and drawn."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from model.richtext.blocks import CodeLine
from model.richtext.conflict_parts import ConflictPart
from model.richtext.diff_rows import DiffRow
from model.richtext.diff_text import DiffText, FileNote, HunkHeading
from themes.loader import Kind
from tui.draw.colors import DiffStyles, Palette
from tui.draw.diff import row_pieces
from tui.draw.line_parts import to_strip
from tui.draw.wrap import Line, expand_tabs
from tui.terminal import screen_reader

_BLOCK: Final = 100
"""Rows highlighted together: enough context for a lexer, few enough to be fast."""
_SIGN_WORDS: Final = {"+": "added", "-": "removed", " ": ""}
"""The signs of rows in screen-reader mode."""


class Mark(NamedTuple):
    """The decoration of a row."""

    sign: Segment
    """The first column."""
    is_marked: bool = False
    """Whether the line is marked, which its numbers show."""


class Painter:
    """Draws the rows of one file's diff in one palette."""

    def __init__(
        self,
        text: DiffText,
        path: str,
        palette: Palette,
        conflict: Mapping[int, ConflictPart] | None = None,
    ) -> None:
        """`conflict`: the rows that belong to a side of a conflict."""
        self.text = text
        self._conflict = conflict or {}
        self.palette = palette
        self._path = path
        self._block = lru_cache(maxsize=64)(self._highlight_block)
        numbers = (
            max(row.old or 0, row.new or 0) for row in text.rows[-2000:] if isinstance(row, DiffRow)
        )
        self.digits = max(3, len(str(max(numbers, default=0))))

    def unified(self, at: int, width: int, left: int, mark: Mark) -> Strip:
        """Draw a row over the whole width; `left`: columns scrolled out to the left."""
        row = self.text.rows[at]
        if not isinstance(row, DiffRow):
            return self._draw_note(row, width, mark.sign)
        if (part := self._conflict.get(at)) is not None and part.label is not None:
            return self._draw_marker(part, width, mark.sign)
        numbers = f"{row.old or '':>{self.digits}} {row.new or '':>{self.digits}} "
        if screen_reader.is_enabled():
            numbers = f"{row.new or row.old} "
        return self._draw_row(at, row, numbers, width, left, mark)

    def halves(self, pair: tuple[int, int], width: int, left: int, mark: Mark) -> Strip:
        """Draw the old row and the new one side by side."""
        one, other = pair
        row = self.text.rows[max(pair)]
        if not isinstance(row, DiffRow):
            return self._draw_note(row, width, mark.sign)
        if (part := self._conflict.get(max(pair))) is not None and part.label is not None:
            return self._draw_marker(part, width, mark.sign)
        half = (width - 1) // 2
        inner = Mark(Segment(""), mark.is_marked)
        column = Segment(self.palette.glyphs.vertical, self.palette.border)
        between = to_strip([column], 1, self._kind)
        return Strip.join(
            [
                self._half(one, half, left, mark, is_old=True),
                between,
                self._half(other, width - half - 1, left, inner, is_old=False),
            ]
        )

    def _half(self, at: int, width: int, left: int, mark: Mark, *, is_old: bool) -> Strip:
        row = self.text.rows[at] if at >= 0 else None
        if not isinstance(row, DiffRow):
            return to_strip([mark.sign, Segment(" " * width, self.palette.code)], width, self._kind)
        number = row.old if is_old else row.new
        numbers = f"{number or '':>{self.digits}} "
        return self._draw_row(at, row, numbers, width, left, mark)

    def _draw_row(
        self, at: int, row: DiffRow, numbers: str, width: int, left: int, mark: Mark
    ) -> Strip:
        side = self._side(row)
        ground, sign = (
            (side.background, side.sign) if side else (self.palette.code, self.palette.code)
        )
        sign_text = _SIGN_WORDS[row.sign] if screen_reader.is_enabled() else row.sign
        if (part := self._conflict.get(at)) is not None:
            sign = sign + self._conflict_tone(part)
            sign_text = part.side if screen_reader.is_enabled() else self.palette.glyphs.quote
        faint = self.palette.code_faint + side.background if side else self.palette.code_faint
        faint += Style(reverse=mark.is_marked or None)
        head: Line = [
            mark.sign,
            Segment(numbers, faint),
            Segment(f"{sign_text} ", sign),
        ]
        tokens = self._block(at // _BLOCK)[at % _BLOCK]
        pieces = expand_tabs(
            list(row_pieces(row, tokens, self.text.changed_ranges(at), self.palette))
        )
        gutter = to_strip(head, sum(segment.cell_length for segment in head), self._kind)
        text_width = max(0, width - gutter.cell_length)
        body = Strip([Segment(text, style) for text, style in pieces])
        if left:
            body = body.crop(left, left + text_width)
        rest = to_strip([*body, Segment(" " * text_width, ground)], text_width, self._kind)
        return Strip.join([gutter, rest])

    def _draw_note(self, row: HunkHeading | FileNote, width: int, mark: Segment) -> Strip:
        if isinstance(row, FileNote):
            return to_strip([mark, Segment(f" {row.text}", self.palette.muted)], width, self._kind)
        across = self.palette.glyphs.horizontal
        line = [mark, Segment(f"{across}{across} {row.text} ", self.palette.accent)]
        rest = Segment(across * width, self.palette.border)
        return to_strip([*line, rest], width, self._kind)

    def _draw_marker(self, part: ConflictPart, width: int, mark: Segment) -> Strip:
        """Draw a marker as the heading of its side."""
        across = self.palette.glyphs.horizontal
        tone = self._conflict_tone(part)
        if part.side == "end":
            rest = Segment(across * width, self.palette.border)
            return to_strip([mark, Segment(" " * (2 * self.digits + 2)), rest], width, self._kind)
        heading = " · ".join(filter(None, (part.side, part.label)))
        start = Segment(" " * (2 * self.digits + 2))
        line = [mark, start, Segment(f"{across}{across} {heading} ", tone + Style(bold=True))]
        return to_strip([*line, Segment(across * width, tone)], width, self._kind)

    def _conflict_tone(self, part: ConflictPart) -> Style:
        tones = {"ours": self.palette.info, "theirs": self.palette.success}
        return tones.get(part.side, self.palette.muted)

    def _highlight_block(self, block: int) -> Sequence[CodeLine]:
        return self.text.highlight(block * _BLOCK, (block + 1) * _BLOCK, self._path)

    def _side(self, row: DiffRow) -> DiffStyles | None:
        return {"+": self.palette.inserted, "-": self.palette.deleted}.get(row.sign)

    @property
    def _kind(self) -> Kind:
        return self.palette.kind
