"""One file's diff, drawn by line: invisible rows cost nothing."""

from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar, Final

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from model.richtext.conflict_parts import ConflictPart
from model.richtext.diff_text import DiffText
from tui.diff.notes import Note, note_strips
from tui.diff.positions import Positions
from tui.diff.rows import RowLayout, Stop
from tui.draw.colors import Palette
from tui.draw.diff_lines import Mark, Painter
from tui.draw.line_parts import indent, to_strip
from tui.draw.wrap import MIN_WIDTH, wrap
from tui.terminal import screen_reader

_SCROLL_STEP: Final = 12
"""Columns for each press of left or right."""
_CACHE_SIZE: Final = 1_000
"""Most drawn rows that are cached."""


class DiffView(Positions, ScrollView, can_focus=True):
    """Rows with a cursor, in one column or two, and notes below them."""

    DEFAULT_CSS = "DiffView { overflow-x: hidden; overflow-y: scroll; scrollbar-size-vertical: 1; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("pageup,ctrl+u", "page(-1)", show=False),
        Binding("pagedown,ctrl+d", "page(1)", show=False),
        Binding("space", "read_on", show=False),
        Binding("home,g", "edge(-1)", show=False),
        Binding("end,G", "edge(1)", show=False),
        Binding("shift+up,K", "extend(-1)", show=False),
        Binding("shift+down,J", "extend(1)", show=False),
        Binding("shift+pageup", "extend(-10)", show=False),
        Binding("shift+pagedown", "extend(10)", show=False),
        Binding("left", "sideways(-1)", show=False),
        Binding("right", "sideways(1)", show=False),
        Binding("enter", "open", show=False),
        Binding("delete,backspace", "remove", show=False),
    ]

    ALLOW_SELECT = False  # dragging the mouse marks lines to comment on

    class Marked(Message):
        """Posted when the marked lines have changed."""

    class Moved(Message):
        """Posted when the cursor came to a note, or left it."""

    class Opened(Message):
        """Posted when enter was pressed on a row or note."""

    class Removed(Message):
        """Posted to remove the note under the cursor."""

    class Finished(Message):
        """Posted when reading went beyond the end."""

    def __init__(self, palette: Palette) -> None:
        Positions.__init__(self)
        ScrollView.__init__(self, id="diff")
        self.placeholder = ""
        """The text shown while there are no rows."""
        self.commented: Collection[int] = ()
        """The indexes of rows with a comment, in the text."""
        self._note_lines: Sequence[Sequence[Strip]] = ()
        self._is_marking = False
        """Whether every movement marks, not only those with shift."""
        self._pressed: int | None = None
        """The row in which the mouse was pressed."""
        self._path = ""
        self._conflict: Mapping[int, ConflictPart] | None = None
        self._left = 0
        self._palette = palette
        self._painter = Painter(self.text, "", palette)
        self._drawn: dict[int, Strip] = {}

    # Called by the screen -----------------------------------------------------------------------

    def show(
        self,
        text: DiffText,
        path: str,
        *,
        notes: Sequence[Note] = (),
        placeholder: str = "",
        conflict: Mapping[int, ConflictPart] | None = None,
        reset: bool = True,
    ) -> None:
        """Show a file; without `reset` the cursor and its line stay where they are."""
        cursor_line, at, offset = self.row, self.at, self.cursor_row - round(self.scroll_y)
        is_marked = not reset and self.marked_from is not None
        mark_start = self.text_index(self.marked_from or 0) if is_marked else None
        mark_row = self.text.rows[mark_start] if mark_start is not None else None
        note = self.note_under_cursor
        self.text, self._path, self.placeholder = text, path, placeholder
        self._conflict = conflict
        self._painter = Painter(text, path, self._palette, conflict)
        self.here = self.first_stop if reset else self.drawn_index(text.find_row(cursor_line, at))
        self.marked_from = (
            self.drawn_index(text.find_row(mark_row, mark_start))
            if mark_start is not None
            else None
        )
        self._left = 0 if reset else self._left
        self._set_notes(notes, None if reset else note)
        top = 0 if reset else self.cursor_row - offset
        self.scroll_to(y=top, animate=False, immediate=True)
        self._show_cursor()
        self.redraw()

    def annotate(self, notes: Sequence[Note]) -> None:
        """Show these notes; the cursor and its line stay where they are."""
        if list(notes) == list(self.notes):
            return
        offset = self.cursor_row - round(self.scroll_y)
        self._set_notes(notes, self.note_under_cursor)
        self.scroll_to(y=self.cursor_row - offset, animate=False, immediate=True)
        self._show_cursor()
        self.redraw()

    def set_split(self, is_split: bool) -> None:
        """Switch to two columns, or to one."""
        if is_split == self.is_split:
            return
        at, offset = self.at, self.cursor_row - round(self.scroll_y)
        note = self.note_under_cursor
        mark_start = self.text_index(self.marked_from) if self.marked_from is not None else None
        self.is_split = is_split
        self.marked_from = self.drawn_index(mark_start) if mark_start is not None else None
        self.here = self.drawn_index(at)
        self._set_notes(self.notes, note)
        self.scroll_to(y=self.cursor_row - offset, animate=False, immediate=True)
        self.redraw()

    def set_palette(self, palette: Palette) -> None:
        """Redraw in other colors."""
        if palette is not self._palette:
            self._palette = palette
            self._painter = Painter(self.text, self._path, palette, self._conflict)
            self._measure()
            self.redraw()

    def redraw(self) -> None:
        """Redraw the visible rows."""
        self._drawn.clear()
        self.refresh()

    # Positions ----------------------------------------------------------------------------------

    def _set_notes(self, notes: Sequence[Note], under_cursor: Note | None) -> None:
        self.notes = sorted(notes, key=lambda note: (note.places[-1], note.places[0]))
        self.commented = frozenset(at for note in notes for at in note.places)
        same = (
            n
            for n, note in enumerate(self.notes)
            if under_cursor is not None
            and (note.text == under_cursor.text or note.places == under_cursor.places)
        )
        self.note_here = next(same, None)
        if self.note_here is not None:
            self.here = self.note_row(self.notes[self.note_here])
        self._measure()

    def _measure(self) -> None:
        self.here = max(0, min(self.here, self.count - 1))
        left = 1 + 2 * (self._painter.digits + 1) if not screen_reader.is_enabled() else 0
        self._note_lines = note_strips(
            self.notes,
            self.size.width,
            min(left, self.size.width // 4),
            self._palette,
            at_cursor=self.note_here if self.has_focus else None,
        )
        heights = [
            (self.note_row(note), len(self._note_lines[at])) for at, note in enumerate(self.notes)
        ]
        self.layout_of_rows = RowLayout(self.count, heights)
        self.virtual_size = Size(self.size.width, self.layout_of_rows.height)

    def on_resize(self) -> None:
        """Fit the lines to the new width, and keep the cursor visible."""
        self._measure()
        self._show_cursor()
        self.redraw()

    # Moving -------------------------------------------------------------------------------------

    def go_to(self, here: int, *, note: int | None = None, marks: bool = False) -> None:
        """Move the cursor to a row, or to a note below it.

        `marks` extends the marked lines, which are cleared otherwise.
        """
        if self.marked_from is not None and not (marks or self._is_marking):
            self.clear_marks()
        here = max(0, min(here, self.count - 1))
        if self.marked_from is not None:
            lines = self.lines_around(self.marked_from)
            here = max(lines.start, min(here, lines.stop - 1))
        before, self.here, self.note_here = self.stop, here, note
        if self.marked_from is not None and here != before.row:
            self.redraw()
            self.post_message(self.Marked())
        if before.note != note:
            self._measure()
            self.post_message(self.Moved())
        for stop in {before, self.stop}:
            self._refresh_stop(stop)
        self._show_cursor()

    def _refresh_stop(self, stop: Stop) -> None:
        if stop.note is None:
            self._drawn.pop(stop.row, None)
        y = self.layout_of_rows.y_of(stop) - round(self.scroll_y)
        self.refresh(Region(0, y, self.size.width, self.layout_of_rows.height_of(stop)))

    def begin(self, row_index: int) -> bool:
        """Start marking at a row, within its hunk; return whether it has lines."""
        lines = self.lines_around(row_index)
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

    def _show_cursor(self) -> None:
        top, height = round(self.scroll_y), self.size.height
        first = self.cursor_row
        last = first + self.layout_of_rows.height_of(self.stop) - 1
        if first < top:
            self.scroll_to(y=first, animate=False, immediate=True)
        elif height and last >= top + height:
            self.scroll_to(y=min(first, last - height + 1), animate=False, immediate=True)

    def _go_to_y(self, y: int) -> None:
        """Move the cursor to what stands at a line; while marking, to the row above a note."""
        stop, _ = self.layout_of_rows.stop_at(max(0, min(y, self.layout_of_rows.height - 1)))
        is_marking = self.marked_from is not None and self._is_marking
        self.go_to(stop.row, note=None if is_marking else stop.note)

    def action_move(self, by: int) -> None:
        """Move the cursor up or down."""
        if self.marked_from is not None and self._is_marking:
            self.go_to(self.here + by)
            return
        height = self.layout_of_rows.height_of(self.stop) if by > 0 else 1
        self._go_to_y(self.cursor_row + by + height - 1)

    def action_extend(self, by: int) -> None:
        """Extend the marked lines."""
        if self.marked_from is not None or self.begin(self.here):
            self.go_to(self.here + by, marks=True)

    def action_page(self, by: int) -> None:
        """Move the cursor by a screen."""
        step = max(1, self.size.height - 2) * by
        y = self.cursor_row + step
        self.scroll_to(y=self.scroll_y + step, animate=False, immediate=True)
        self._go_to_y(y)

    def action_read_on(self) -> None:
        """Move on by a screen; at the end, to the next file."""
        if round(self.scroll_y) + self.size.height >= self.layout_of_rows.height:
            self.post_message(self.Finished())
        else:
            self.action_page(1)

    def action_open(self) -> None:
        """Open what is under the cursor."""
        self.post_message(self.Opened())

    def action_remove(self) -> None:
        """Remove the note under the cursor."""
        if self.note_here is not None:
            self.post_message(self.Removed())

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
        heads = [self.drawn_index(at) for at in self.text.heading_indices]
        ahead = [at for at in heads if (at > self.here if by > 0 else at < self.here)]
        if not ahead:
            return False
        self.go_to(ahead[0] if by > 0 else ahead[-1])
        if by > 0:  # make the hunk visible, not only its heading
            top = max(0, self.cursor_row - self.size.height // 3)
            if self.cursor_row > self.scroll_y + self.size.height * 2 / 3:
                self.scroll_to(y=top, animate=False, immediate=True)
        return True

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Move the cursor to the mouse; with shift, mark up to there."""
        self.focus()
        stop = self._stop_under(event)
        if event.shift and self.begin(self.here if self.marked_from is None else self.marked_from):
            self.go_to(stop.row, marks=True)
            return
        self.clear_marks()
        self.go_to(stop.row, note=stop.note)
        self._pressed = self.here
        self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Mark the lines that the mouse is dragged over; scroll at the edges."""
        row_index = self._stop_under(event).row
        if self._pressed is None or (self.marked_from is None and row_index == self._pressed):
            return
        if self.marked_from is not None or self.begin(self._pressed):
            self.go_to(row_index, marks=True)

    def _stop_under(self, event: events.MouseEvent) -> Stop:
        y = max(0, round(self.scroll_y) + event.y)
        return self.layout_of_rows.stop_at(min(y, max(0, self.layout_of_rows.height - 1)))[0]

    def on_mouse_up(self) -> None:
        """Stop dragging; the marks stay."""
        self._pressed = None
        self.release_mouse()

    def on_focus(self) -> None:
        """Redraw the cursor."""
        self._drawn.pop(self.here, None)
        if self.note_here is not None:
            self._measure()
        self.refresh()

    on_blur = on_focus

    # Drawing ------------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        """Draw a row of the widget."""
        width, y_of_all = self.size.width, y + round(self.scroll_y)
        if y_of_all >= self.layout_of_rows.height:
            text = [(self.placeholder, self._palette.muted)]
            lines = indent(wrap(text, max(MIN_WIDTH, width - 4)), 2)
            is_row = not self.count and 0 < y <= len(lines)
            return to_strip(lines[y - 1] if is_row else [], width, self._palette.kind)
        (row_index, note), line = self.layout_of_rows.stop_at(y_of_all)
        if note is not None:
            return self._note_lines[note][line]
        strip = self._drawn.get(row_index)
        if strip is None or strip.cell_length != width:
            if len(self._drawn) >= _CACHE_SIZE:
                self._drawn.clear()
            strip = self._drawn[row_index] = self._draw(row_index, width)
        return strip

    def _draw(self, row_index: int, width: int) -> Strip:
        is_here = self.stop == (row_index, None)
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
        tone = self._palette.accent
        is_ascii = self._palette.glyphs.vertical == "|"
        sign = ("*" if is_ascii else "◆") if is_commented else " "
        if not is_here and not is_marked:
            return Segment(sign, tone)
        if not is_commented:
            sign = ">" if is_ascii else "▌"
            tone = tone if self.has_focus or not is_here else self._palette.border
        return Segment(sign, tone + Style(bold=True, reverse=self.has_focus and is_commented))
