"""The transcript: one widget that draws a session's messages as lines, however many there are.

It paints, and turns keys and the mouse into moves. `transcript_rows` knows which rows there are,
`transcript_window` which of them are in sight.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, Final

from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message as TextualMessage
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from model.catalog import BUILT_IN, Catalog
from model.resources import Session, ToolUseBlock
from tui.colours import Palette
from tui.history import History
from tui.line_parts import prose_rows, strip_of
from tui.tool_lines import path_of
from tui.transcript_cursor import Cursor
from tui.transcript_lines import raw_text
from tui.transcript_parts import ALL, BODY, OPEN, Folds, Look
from tui.transcript_rows import Rows
from tui.transcript_selection import marked, selected_text, stable_row
from tui.transcript_window import Anchor, Window
from tui.wrap import Line

_WHEEL: Final = 3
_NEAR: Final = 2
"""Older messages are asked for while the first row is less than this many screens away."""

_MARK: Final = 8
"""Cells at the end of the last row that jump to the end."""

_NOTHING_SAID: Final = (
    "Nothing was said here yet. Write below what you want done; enter sends it to the agent."
)


class Transcript(ScrollView, can_focus=True):
    """The messages of one session, newest at the bottom; it follows until one scrolls up.

    Printable keys are `Typed`, so that they reach the message box. `ctrl+up` brings out a cursor
    that walks over the parts of messages; while it is out, letters are its commands.
    """

    DEFAULT_CSS = """
    Transcript {
        overflow-x: hidden;
        overflow-y: scroll;
        scrollbar-size-vertical: 1;
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+up,k", "step(-1)", "Part before", show=False, id="part_previous"),
        Binding("ctrl+down,j", "step(1)", "Part after", show=False, id="part_next"),
        Binding("enter", "open_part", "Open or close", show=False, id="part_open"),
        Binding("c", "copy_part", "Copy", show=False, id="part_copy"),
        Binding("o", "go_to_file", "Go to the file", show=False, id="part_file"),
        Binding("g", "scroll_home", "Oldest", show=False, id="transcript_oldest"),
        Binding("G", "scroll_end", "Newest", show=False, id="transcript_newest"),
        Binding("escape", "put_away", "Put the cursor away", show=False, id="part_put_away"),
    ]

    @dataclass
    class OlderWanted(TextualMessage):
        """The first loaded message comes near and there are older ones."""

        session_id: str

    @dataclass
    class Typed(TextualMessage):
        """A printable key was pressed."""

        character: str

    @dataclass
    class CopyWanted(TextualMessage):
        """A part was chosen to be copied."""

        text: str

    @dataclass
    class FileWanted(TextualMessage):
        """The file that a tool was about was chosen."""

        path: str

    @dataclass
    class LinkWanted(TextualMessage):
        """A link was clicked."""

        href: str

    def __init__(
        self, *, name: str | None = None, id: str | None = None, classes: str | None = None
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._window: Window | None = None
        self._places: dict[str, Anchor | None] = {}
        self._folds: dict[str, Folds] = {}
        self._cursor = Cursor()
        self._has_news = False
        self._asked_at = -1
        self._is_placing = False
        self._is_painting = False
        self._painted: list[Strip] = []

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
        if self._window is not None:
            self._places[self._window.rows.history.session_id] = self._window.anchor
        rows = Rows(history, Look(self.size.width or 80, palette, root, catalog), self._folds)
        rows.ask(session.request)
        self._window = Window(rows, self.size.height, self._places.get(history.session_id))
        self._cursor.put_away()
        self._has_news, self._asked_at = False, -1
        self._settle()
        self.refresh()

    def changed(self, first_index: int) -> None:
        """Draw what came, changed or went from `first_index` on; 0 after older ones were loaded."""
        window = self._window
        if window is None:
            return
        if first_index == 0:
            self._asked_at = -1
        elif window.anchor is not None:
            self._has_news = True
        window.rows.change(first_index)
        self._settle()
        self._refresh_changed()

    def set_session(self, session: Session) -> None:
        """Take up what the session needs a person for."""
        if self._window is not None:
            self._window.rows.ask(session.request)
            self._settle()
            self._refresh_changed()

    def set_palette(self, palette: Palette) -> None:
        """Draw in other colours."""
        if self._window is not None:
            rows = self._window.rows
            rows.restyle(replace(rows.look, palette=palette))
            self._settle()
            self.refresh()

    @property
    def is_following(self) -> bool:
        """Whether the newest row stays in sight."""
        return self._window is None or self._window.anchor is None

    @property
    def layouts(self) -> int:
        """How many messages were laid out for the session that is shown."""
        return self._window.rows.layouts if self._window else 0

    # Where the window stands ---------------------------------------------------------------------

    def on_resize(self) -> None:
        """Keep the message that one reads in its place, whatever its lines become."""
        window = self._window
        if window is None or not self.size.width:
            return
        window.height = self.size.height
        if self.size.width != window.rows.look.width:
            window.widen(self.size.width)
        self._settle()
        self.refresh()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Follow the scroll bar."""
        super().watch_scroll_y(old_value, new_value)
        if not self._is_placing and self._is_ready:
            self._go_to(round(new_value))

    @property
    def _is_ready(self) -> bool:
        """Whether the rows are those of the widget's present size."""
        window = self._window
        return (
            window is not None and window.height > 0 and window.rows.look.width == self.size.width
        )

    def _go_to(self, row: int) -> None:
        if self._window is not None and self._is_ready:
            self._window.go_to(row)
            self._place()
            self._refresh_changed()

    def _settle(self) -> None:
        if self._window is not None and self._is_ready:
            self._window.settle()
            self._place()

    def _place(self) -> None:
        """Bring the scroll bar and what can be scrolled over in line with the window."""
        window = self._window
        assert window is not None
        size = Size(self.size.width, window.rows.total)
        if size != self.virtual_size:
            # As an ordinary assignment this would lay out the whole screen for each new row.
            self.set_reactive(Widget.virtual_size, size)
            self.vertical_scrollbar.window_virtual_size = size.height
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
        """Draw a region. Rows asked for elsewhere are for finding what is under the mouse."""
        self._is_painting = True
        try:
            return super().render_lines(crop)
        finally:
            self._is_painting = False

    def render_line(self, y: int) -> Strip:
        """Draw a row of the window."""
        strip = self._strip_at(y)
        if self._is_painting:
            self._painted += [Strip([])] * (y + 1 - len(self._painted))
            self._painted[y] = strip
            return strip
        place = self._window.place(y) if self._window else None
        if self._window is None or place is None:
            return strip
        return strip.apply_offsets(0, stable_row(self._window.rows, *place))

    def _refresh_changed(self) -> None:
        """Have those rows drawn that are not as they were drawn last."""
        if len(self._painted) < self.size.height:
            self.refresh()
            return
        for y in range(self.size.height):
            strip, painted = self._strip_at(y), self._painted[y]
            if strip is not painted and strip != painted:
                self.refresh(Region(0, y, self.size.width, 1))

    def _strip_at(self, y: int) -> Strip:
        width, window = self.size.width, self._window
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
        if self.has_focus and self._cursor.stands_on(laid, line):
            mark = Segment(look.signs.cursor, look.tones.accent)
            kind = look.palette.kind
            strip = Strip.join([strip_of([mark], 1, kind), strip.crop(1)])
        selection = self.text_selection
        if selection is None:
            return strip
        style = self.screen.get_component_rich_style("screen--selection")
        return marked(strip, stable_row(rows, index, line), selection, style)

    def _hint_at(self, y: int, width: int) -> Strip:
        """What an empty transcript says."""
        rows = self._window.rows if self._window else None
        if rows is None:
            return Strip.blank(width, self.rich_style)
        words: list[Line] = []
        if rows.history.is_loaded and not len(rows.history):
            words = prose_rows(_NOTHING_SAID, width - 2 * BODY, rows.look.palette.muted)
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
        return (selected_text(self._window.rows, selection), "\n") if self._window else None

    def selection_updated(self, selection: Selection | None) -> None:
        """Show what is selected now."""
        self._refresh_changed()

    # Keys and mouse ------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The cursor's commands exist while it is out."""
        if action in ("open_part", "copy_part", "go_to_file", "put_away"):
            return self._cursor.is_out
        return super().check_action(action, parameters)

    def on_key(self, event: events.Key) -> None:
        """Hand letters on, unless they are the cursor's."""
        is_command = self._cursor.is_out and event.key in {"j", "k", "c", "o", "g", "G"}
        if event.is_printable and event.character and not is_command:
            event.stop()
            event.prevent_default()
            self.post_message(self.Typed(event.character))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Scroll, at once and not in steps."""
        event.stop()
        event.prevent_default()
        self._scroll_by(_WHEEL)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Scroll, at once and not in steps."""
        event.stop()
        event.prevent_default()
        self._scroll_by(-_WHEEL)

    def on_focus(self) -> None:
        """Show the cursor."""
        self._refresh_changed()

    def on_blur(self) -> None:
        """Hide the cursor."""
        self._refresh_changed()

    def on_click(self, event: events.Click) -> None:
        """Open what folds, follow links, put the cursor there; the mark jumps to the end."""
        window = self._window
        place = window.place(event.y) if window else None
        if window is None or place is None or self.text_selection is not None:
            return
        if event.style.link:
            self.post_message(self.LinkWanted(event.style.link))
            return
        is_mark = event.y == window.height - 1 and event.x >= self.size.width - _MARK
        if window.anchor is not None and is_mark:
            self.action_scroll_end()
            return
        index, line = place
        laid = window.rows.laid_out(index)
        part = laid.parts[laid.part_at(line)]
        if self._cursor.is_out:
            self._cursor.put_on(laid, part)
        within = line - laid.starts[laid.part_at(line)]
        if within == 0 and part.level is not None:
            self._fold(index, part.key, part.next_level if part.level < OPEN else 0)
        elif part.is_cut and part.level == OPEN:
            self._fold(index, part.key, ALL)
        self._refresh_changed()

    def action_step(self, by: int) -> None:
        """Bring the cursor out, or move it to the part before or after."""
        if self._window is None or not self._is_ready or not len(self._window.rows.history):
            return
        shown = self._cursor.step(self._window, by)
        if shown is None:
            self.action_scroll_end()
        else:
            first, end = shown
            self._settle()
            window = self._window
            if first < window.top:
                self._go_to(first)
            elif end > window.top + window.height:
                self._go_to(min(first, end - window.height))
        self._refresh_changed()

    def action_put_away(self) -> None:
        """Put the cursor away."""
        self._cursor.put_away()
        self._refresh_changed()

    def action_open_part(self) -> None:
        """Open or close what the cursor is on."""
        found = self._cursor.found(self._window)
        if found is not None:
            index, part = found
            self._fold(index, part.key, part.next_level)

    def action_copy_part(self) -> None:
        """Copy the text of what the cursor is on."""
        found = self._cursor.found(self._window)
        if found is not None and self._window is not None:
            index, part = found
            text = raw_text(self._window.rows.history[index], part)
            self.post_message(self.CopyWanted(text))

    def action_go_to_file(self) -> None:
        """Go to the file that the tool under the cursor was about."""
        found = self._cursor.found(self._window)
        block = found[1].block if found else None
        path = path_of(block) if isinstance(block, ToolUseBlock) else None
        if path is not None:
            self.post_message(self.FileWanted(path))

    def _fold(self, index: int, key: int, level: int | None) -> None:
        window = self._window
        if window is None or level is None:
            return
        window.keep(index)
        window.rows.fold(index, key, level)
        window.settle()
        self._go_to(window.top)

    def _scroll_by(self, rows: int) -> None:
        if self._window is not None:
            self._go_to(self._window.top + rows)

    def action_scroll_up(self) -> None:
        """One row up."""
        self._scroll_by(-1)

    def action_scroll_down(self) -> None:
        """One row down."""
        self._scroll_by(1)

    def action_page_up(self) -> None:
        """A screen up, two rows of which stay in sight."""
        self._scroll_by(2 - self.size.height)

    def action_page_down(self) -> None:
        """A screen down, two rows of which stay in sight."""
        self._scroll_by(self.size.height - 2)

    def action_scroll_home(self) -> None:
        """To the oldest message that is loaded."""
        self._go_to(0)

    def action_scroll_end(self) -> None:
        """To the newest message, and follow it."""
        if self._window is not None:
            self._go_to(self._window.rows.total)
