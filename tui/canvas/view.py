"""A single widget that draws all sessions as a list or a grid, with a cursor and marks.

It draws only visible cells, so twenty streaming sessions cost their visible cells and never a
layout of the screen.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Final

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message as TextualMessage
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from tui.canvas.cells import Cell
from tui.canvas.lines import Drawn, Layout, rows
from tui.draw.colors import Palette
from tui.draw.line_parts import to_strip, wrap_prose
from tui.draw.motion import Motion
from tui.draw.status_icons import StatusIcon

Lines = Callable[[str], tuple[str, ...]]
"""Returns the last lines of a session."""
Activities = Callable[[str], str]
"""Returns what a session does at the moment, and for how long; '' if it does not run."""

_WHEEL: Final = 4


class CanvasView(ScrollView, can_focus=True):
    """Cells of sessions; the cursor stays on its session when cells are reordered."""

    DEFAULT_CSS = (
        "CanvasView { overflow-x: hidden; overflow-y: scroll; scrollbar-size-vertical: 1; }"
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1, 0)", show=False),
        Binding("down", "move(1, 0)", show=False),
        Binding("left", "move(0, -1)", show=False),
        Binding("right", "move(0, 1)", show=False),
        Binding("pageup", "move_page(-1)", show=False),
        Binding("pagedown", "move_page(1)", show=False),
        Binding("home", "move_to(0)", show=False),
        Binding("end", "move_to(-1)", show=False),
        Binding("tab", "mark(1)", show=False),
        Binding("shift+tab", "mark(-1)", show=False),
        Binding("enter", "open", show=False),
    ]

    takes_bursts = True

    class Opened(TextualMessage):
        """Posted when a session was chosen."""

        def __init__(self, session_id: str) -> None:
            super().__init__()
            self.session_id = session_id

    class Typed(TextualMessage):
        """Posted for a key that changes the filter, including `backspace`."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    class Marked(TextualMessage):
        """Posted when the marks or the cursor have changed."""

    @dataclass
    class LinesWanted(TextualMessage):
        """Posted when sessions became visible whose lines are unknown."""

        session_ids: list[str]

    def __init__(
        self,
        palette: Palette,
        layout_name: str,
        lines: Lines,
        agent: Callable[[Cell], str],
        activity: Activities,
        *,
        moves: bool,
    ) -> None:
        super().__init__(id="canvas")
        self.cells: list[Cell] = []
        self.marked: set[str] = set()
        self.here = 0
        """The index of the cell under the cursor."""
        self.empty = ""
        """The text shown if there are no cells."""
        self._palette = palette
        self._layout_name = layout_name
        self._lines = lines
        self._agent = agent
        self._activity = activity
        self._moves = moves
        self._cell_layout = Layout.of(layout_name, 80)
        self._painted: dict[str, tuple[Drawn, list[Strip]]] = {}

    def on_mount(self) -> None:
        """Count the seconds of what runs."""
        self._motion = Motion(self, self._turn, self.refresh_changed, moves=self._moves)

    # Called by the screen -----------------------------------------------------------------------

    def show(self, cells: list[Cell]) -> None:
        """Show these cells; the cursor and the marks stay with their sessions."""
        current = self.session_id
        moved = [cell.id for cell in cells] != [cell.id for cell in self.cells]
        self.cells = cells
        ids = {cell.id: index for index, cell in enumerate(cells)}
        self.marked &= ids.keys()
        self.here = ids.get(current or "", min(self.here, max(len(cells) - 1, 0)))
        self._painted = {key: kept for key, kept in self._painted.items() if key in ids}
        if moved or not cells:  # without cells the text may have changed
            self._motion.wake()
            self._measure()
            self.refresh()
            self.post_message(self.Marked())
        else:
            self.refresh_changed()

    def refresh_changed(self) -> None:
        """Redraw the visible cells that have changed."""
        self._motion.wake()
        for index in self._visible():
            painted = self._painted.get(self.cells[index].id)
            if painted is None or painted[0] != self._drawn(index):
                self.refresh(self._region(index))

    def set_layout(self, name: str) -> None:
        """Switch to a list or a grid."""
        self._layout_name = name
        self._measure()
        self._show_cursor()
        self.refresh()

    def set_palette(self, palette: Palette) -> None:
        """Redraw in other colors."""
        if palette is not self._palette:
            self._palette = palette
            self._painted.clear()
            self.refresh()

    @property
    def cursor_row(self) -> int:
        """The row of the cell under the cursor."""
        return self.here // self._cell_layout.columns * self._cell_layout.height

    @property
    def session_id(self) -> str | None:
        """The session under the cursor."""
        return self.cells[self.here].id if self.here < len(self.cells) else None

    @property
    def chosen(self) -> list[Cell]:
        """The marked cells, or else the one under the cursor."""
        marked = [cell for cell in self.cells if cell.id in self.marked]
        return marked or self.cells[self.here : self.here + 1]

    # Geometry -----------------------------------------------------------------------------------

    def on_resize(self) -> None:
        """Lay the cells out again."""
        self._measure()
        self._show_cursor()
        self.refresh()

    def _measure(self) -> None:
        layout = self._cell_layout = Layout.of(self._layout_name, max(self.size.width, 20))
        height = -(-len(self.cells) // layout.columns) * layout.height
        self._painted.clear()
        size = Size(self.size.width, height)
        if size != self.virtual_size:
            # An ordinary assignment would lay out the whole screen.
            self.set_reactive(Widget.virtual_size, size)
            self.vertical_scrollbar.window_virtual_size = height
            self._scroll(self.scroll_offset.y)
        self._request_lines()

    def _scroll(self, row: int) -> None:
        last = max(self.virtual_size.height - self.size.height, 0)
        self.scroll_target_y = self.scroll_y = max(0, min(row, last))

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Request lines of newly visible cells."""
        super().watch_scroll_y(old_value, new_value)
        self._motion.wake()
        self._request_lines()
        self.refresh()

    def _visible(self) -> range:
        layout, top = self._cell_layout, self.scroll_offset.y
        first = top // layout.height * layout.columns
        end = -(-(top + self.size.height) // layout.height) * layout.columns
        return range(min(first, len(self.cells)), min(end, len(self.cells)))

    def _request_lines(self) -> None:
        unknown = [cell.id for cell in map(self.cells.__getitem__, self._visible())]
        unknown = [session_id for session_id in unknown if not self._lines(session_id)]
        if unknown:
            self.post_message(self.LinesWanted(unknown))

    def _region(self, index: int) -> Region:
        layout = self._cell_layout
        row, column = divmod(index, layout.columns)
        top = row * layout.height - self.scroll_offset.y
        return Region(column * layout.width, top, layout.width, layout.height)

    def _index_at(self, x: int, y: int) -> int | None:
        layout = self._cell_layout
        column = min(x // layout.width, layout.columns - 1)
        index = (y + self.scroll_offset.y) // layout.height * layout.columns + column
        return index if 0 <= index < len(self.cells) else None

    # Drawing ------------------------------------------------------------------------------------

    def render_line(self, y: int) -> Strip:
        """Draw a row of the widget from one row of each cell in it."""
        layout, width, kind = self._cell_layout, self.size.width, self._palette.kind
        if not self.cells:
            text = wrap_prose(self.empty, max(width - 4, 8), self._palette.muted)
            line = text[y - 1] if 0 < y <= len(text) else []
            return to_strip([Segment("  "), *line], width, kind)
        row, offset = divmod(y + self.scroll_offset.y, layout.height)
        first = row * layout.columns
        indexes = range(first, min(first + layout.columns, len(self.cells)))
        strip = Strip.join([self._row(index, offset) for index in indexes])
        return Strip.join([strip, to_strip([], max(width - strip.cell_length, 0), kind)])

    def _drawn(self, index: int) -> Drawn:
        cell = self.cells[index]
        return Drawn(
            cell,
            self._agent(cell),
            self._lines(cell.id)[-self._cell_layout.lines :],
            self._activity(cell.id) if cell.icon is StatusIcon.RUNNING else "",
            cell.id in self.marked,
            index == self.here,
        )

    def _turn(self) -> int:
        """Draw the visible spinners again; how many there are."""
        if self.app.screen is not self.screen:
            return 0
        running = [i for i in self._visible() if self.cells[i].icon is StatusIcon.RUNNING]
        if self._moves:
            for index in running:
                region, first = self._region(index), self._cell_layout.first_row
                self.refresh(Region(region.x, region.y + first, region.width, 1))
        return len(running)

    def _row(self, index: int, offset: int) -> Strip:
        row = self._rows(index)[offset]
        turns = self._moves and offset == self._cell_layout.first_row
        if not turns or self.cells[index].icon is not StatusIcon.RUNNING:
            return row
        return self._motion.draw(row)

    def _rows(self, index: int) -> list[Strip]:
        drawn, layout = self._drawn(index), self._cell_layout
        kept = self._painted.get(drawn.cell.id)
        if kept is None or kept[0] != drawn:
            kept = self._painted[drawn.cell.id] = (drawn, rows(drawn, layout, self._palette))
        return kept[1]

    # Keys and the mouse -------------------------------------------------------------------------

    def on_key(self, event: events.Key) -> None:
        """Treat letters as filter input, never as commands."""
        is_letter = event.is_printable and event.character
        if is_letter or event.key == "backspace":
            event.stop()
            event.prevent_default()
            self.post_message(
                self.Typed(event.character if is_letter and event.character else event.key)
            )

    def on_click(self, event: events.Click) -> None:
        """Move the cursor; a double click opens, ctrl+click marks."""
        index = self._index_at(event.x, event.y)
        if index is None:
            return
        self.action_move_to(index)
        if event.ctrl:
            self._toggle(index)
        elif event.chain > 1:
            self.action_open()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Scroll without animation."""
        event.stop()
        event.prevent_default()
        self._scroll(self.scroll_offset.y + _WHEEL)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Scroll without animation."""
        event.stop()
        event.prevent_default()
        self._scroll(self.scroll_offset.y - _WHEEL)

    def action_move(self, down: int, right: int) -> None:
        """Move the cursor by cells, not past an edge."""
        index = self.here + down * self._cell_layout.columns + right
        if 0 <= index < len(self.cells):
            self.action_move_to(index)

    def action_move_page(self, by: int) -> None:
        """Move the cursor by a screen of cells."""
        layout = self._cell_layout
        step = max(self.size.height // layout.height, 1) * layout.columns
        self.action_move_to(max(0, min(self.here + by * step, len(self.cells) - 1)))

    def action_move_to(self, index: int) -> None:
        """Move the cursor to a cell; -1 is the last."""
        if not self.cells:
            return
        self.here = index % len(self.cells)
        self._show_cursor()
        self.refresh_changed()
        self.post_message(self.Marked())

    def _show_cursor(self) -> None:
        region, top = self._region(self.here), self.scroll_offset.y
        if region.y < 0 or region.height > self.size.height:
            self._scroll(top + region.y)
        elif region.bottom > self.size.height:
            self._scroll(top + region.bottom - self.size.height)

    def action_mark(self, by: int) -> None:
        """Toggle the mark of the cell under the cursor, and move on."""
        if self.cells:
            self._toggle(self.here)
            self.action_move_to(max(0, min(self.here + by, len(self.cells) - 1)))

    def _toggle(self, index: int) -> None:
        self.marked ^= {self.cells[index].id}
        self.refresh_changed()
        self.post_message(self.Marked())

    def unmark(self) -> None:
        """Clear all marks."""
        self.marked.clear()
        self.refresh_changed()
        self.post_message(self.Marked())

    def action_open(self) -> None:
        """Open the session under the cursor."""
        if self.session_id is not None:
            self.post_message(self.Opened(self.session_id))
