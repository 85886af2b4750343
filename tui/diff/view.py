"""One file's difference, drawn by the line: what is not in sight costs nothing."""

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
from tui.draw.line_parts import indented, strip_of
from tui.draw.wrap import MIN_WIDTH, wrap
from tui.terminal import plain

_SIDEWAYS: Final = 12
"""Columns for each press of left or right."""
_KEPT: Final = 1_000
"""Drawn rows that are kept."""


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

    ALLOW_SELECT = False  # what the mouse is drawn over are lines to comment on

    class Marked(Message):
        """More lines are marked, or fewer."""

    def __init__(self, palette: Palette) -> None:
        super().__init__(id="diff")
        self.text = DiffText()
        self.here = 0
        """The place of the cursor among the rows that are drawn."""
        self.is_split = False
        self.said = ""
        """What stands here while there is no row."""
        self.commented: Collection[int] = ()
        """The places of rows with a comment, among those of the text."""
        self.marked_from: int | None = None
        """Where the marked lines begin, among the rows that are drawn; they end at the cursor."""
        self._is_held = False
        """Whether every movement marks, and not only those with shift."""
        self._pressed: int | None = None
        """Where the mouse went down."""
        self._path = ""
        self._left = 0
        self._palette = palette
        self._painter = Painter(self.text, "", palette)
        self._drawn: dict[int, Strip] = {}

    # What the screen tells ----------------------------------------------------------------------

    def show(self, text: DiffText, path: str, *, said: str = "", anew: bool = True) -> None:
        """Show a file; not `anew`: the cursor stays on its line, and that where it is."""
        kept, at, offset = self.row, self.at, self.here - round(self.scroll_y)
        begun = None if anew or self.marked_from is None else self._at(self.marked_from)
        begun_row = self.text.rows[begun] if begun is not None else None
        self.text, self._path, self.said = text, path, said
        self._painter = Painter(text, path, self._palette)
        self.here = 0 if anew else self._place_of(text.find_row(kept, at))
        self.marked_from = (
            self._place_of(text.find_row(begun_row, begun)) if begun is not None else None
        )
        self._left = 0 if anew else self._left
        self._measure()
        self.scroll_to(y=0 if anew else self.here - offset, animate=False, immediate=True)
        self._show_cursor()
        self.redraw()

    def set_split(self, is_split: bool) -> None:
        """In two columns, or in one."""
        if is_split == self.is_split:
            return
        at, offset = self.at, self.here - round(self.scroll_y)
        begun = self._at(self.marked_from) if self.marked_from is not None else None
        self.is_split = is_split
        self.marked_from = self._place_of(begun) if begun is not None else None
        self.here = self._place_of(at)
        self._measure()
        self.scroll_to(y=self.here - offset, animate=False, immediate=True)
        self.redraw()

    def set_palette(self, palette: Palette) -> None:
        """Draw in other colours."""
        if palette is not self._palette:
            self._palette = palette
            self._painter = Painter(self.text, self._path, palette)
            self.redraw()

    def mark(self, commented: Collection[int]) -> None:
        """These rows have comments."""
        self.commented = commented
        self.redraw()

    def redraw(self) -> None:
        """Draw what is in sight anew."""
        self._drawn.clear()
        self.refresh()

    # Where things are ---------------------------------------------------------------------------

    @property
    def cursor_row(self) -> int:
        """The row of the cursor."""
        return self.here

    @property
    def at(self) -> int:
        """The place of the cursor's row in the text; of two, the new one."""
        return self._at(self.here)

    def _at(self, place: int) -> int:
        if not self.is_split or place >= len(self.text.pairs):
            return place
        return max(self.text.pairs[place])

    @property
    def row(self) -> Row | None:
        """The cursor's row."""
        return self.text.rows[self.at] if self.at < len(self.text.rows) else None

    @property
    def hunk(self) -> int | None:
        """The hunk that the cursor is in."""
        return self.text.hunk_at(self.at) if self.text.rows else None

    @property
    def marked(self) -> range:
        """The places that are marked, among those of the text; of two columns, both."""
        if self.marked_from is None:
            return range(0)
        ends = sorted((self.marked_from, self.here))
        if not self.is_split:
            return range(ends[0], ends[1] + 1)
        pairs = self.text.pairs[ends[0] : ends[1] + 1]
        places = [at for pair in pairs for at in pair if at >= 0]
        return range(min(places), max(places) + 1)

    @property
    def marked_rows(self) -> list[DiffRow]:
        """The lines that are marked."""
        rows = (self.text.rows[at] for at in self.marked)
        return [row for row in rows if isinstance(row, DiffRow)]

    @property
    def count(self) -> int:
        """How many rows are drawn."""
        return len(self.text.pairs if self.is_split else self.text.rows)

    def _place_of(self, at: int) -> int:
        if not self.is_split:
            return at
        return self.text.pair_indices[at] if at < len(self.text.pair_indices) else 0

    def _measure(self) -> None:
        self.here = max(0, min(self.here, self.count - 1))
        self.virtual_size = Size(self.size.width, self.count)

    def on_resize(self) -> None:
        """Lines are cut elsewhere; the cursor stays in sight."""
        self._measure()
        self._show_cursor()
        self.redraw()

    # Moving -------------------------------------------------------------------------------------

    def go_to(self, here: int, *, marks: bool = False) -> None:
        """Put the cursor on a row; what is marked goes along (`marks`), or is so no more."""
        if self.marked_from is not None and not (marks or self._is_held):
            self.let_go()
        here = max(0, min(here, self.count - 1))
        if self.marked_from is not None:
            lines = self._lines_around(self.marked_from)
            here = max(lines.start, min(here, lines.stop - 1))
        before, self.here = self.here, here
        if self.marked_from is not None and here != before:
            self.redraw()
            self.post_message(self.Marked())
        for place in {before, self.here}:
            self._drawn.pop(place, None)
            self.refresh(Region(0, place - round(self.scroll_y), self.size.width, 1))
        self._show_cursor()

    def begin(self, place: int) -> bool:
        """Mark from here on, within the hunk; whether there are lines."""
        lines = self._lines_around(place)
        if lines:
            self.marked_from = max(lines.start, place)
            self.redraw()
            self.post_message(self.Marked())
        return bool(lines)

    def hold(self) -> bool:
        """Begin to mark by every movement; whether there are lines."""
        self._is_held = self.begin(self.here)
        if self._is_held:
            self.go_to(self.here)
        return self._is_held

    def let_go(self) -> None:
        """Mark nothing."""
        if self.marked_from is not None:
            self.marked_from, self._is_held = None, False
            self.redraw()
            self.post_message(self.Marked())

    def _lines_around(self, place: int) -> range:
        """The drawn lines of the hunk that a place belongs to."""
        hunk = self.text.hunk_at(self._at(place)) if self.text.rows else None
        if hunk is None:
            return range(0)
        ends = [self._place_of(at) for at in self.text.heading_indices[hunk + 1 : hunk + 2]]
        return range(self._place_of(self.text.heading_indices[hunk]) + 1, *(ends or [self.count]))

    def _show_cursor(self) -> None:
        top, height = round(self.scroll_y), self.size.height
        if self.here < top:
            self.scroll_to(y=self.here, animate=False, immediate=True)
        elif height and self.here >= top + height:
            self.scroll_to(y=self.here - height + 1, animate=False, immediate=True)

    def action_move(self, by: int) -> None:
        """One row up or down."""
        self.go_to(self.here + by)

    def action_extend(self, by: int) -> None:
        """Mark lines, from the cursor on."""
        if self.marked_from is not None or self.begin(self.here):
            self.go_to(self.here + by, marks=True)

    def action_page(self, by: int) -> None:
        """A screen up or down."""
        step = max(1, self.size.height - 2) * by
        self.scroll_to(y=self.scroll_y + step, animate=False, immediate=True)
        self.go_to(self.here + step)

    def action_edge(self, by: int) -> None:
        """To the first row or the last."""
        self.go_to(0 if by < 0 else self.count)

    def action_sideways(self, by: int) -> None:
        """Read on in long lines."""
        self._left = max(0, self._left + by * _SIDEWAYS)
        self.redraw()

    def next_hunk(self, by: int) -> bool:
        """Go to the heading of the next hunk, or the one before; whether there is one."""
        self.let_go()
        heads = [self._place_of(at) for at in self.text.heading_indices]
        found = [at for at in heads if (at > self.here if by > 0 else at < self.here)]
        if not found:
            return False
        self.go_to(found[0] if by > 0 else found[-1])
        if by > 0:  # the hunk, and not only its heading, comes into sight
            top = max(0, self.here - self.size.height // 3)
            if self.here > self.scroll_y + self.size.height * 2 / 3:
                self.scroll_to(y=top, animate=False, immediate=True)
        return True

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Put the cursor where the mouse is; with shift, mark up to there."""
        self.focus()
        place = round(self.scroll_y) + event.y
        if event.shift and self.begin(self.here if self.marked_from is None else self.marked_from):
            self.go_to(place, marks=True)
            return
        self.let_go()
        self.go_to(place)
        self._pressed = self.here
        self.capture_mouse()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Mark what the mouse is drawn over; at an edge more comes into sight."""
        place = round(self.scroll_y) + event.y
        if self._pressed is None or (self.marked_from is None and place == self._pressed):
            return
        if self.marked_from is not None or self.begin(self._pressed):
            self.go_to(place, marks=True)

    def on_mouse_up(self) -> None:
        """What is marked stays so."""
        self._pressed = None
        self.release_mouse()

    def on_focus(self) -> None:
        """The cursor is seen."""
        self._drawn.pop(self.here, None)
        self.refresh()

    on_blur = on_focus

    # Drawing ------------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        """Draw a row of what is in sight."""
        width, place = self.size.width, y + round(self.scroll_y)
        if place >= self.count:
            said = indented(wrap([(self.said, self._palette.muted)], max(MIN_WIDTH, width - 4)), 2)
            is_row = not self.count and 0 < y <= len(said)
            return strip_of(said[y - 1] if is_row else [], width, self._palette.kind)
        strip = self._drawn.get(place)
        if strip is None or strip.cell_length != width:
            if len(self._drawn) >= _KEPT:
                self._drawn.clear()
            strip = self._drawn[place] = self._draw(place, width)
        return strip

    def _draw(self, place: int, width: int) -> Strip:
        is_here = place == self.here
        ends = sorted((self.here if self.marked_from is None else self.marked_from, self.here))
        is_marked = self.marked_from is not None and ends[0] <= place <= ends[1]
        if not self.is_split:
            sign = self._sign({place}, is_here, is_marked)
            return self._painter.unified(place, width, self._left, Mark(sign, is_marked))
        pair = self.text.pairs[place]
        sign = self._sign({*pair}, is_here, is_marked)
        return self._painter.halves(pair, width, self._left, Mark(sign, is_marked))

    def _sign(self, places: set[int], is_here: bool, is_marked: bool) -> Segment:
        """The first column: the cursor, what is marked, or that something was said of the row."""
        is_commented = any(at in self.commented for at in places)
        if plain.is_on():
            words = ("commented", is_commented), ("marked", is_marked)
            return Segment("".join(f"{word} " for word, holds in words if holds))
        tone = self._palette.warning if is_commented else self._palette.accent
        is_ascii = self._palette.marks.column == "|"
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
