"""A session's messages drawn as lines by one widget, however many there are.

It paints and keeps the scroll bar right. `transcript_rows` knows which rows there are and
`transcript_window` which of them are in sight; `transcript` adds what keys and the mouse do.
"""

from dataclasses import dataclass, replace
from typing import Final

from rich.cells import cell_len
from rich.segment import Segment
from textual.geometry import Region, Size
from textual.message import Message as TextualMessage
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from model.agents.catalog import BUILT_IN, Catalog
from model.domain.resources import Session
from tui.draw.colors import Palette
from tui.draw.line_parts import prose_rows, strip_of
from tui.draw.wrap import Line
from tui.store.history import History
from tui.transcript.cursor import Cursor
from tui.transcript.find import Finder
from tui.transcript.parts import BODY, Folds, Look
from tui.transcript.rows import Rows
from tui.transcript.scrollbar import follow
from tui.transcript.selection import marked, selected_text, stable_row
from tui.transcript.strip_cache import FinishedRows
from tui.transcript.viewport import Anchor, Window

_NEAR: Final = 2
"""Older messages are asked for while the first row is less than this many screens away."""

_NOTHING_SAID: Final = (
    "Nothing was said here yet. Write below what you want done; enter sends it to the agent."
)
_TO_THE_DEMO: Final = (
    "This agent is a demonstration. Write anything below and press enter for a short tour, "
    "or /demo help for all that it can show."
)


class TranscriptView(ScrollView):
    """The messages of one session, newest at the bottom; it follows until it is scrolled up."""

    DEFAULT_CSS = """
    TranscriptView {
        overflow-x: hidden;
        overflow-y: scroll;
        scrollbar-size-vertical: 1;
    }
    """

    @dataclass
    class OlderWanted(TextualMessage, namespace="transcript"):
        """The first loaded message comes near and there are older ones."""

        session_id: str

    def __init__(
        self, *, name: str | None = None, id: str | None = None, classes: str | None = None
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self.window: Window | None = None
        """What is in sight; `None` before a session is shown."""
        self._places: dict[str, Anchor | None] = {}
        self._folds: dict[str, Folds] = {}
        self.cursor = Cursor()
        """Seen while the widget has the focus."""
        self.finder = Finder()
        """Marks the words that are sought."""
        self._hint = _NOTHING_SAID
        self._has_news = False
        self._asked_at = -1
        self._selection: Selection | None = None
        self._is_placing = False
        self._painted: list[Strip] = []
        self._painted_top = -1
        self._finished = FinishedRows()

    # What the app tells --------------------------------------------------------------------------

    def show(
        self,
        history: History,
        palette: Palette,
        session: Session,
        *,
        root: str = "",
        catalog: Catalog = BUILT_IN,
    ) -> None:
        """Show a session, where it was left or else at its end.

        `root` is the worktree's path; paths in it are shown without it.
        """
        if self.window is not None:
            self._places[self.window.rows.history.session_id] = self.window.anchor
        anchor = self._places.get(history.session_id)
        if anchor is None:
            history.shed()
        rows = Rows(history, Look(self.size.width or 80, palette, root, catalog), self._folds)
        rows.ask(session.request)
        self.window = Window(rows, self.size.height, anchor)
        self.cursor.put_away()
        self.finder.seek("")
        self._has_news, self._asked_at = False, -1
        self._hint = _TO_THE_DEMO if session.backend == "demo" else _NOTHING_SAID
        if self._selection is not None:
            self.screen.clear_selection()
        self.settle()
        self.refresh()

    def changed(self, first_index: int) -> None:
        """Draw what came or changed from `first_index` on; 0 after older ones were loaded."""
        window = self.window
        if window is None:
            return
        if first_index == 0:
            self._asked_at = -1
        elif window.anchor is not None:
            self._has_news = True
        looks_at_end = window.anchor is None and self._selection is None
        if looks_at_end and window.rows.history.shed():
            first_index = 0
        window.rows.change(first_index)
        self.settle()
        self.refresh_changed()

    def set_session(self, session: Session) -> None:
        """Take up what the session needs a person for."""
        if self.window is not None:
            self.window.rows.ask(session.request)
            self.settle()
            self.refresh_changed()

    def set_palette(self, palette: Palette) -> None:
        """Draw in other colours."""
        if self.window is not None and palette is not self.window.rows.look.palette:
            rows = self.window.rows
            rows.restyle(replace(rows.look, palette=palette))
            self.settle()
            self.refresh()

    @property
    def is_following(self) -> bool:
        """Whether the newest row stays in sight."""
        return self.window is None or self.window.anchor is None

    @property
    def layouts(self) -> int:
        """How many messages were laid out for the session that is shown."""
        return self.window.rows.layouts if self.window else 0

    # Where the window stands ---------------------------------------------------------------------

    def on_resize(self) -> None:
        """Keep the message that one reads in its place, whatever its lines become."""
        window = self.window
        if window is None or not self.size.width:
            return
        window.height = self.size.height
        if self.size.width != window.rows.look.width:
            window.widen(self.size.width)
        self.settle()
        self.refresh()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Follow the scroll bar."""
        super().watch_scroll_y(old_value, new_value)
        if not self._is_placing and self.is_ready:
            self.go_to(round(new_value))

    @property
    def is_ready(self) -> bool:
        """Whether the rows are those of the widget's present size."""
        window = self.window
        if window is None or window.height <= 0:
            return False
        # Between a change of the size and `on_resize` the scroll bar is moved by Textual itself;
        # that is no wish of a person to leave the end.
        return (window.rows.look.width, window.height) == (self.size.width, self.size.height)

    def go_to(self, row: int) -> None:
        """Make `row` the first in the window; at the end of the rows, the end is followed."""
        if self.window is not None and self.is_ready:
            self.window.go_to(row)
            self._place()
            self.refresh_changed()

    def reveal(self, message_id: str) -> None:
        """Put a loaded message at the top of the window; also before the widget has its size."""
        if self.window is None:
            return
        history = self.window.rows.history
        index = next((at for at in range(len(history)) if history[at].id == message_id), None)
        if index is not None:
            self.window.anchor = Anchor(index, message_id, 0)
            self.settle()
            self.refresh_changed()

    def settle(self) -> None:
        """Put the window in its place after rows came, changed or went."""
        if self.window is not None and self.is_ready:
            self.window.settle()
            self._place()

    def _place(self) -> None:
        """Bring the scroll bar and what can be scrolled over in line with the window."""
        window = self.window
        assert window is not None
        size = Size(self.size.width, window.rows.total)
        if size != self.virtual_size:
            # As an ordinary assignment this would lay out the whole screen for each new row.
            self.set_reactive(Widget.virtual_size, size)
        follow(self.vertical_scrollbar, size.height, window.top)
        self._is_placing = True
        self.scroll_target_y = self.scroll_y = window.top
        self._is_placing = False
        if window.anchor is None:
            self._has_news = False
        history = window.rows.history
        is_near = window.top < _NEAR * window.height and history.older > 0
        if is_near and self._asked_at != len(history.messages):
            self._asked_at = len(history.messages)
            self.post_message(self.OlderWanted(history.session_id))

    # Drawing -------------------------------------------------------------------------------------

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw a region. The rows are whole, so they need nothing but the filters of every row."""
        self._painted_top = self.window.top if self.window else -1
        rows = [self._strip_at(y) for y in crop.line_range]
        self._painted += [Strip([])] * (crop.bottom - len(self._painted))
        self._painted[crop.y : crop.bottom] = rows
        ground = self.background_colors[1]
        strips = self._finished.of(rows, self.get_line_filters(), ground)
        if crop.x or crop.right < self.size.width:
            return [strip.crop(crop.x, crop.right) for strip in strips]
        return strips

    def render_line(self, y: int) -> Strip:
        """A row of the window as the mouse finds it: each cell says where in the text it is."""
        strip = self._strip_at(y)
        place = self.window.place(y) if self.window else None
        if self.window is None or place is None:
            return strip
        return strip.apply_offsets(0, stable_row(self.window.rows, *place))

    def refresh_changed(self) -> None:
        """Have those rows drawn that are not as they were drawn last."""
        top = self.window.top if self.window else -1
        if top != self._painted_top or len(self._painted) < self.size.height:
            self.refresh()
            return
        for y in range(self.size.height):
            strip, painted = self._strip_at(y), self._painted[y]
            if strip is not painted and strip != painted:
                self.refresh(Region(0, y, self.size.width, 1))

    def _strip_at(self, y: int) -> Strip:
        width, window = self.size.width, self.window
        place = window.place(y) if window else None
        if window is None or place is None:
            return self._hint_at(y, width)
        strip = self._row_at(window.rows, *place)
        if strip.cell_length != width:  # between a resize and what it leads to
            strip = strip.adjust_cell_length(width, self.rich_style)
        if window.anchor is not None and y == window.height - 1:
            return self._with_mark(strip, window.rows.look)
        return strip

    def _row_at(self, rows: Rows, index: int, line: int) -> Strip:
        laid, look = rows.laid_out(index), rows.look
        strip = laid.strips[min(line, len(laid.strips) - 1)]
        if self.has_focus and self.cursor.stands_on(laid, line):
            mark = Segment(look.signs.cursor, look.tones.accent)
            kind = look.palette.kind
            strip = Strip.join([strip_of([mark], 1, kind), strip.crop(1)])
        strip = self.finder.marked(strip, look.tones.news)
        if self._selection is None:
            return strip
        return marked(strip, stable_row(rows, index, line), self._selection, look.tones.selected)

    def _hint_at(self, y: int, width: int) -> Strip:
        """What an empty transcript says."""
        rows = self.window.rows if self.window else None
        if rows is None:
            return Strip.blank(width, self.rich_style)
        words: list[Line] = []
        if rows.history.is_loaded and not len(rows.history):
            words = prose_rows(self._hint, width - 2 * BODY, rows.look.palette.muted)
        line = [Segment(" " * BODY), *words[y - 1]] if 0 < y <= len(words) else []
        return strip_of(line, width, rows.look.palette.kind)

    def _with_mark(self, strip: Strip, look: Look) -> Strip:
        """The last row while the end is out of sight."""
        text = f" {look.signs.down} {'new' if self._has_news else 'end'} "
        style = look.tones.news if self._has_news else look.palette.code_inline
        rest = max(strip.cell_length - cell_len(text) - 1, 0)
        mark = strip_of([Segment(text, style)], strip.cell_length - rest, look.palette.kind)
        return Strip.join([strip.crop(0, rest), mark])

    # Text that is selected -----------------------------------------------------------------------

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text."""
        return (selected_text(self.window.rows, selection), "\n") if self.window else None

    def selection_updated(self, selection: Selection | None) -> None:
        """Show what is selected now."""
        self._selection = selection
        self.refresh_changed()
