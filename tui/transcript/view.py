"""The base of the transcript widget: draws a session's messages as lines, however many there are.

It draws rows and updates the scroll bar. `rows` maps rows to messages, `viewport` determines which
are visible, and `widget` adds keys and the mouse.
"""

from collections.abc import Mapping
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
from model.domain.sessions import Session
from tui.draw.colors import Palette
from tui.draw.line_parts import to_strip, wrap_prose
from tui.draw.wrap import Line
from tui.store.history import History
from tui.transcript.cursor import Cursor
from tui.transcript.find import Finder
from tui.transcript.parts import BODY_INDENT, NO_KEYS, ExpansionState, RenderContext
from tui.transcript.rows import HistoryRows
from tui.transcript.scrollbar import update_scrollbar
from tui.transcript.selection import highlight_selection, selected_text, stable_row
from tui.transcript.strip_cache import StripCache
from tui.transcript.viewport import Anchor, Viewport

_LOAD_DISTANCE: Final = 2
"""Older messages are requested when the first row is less than this many screens away."""

_EMPTY_HINT: Final = "No messages yet. Write below what you want done; enter sends it to the agent."
_DEMO_HINT: Final = (
    "This agent is a demonstration. Write anything below and press enter for a short tour, "
    "or /demo help for everything it can show."
)


class TranscriptView(ScrollView):
    """The messages of one session, newest at the bottom; follows new ones unless scrolled up."""

    DEFAULT_CSS = """
    TranscriptView {
        overflow-x: hidden;
        overflow-y: scroll;
        scrollbar-size-vertical: 1;
    }
    """

    @dataclass
    class OlderWanted(TextualMessage, namespace="transcript"):
        """Older messages are needed: the first loaded one is close to the visible rows."""

        session_id: str

    def __init__(
        self, *, name: str | None = None, id: str | None = None, classes: str | None = None
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self.viewport: Viewport | None = None
        """The visible rows; `None` before a session is shown."""
        self._anchors_by_session: dict[str, Anchor | None] = {}
        self._expansion_states: dict[str, ExpansionState] = {}
        self.cursor = Cursor()
        """Visible while the widget has focus."""
        self.finder = Finder()
        """Highlights the matches of the search."""
        self._hint = _EMPTY_HINT
        self._has_news = False
        self._older_requested_at = -1
        self._selection: Selection | None = None
        self._is_syncing = False
        self._painted: list[Strip] = []
        self._painted_top = -1
        self._strip_cache = StripCache()

    # Updates --------------------------------------------------------------------------------------

    def show(
        self,
        history: History,
        palette: Palette,
        session: Session,
        *,
        root: str = "",
        catalog: Catalog = BUILT_IN,
        keys: Mapping[str, str] = NO_KEYS,
    ) -> None:
        """Show a session at its last scroll position, by default its end.

        `root` is the worktree's path; paths inside it are shown relative to it. `keys` are those
        of the actions that the change card offers.
        """
        if self.viewport is not None:
            self._anchors_by_session[self.viewport.rows.history.session_id] = self.viewport.anchor
        anchor = self._anchors_by_session.get(history.session_id)
        if anchor is None:
            history.drop_oldest()
        rows = HistoryRows(
            history,
            RenderContext(self.size.width or 80, palette, root, catalog, keys),
            self._expansion_states,
        )
        rows.set_request(session.request)
        self.viewport = Viewport(rows, self.size.height, anchor)
        self.cursor.hide()
        self.finder.set_query("")
        self._has_news, self._older_requested_at = False, -1
        self._hint = _DEMO_HINT if session.backend == "demo" else _EMPTY_HINT
        if self._selection is not None:
            self.screen.clear_selection()
        self.settle()
        self.refresh()

    @property
    def position(self) -> tuple[str, int] | None:
        """The message that keeps its position, and its rows above the top; `None` at the end."""
        anchor = self.viewport.anchor if self.viewport is not None else None
        return (anchor.message_id, anchor.above) if anchor is not None else None

    def restore_position(self, session_id: str, message_id: str, above: int) -> None:
        """Show the session at this position when it is shown for the first time."""
        self._anchors_by_session.setdefault(session_id, Anchor(0, message_id, above))

    def update_messages(self, first_index: int) -> None:
        """Redraw messages from `first_index` on; 0 after older ones were loaded."""
        viewport = self.viewport
        if viewport is None:
            return
        if first_index == 0:
            self._older_requested_at = -1
        elif viewport.anchor is not None:
            self._has_news = True
        is_at_end = viewport.anchor is None and self._selection is None
        if is_at_end and viewport.rows.history.drop_oldest():
            first_index = 0
        viewport.rows.update(first_index)
        self.settle()
        self.refresh_changed()

    def set_session(self, session: Session) -> None:
        """Update the request that waits for the user."""
        if self.viewport is not None:
            self.viewport.rows.set_request(session.request)
            self.settle()
            self.refresh_changed()

    def set_palette(self, palette: Palette) -> None:
        """Use other colors."""
        if self.viewport is not None and palette is not self.viewport.rows.context.palette:
            rows = self.viewport.rows
            rows.set_context(replace(rows.context, palette=palette))
            self.settle()
            self.refresh()

    def set_keys(self, keys: Mapping[str, str]) -> None:
        """Offer other actions on the change card."""
        if self.viewport is not None and keys != self.viewport.rows.context.keys:
            rows = self.viewport.rows
            rows.set_context(replace(rows.context, keys=keys))
            self.settle()
            self.refresh()

    @property
    def is_following(self) -> bool:
        """Whether it follows the newest row."""
        return self.viewport is None or self.viewport.anchor is None

    @property
    def layouts(self) -> int:
        """The number of layouts computed for the current session."""
        return self.viewport.rows.layouts if self.viewport else 0

    # Scrolling ------------------------------------------------------------------------------------

    def on_resize(self) -> None:
        """Keep the visible message in its position when lines wrap differently."""
        viewport = self.viewport
        if viewport is None or not self.size.width:
            return
        viewport.height = self.size.height
        if self.size.width != viewport.rows.context.width:
            viewport.set_width(self.size.width)
        self.settle()
        self.refresh()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Follow the scroll bar."""
        super().watch_scroll_y(old_value, new_value)
        if not self._is_syncing and self.is_ready:
            self.go_to(round(new_value))

    @property
    def is_ready(self) -> bool:
        """Whether the rows are those of the widget's present size."""
        viewport = self.viewport
        if viewport is None or viewport.height <= 0:
            return False
        # Between a resize and `on_resize`, Textual itself moves the scroll bar; the user did not
        # scroll away from the end.
        return (viewport.rows.context.width, viewport.height) == (self.size.width, self.size.height)

    def go_to(self, row: int) -> None:
        """Scroll so that `row` is the first one; at the end of the rows, follow the end."""
        if self.viewport is not None and self.is_ready:
            self.viewport.go_to(row)
            self._sync_scrollbar()
            self.refresh_changed()

    def reveal(self, message_id: str) -> None:
        """Scroll a loaded message to the top; also works before the widget has its size."""
        if self.viewport is None:
            return
        history = self.viewport.rows.history
        index = next((at for at in range(len(history)) if history[at].id == message_id), None)
        if index is not None:
            self.viewport.rows.unfold(index)
            self.viewport.anchor = Anchor(index, message_id, 0)
            self.settle()
            self.refresh_changed()

    def settle(self) -> None:
        """Update the viewport after rows were added, changed or removed."""
        if self.viewport is not None and self.is_ready:
            self.viewport.settle()
            self._sync_scrollbar()

    def _sync_scrollbar(self) -> None:
        """Synchronize the scroll bar and the virtual size with the viewport."""
        viewport = self.viewport
        assert viewport is not None
        size = Size(self.size.width, viewport.rows.total)
        if size != self.virtual_size:
            # A normal assignment would lay out the whole screen for each new row.
            self.set_reactive(Widget.virtual_size, size)
        update_scrollbar(self.vertical_scrollbar, size.height, viewport.top)
        self._is_syncing = True
        self.scroll_target_y = self.scroll_y = viewport.top
        self._is_syncing = False
        if viewport.anchor is None:
            self._has_news = False
        history = viewport.rows.history
        is_near = viewport.top < _LOAD_DISTANCE * viewport.height and history.older_count > 0
        if is_near and self._older_requested_at != len(history.messages):
            self._older_requested_at = len(history.messages)
            self.post_message(self.OlderWanted(history.session_id))

    # Drawing -------------------------------------------------------------------------------------

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw a region. Rows are complete, so only the line filters are applied."""
        self._painted_top = self.viewport.top if self.viewport else -1
        rows = [self._strip_at(y) for y in crop.line_range]
        self._painted += [Strip([])] * (crop.bottom - len(self._painted))
        self._painted[crop.y : crop.bottom] = rows
        background = self.background_colors[1]
        strips = self._strip_cache.get(rows, self.get_line_filters(), background)
        if crop.x or crop.right < self.size.width:
            return [strip.crop(crop.x, crop.right) for strip in strips]
        return strips

    def render_line(self, y: int) -> Strip:
        """A row of the viewport with text offsets in each cell, for mouse selection."""
        strip = self._strip_at(y)
        position = self.viewport.position_at(y) if self.viewport else None
        if self.viewport is None or position is None:
            return strip
        return strip.apply_offsets(0, stable_row(self.viewport.rows, *position))

    def refresh_changed(self) -> None:
        """Redraw only the rows that differ from what was drawn last."""
        top = self.viewport.top if self.viewport else -1
        if top != self._painted_top or len(self._painted) < self.size.height:
            self.refresh()
            return
        for y in range(self.size.height):
            strip, painted = self._strip_at(y), self._painted[y]
            if strip is not painted and strip != painted:
                self.refresh(Region(0, y, self.size.width, 1))

    def _strip_at(self, y: int) -> Strip:
        width, viewport = self.size.width, self.viewport
        position = viewport.position_at(y) if viewport else None
        if viewport is None or position is None:
            return self._hint_at(y, width)
        strip = self._row_at(viewport.rows, *position)
        if strip.cell_length != width:  # between a resize and the new layout
            strip = strip.adjust_cell_length(width, self.rich_style)
        if viewport.anchor is not None and y == viewport.height - 1:
            return self._with_jump_label(strip, viewport.rows.context)
        return strip

    def _row_at(self, rows: HistoryRows, index: int, line: int) -> Strip:
        layout, context = rows.get_layout(index), rows.context
        strip = layout.strips[min(line, len(layout.strips) - 1)]
        if self.has_focus and self.cursor.is_at(layout, line):
            mark = Segment(context.glyphs.cursor, context.styles.accent)
            kind = context.palette.kind
            strip = Strip.join([to_strip([mark], 1, kind), strip.crop(1)])
        strip = self.finder.highlight(strip, context.styles.news)
        if self._selection is None:
            return strip
        return highlight_selection(
            strip, stable_row(rows, index, line), self._selection, context.styles.selected
        )

    def _hint_at(self, y: int, width: int) -> Strip:
        """The hint of an empty transcript."""
        rows = self.viewport.rows if self.viewport else None
        if rows is None:
            return Strip.blank(width, self.rich_style)
        lines: list[Line] = []
        if rows.history.is_loaded and not len(rows.history):
            lines = wrap_prose(self._hint, width - 2 * BODY_INDENT, rows.context.palette.muted)
        line = [Segment(" " * BODY_INDENT), *lines[y - 1]] if 0 < y <= len(lines) else []
        return to_strip(line, width, rows.context.palette.kind)

    def _with_jump_label(self, strip: Strip, context: RenderContext) -> Strip:
        """The last row with a label that jumps to the end, while the end is not visible."""
        text = f" {context.glyphs.down} {'new' if self._has_news else 'end'} "
        style = context.styles.news if self._has_news else context.palette.code_inline
        rest = max(strip.cell_length - cell_len(text) - 1, 0)
        mark = to_strip([Segment(text, style)], strip.cell_length - rest, context.palette.kind)
        return Strip.join([strip.crop(0, rest), mark])

    # Selection ------------------------------------------------------------------------------------

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text."""
        return (selected_text(self.viewport.rows, selection), "\n") if self.viewport else None

    def selection_updated(self, selection: Selection | None) -> None:
        """Highlight the new selection."""
        self._selection = selection
        self.refresh_changed()
