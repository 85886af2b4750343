"""One file's diff, drawn by line: invisible rows cost nothing."""

from collections.abc import Collection
from typing import ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from model.richtext.diff_rows import DiffRow
from model.richtext.diff_text import DiffText, Row
from tui.diff.lines import Mark, Painter
from tui.draw.colors import Palette
from tui.draw.line_parts import indent, to_strip
from tui.draw.wrap import MIN_WIDTH, wrap
from tui.terminal import screen_reader

_SCROLL_STEP: Final = 12
"""Columns for each press of left or right."""
_CACHE_SIZE: Final = 1_000
"""Most drawn rows that are cached."""


class DiffView(ScrollView, can_focus=True):
    """Rows with a cursor, in one column or two."""

    DEFAULT_CSS = "DiffView { overflow-x: hidden; overflow-y: scroll; scrollbar-size-vertical: 1; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", show=False),
        Binding("down", "move(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown,space", "page(1)", show=False),
        Binding("home", "edge(-1)", show=False),
        Binding("end", "edge(1)", show=False),
        Binding("shift+up", "extend(-1)", show=False),
        Binding("shift+down", "extend(1)", show=False),
        Binding("shift+pageup", "extend(-10)", show=False),
        Binding("shift+pagedown", "extend(10)", show=False),
        Binding("left", "sideways(-1)", show=False),
        Binding("right", "sideways(1)", show=False),
    ]

    ALLOW_SELECT = False  # dragging the mouse marks lines to comment on

    class Marked(Message):
        """Posted when the marked lines have changed."""

    def __init__(self, palette: Palette) -> None:
        super().__init__(id="diff")
        self.text = DiffText()
        self.here = 0
        """The index of the cursor among the drawn rows."""
        self.is_split = False
        self.placeholder = ""
        """The text shown while there are no rows."""
        self.commented: Collection[int] = ()
        """The indexes of rows with a comment, in the text."""
        self.marked_from: int | None = None
        """The drawn row where the marked lines begin; they end at the cursor."""
        self._is_marking = False
        """Whether every movement marks, not only those with shift."""
        self._pressed: int | None = None
        """The row in which the mouse was pressed."""
        self._path = ""
        self._left = 0
        self._palette = palette
        self._painter = Painter(self.text, "", palette)
        self._drawn: dict[int, Strip] = {}

    # Called by the screen -----------------------------------------------------------------------

    def show(self, text: DiffText, path: str, *, placeholder: str = "", reset: bool = True) -> None:
        """Show a file; without `reset` the cursor and its line stay where they are."""
        cursor_line, at, offset = self.row, self.at, self.here - round(self.scroll_y)
        mark_start = None if reset or self.marked_from is None else self._at(self.marked_from)
        mark_row = self.text.rows[mark_start] if mark_start is not None else None
        self.text, self._path, self.placeholder = text, path, placeholder
        self._painter = Painter(text, path, self._palette)
        self.here = 0 if reset else self._drawn_index(text.find_row(cursor_line, at))
        self.marked_from = (
            self._drawn_index(text.find_row(mark_row, mark_start))
            if mark_start is not None
            else None
        )
        self._left = 0 if reset else self._left
        self._measure()
        self.scroll_to(y=0 if reset else self.here - offset, animate=False, immediate=True)
        self._show_cursor()
        self.redraw()

    def set_split(self, is_split: bool) -> None:
        """Switch to two columns, or to one."""
        if is_split == self.is_split:
            return
        at, offset = self.at, self.here - round(self.scroll_y)
        mark_start = self._at(self.marked_from) if self.marked_from is not None else None
        self.is_split = is_split
        self.marked_from = self._drawn_index(mark_start) if mark_start is not None else None
        self.here = self._drawn_index(at)
        self._measure()
        self.scroll_to(y=self.here - offset, animate=False, immediate=True)
        self.redraw()

    def set_palette(self, palette: Palette) -> None:
        """Redraw in other colors."""
        if palette is not self._palette:
            self._palette = palette
            self._painter = Painter(self.text, self._path, palette)
            self.redraw()

    def mark(self, commented: Collection[int]) -> None:
        """Set the rows with comments."""
        self.commented = commented
        self.redraw()

    def redraw(self) -> None:
        """Redraw the visible rows."""
        self._drawn.clear()
        self.refresh()

    # Positions ----------------------------------------------------------------------------------

    @property
    def cursor_row(self) -> int:
        """The row of the cursor."""
        return self.here

    @property
    def at(self) -> int:
        """The index of the cursor's row in the text; of a pair, the new row."""
        return self._at(self.here)

    def _at(self, row_index: int) -> int:
        if not self.is_split or row_index >= len(self.text.pairs):
            return row_index
        return max(self.text.pairs[row_index])

    @property
    def row(self) -> Row | None:
        """The cursor's row."""
        return self.text.rows[self.at] if self.at < len(self.text.rows) else None

    @property
    def hunk(self) -> int | None:
        """The index of the hunk at the cursor."""
        return self.text.hunk_at(self.at) if self.text.rows else None

    @property
    def marked(self) -> range:
        """The indexes of the marked rows in the text, of both columns."""
        if self.marked_from is None:
            return range(0)
        ends = sorted((self.marked_from, self.here))
        if not self.is_split:
            return range(ends[0], ends[1] + 1)
        pairs = self.text.pairs[ends[0] : ends[1] + 1]
        row_indexes = [at for pair in pairs for at in pair if at >= 0]
        return range(min(row_indexes), max(row_indexes) + 1)

    @property
    def marked_rows(self) -> list[DiffRow]:
        """The marked lines."""
        rows = (self.text.rows[at] for at in self.marked)
        return [row for row in rows if isinstance(row, DiffRow)]

    @property
    def count(self) -> int:
        """The number of drawn rows."""
        return len(self.text.pairs if self.is_split else self.text.rows)

    def _drawn_index(self, at: int) -> int:
        if not self.is_split:
            return at
        return self.text.pair_indices[at] if at < len(self.text.pair_indices) else 0

    def _measure(self) -> None:
        self.here = max(0, min(self.here, self.count - 1))
        self.virtual_size = Size(self.size.width, self.count)

    def on_resize(self) -> None:
        """Fit the lines to the new width, and keep the cursor visible."""
        self._measure()
        self._show_cursor()
        self.redraw()

    # Moving -------------------------------------------------------------------------------------

    def go_to(self, here: int, *, marks: bool = False) -> None:
        """Move the cursor to a row; `marks` extends the marked lines, which are else cleared."""
        if self.marked_from is not None and not (marks or self._is_marking):
            self.clear_marks()
        here = max(0, min(here, self.count - 1))
        if self.marked_from is not None:
            lines = self._lines_around(self.marked_from)
            here = max(lines.start, min(here, lines.stop - 1))
        before, self.here = self.here, here
        if self.marked_from is not None and here != before:
            self.redraw()
            self.post_message(self.Marked())
        for row_index in {before, self.here}:
            self._drawn.pop(row_index, None)
            self.refresh(Region(0, row_index - round(self.scroll_y), self.size.width, 1))
        self._show_cursor()

    def begin(self, row_index: int) -> bool:
        """Start marking at a row, within its hunk; return whether it has lines."""
        lines = self._lines_around(row_index)
        if lines:
            self.marked_from = max(lines.start, row_index)
            self.redraw()
            self.post_message(self.Marked())
        return bool(lines)

    def start_marking(self) -> bool:
        """Let every movement mark lines from the cursor on; return whether there are any."""
        self._is_marking = self.begin(self.here)
        if self._is_marking:
            self.go_to(self.here)
        return self._is_marking

    def clear_marks(self) -> None:
        """Clear the marks."""
        if self.marked_from is not None:
            self.marked_from, self._is_marking = None, False
            self.redraw()
            self.post_message(self.Marked())

    def _lines_around(self, row_index: int) -> range:
        """Return the drawn lines of the hunk at a drawn row."""
        hunk = self.text.hunk_at(self._at(row_index)) if self.text.rows else None
        if hunk is None:
            return range(0)
        ends = [self._drawn_index(at) for at in self.text.heading_indices[hunk + 1 : hunk + 2]]
        return range(
            self._drawn_index(self.text.heading_indices[hunk]) + 1, *(ends or [self.count])
        )

    def _show_cursor(self) -> None:
        top, height = round(self.scroll_y), self.size.height
        if self.here < top:
            self.scroll_to(y=self.here, animate=False, immediate=True)
        elif height and self.here >= top + height:
            self.scroll_to(y=self.here - height + 1, animate=False, immediate=True)

    def action_move(self, by: int) -> None:
        """Move the cursor up or down."""
        self.go_to(self.here + by)

    def action_extend(self, by: int) -> None:
        """Extend the marked lines."""
        if self.marked_from is not None or self.begin(self.here):
            self.go_to(self.here + by, marks=True)

    def action_page(self, by: int) -> None:
        """Move the cursor by a screen."""
        step = max(1, self.size.height - 2) * by
        self.scroll_to(y=self.scroll_y + step, animate=False, immediate=True)
        self.go_to(self.here + step)

    def action_edge(self, by: int) -> None:
        """Move the cursor to the first row or the last."""
        self.go_to(0 if by < 0 else self.count)

    def action_sideways(self, by: int) -> None:
        """Scroll long lines sideways."""
        self._left = max(0, self._left + by * _SCROLL_STEP)
        self.redraw()

    def next_hunk(self, by: int) -> bool:
        """Go to the heading of the next or previous hunk; return whether there is one."""
        self.clear_marks()
        heads = [self._drawn_index(at) for at in self.text.heading_indices]
        ahead = [at for at in heads if (at > self.here if by > 0 else at < self.here)]
        if not ahead:
            return False
        self.go_to(ahead[0] if by > 0 else ahead[-1])
        if by > 0:  # make the hunk visible, not only its heading
            top = max(0, self.here - self.size.height // 3)
            if self.here > self.scroll_y + self.size.height * 2 / 3:
                self.scroll_to(y=top, animate=False, immediate=True)
        return True

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Move the cursor to the mouse; with shift, mark up to there."""
        self.focus()
        row_index = round(self.scroll_y) + event.y
        if event.shift and self.begin(self.here if self.marked_from is None else self.marked_from):
            self.go_to(row_index, marks=True)
            return
        self.clear_marks()
        self.go_to(row_index)
        self._pressed = self.here
        self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Mark the lines that the mouse is dragged over; scroll at the edges."""
        row_index = round(self.scroll_y) + event.y
        if self._pressed is None or (self.marked_from is None and row_index == self._pressed):
            return
        if self.marked_from is not None or self.begin(self._pressed):
            self.go_to(row_index, marks=True)

    def on_mouse_up(self) -> None:
        """Stop dragging; the marks stay."""
        self._pressed = None
        self.release_mouse()

    def on_focus(self) -> None:
        """Redraw the cursor."""
        self._drawn.pop(self.here, None)
        self.refresh()

    on_blur = on_focus

    # Drawing ------------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        """Draw a row of the widget."""
        width, row_index = self.size.width, y + round(self.scroll_y)
        if row_index >= self.count:
            text = [(self.placeholder, self._palette.muted)]
            lines = indent(wrap(text, max(MIN_WIDTH, width - 4)), 2)
            is_row = not self.count and 0 < y <= len(lines)
            return to_strip(lines[y - 1] if is_row else [], width, self._palette.kind)
        strip = self._drawn.get(row_index)
        if strip is None or strip.cell_length != width:
            if len(self._drawn) >= _CACHE_SIZE:
                self._drawn.clear()
            strip = self._drawn[row_index] = self._draw(row_index, width)
        return strip

    def _draw(self, row_index: int, width: int) -> Strip:
        is_here = row_index == self.here
        ends = sorted((self.here if self.marked_from is None else self.marked_from, self.here))
        is_marked = self.marked_from is not None and ends[0] <= row_index <= ends[1]
        if not self.is_split:
            sign = self._sign({row_index}, is_here, is_marked)
            return self._painter.unified(row_index, width, self._left, Mark(sign, is_marked))
        pair = self.text.pairs[row_index]
        sign = self._sign({*pair}, is_here, is_marked)
        return self._painter.halves(pair, width, self._left, Mark(sign, is_marked))

    def _sign(self, row_indexes: set[int], is_here: bool, is_marked: bool) -> Segment:
        """Return the first column, which shows cursor, mark and comment."""
        is_commented = any(at in self.commented for at in row_indexes)
        if screen_reader.is_enabled():
            states = ("commented", is_commented), ("marked", is_marked)
            return Segment("".join(f"{state} " for state, holds in states if holds))
        tone = self._palette.warning if is_commented else self._palette.accent
        is_ascii = self._palette.glyphs.vertical == "|"
        sign = ("*" if is_ascii else "◆") if is_commented else " "
        if not is_here and not is_marked:
            return Segment(sign, tone)
        if not is_commented:
            sign = ">" if is_ascii else "▌"
            tone = tone if self.has_focus or not is_here else self._palette.border
        return Segment(sign, tone + Style(bold=True, reverse=self.has_focus and is_commented))

    @property
    def line(self) -> DiffRow | None:
        """The line under the cursor, if it is one."""
        return self.row if isinstance(self.row, DiffRow) else None
