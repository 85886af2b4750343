"""The transcript widget: a session's messages with keyboard and mouse navigation."""

from dataclasses import dataclass
from typing import ClassVar, Final

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message as TextualMessage

from tui.draw.line_parts import SHOW_ALL_HINT
from tui.transcript.layout import raw_text
from tui.transcript.letters import MATCHES, MOVES, PARTS, Letters, is_held
from tui.transcript.parts import ALL, CLOSED, OPEN
from tui.transcript.rows import HistoryRows
from tui.transcript.selection import select_row, select_word, stable_row
from tui.transcript.targets import Target, find_target_at, find_targets
from tui.transcript.view import TranscriptView
from tui.transcript.viewport import find_message_start

_WHEEL_ROWS: Final = 3
"""Rows per step of the mouse wheel."""

_JUMP_LABEL_WIDTH: Final = 8
"""Cells at the end of the last row that jump to the end when clicked."""


_ACTIONS: Final = {
    "j": "line(1)",
    "k": "line(-1)",
    "b": "page_up",
    " ": "page_down",
    "{": "message(-1)",
    "}": "message(1)",
    "n": "screen.do('find_next')",
    "N": "screen.do('find_previous')",
}
"""Actions of the keys that may be held down."""


class Transcript(TranscriptView, can_focus=True):
    """A session's messages; follows the newest one unless scrolled up.

    Some letters are commands; all others are posted as `Typed`, so that they reach the message
    box. Enter and `ctrl+up` show a cursor that moves over the parts of messages.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+up", "step(-1)", "Previous part", show=False, id="part_previous"),
        Binding("ctrl+down", "step(1)", "Next part", show=False, id="part_next"),
        Binding("k", "line(-1)", "Up", show=False),
        Binding("j", "line(1)", "Down", show=False),
        Binding("ctrl+u", "half_page(-1)", "Half a page up", show=False),
        Binding("ctrl+d", "half_page(1)", "Half a page down", show=False),
        Binding("b", "page_up", "Page up", show=False),
        Binding("space", "page_down", "Page down", show=False),
        Binding("left_curly_bracket", "message(-1)", "Previous message", show=False),
        Binding("right_curly_bracket", "message(1)", "Next message", show=False),
        Binding("slash", "screen.do('find')", "Find", show=False),
        Binding("enter", "open_part", "Expand or collapse", show=False, id="part_open"),
        Binding("c,y", "copy_part", "Copy", show=False, id="part_copy"),
        Binding("o", "go_to_file", "Go to the file", show=False, id="part_file"),
        Binding("g", "scroll_home", "Oldest", show=False, id="transcript_oldest"),
        Binding("G", "scroll_end", "Newest", show=False, id="transcript_newest"),
        Binding("v", "screen.do('whole_output')", "Full output", show=False, id="part_output"),
        Binding("n", "screen.do('find_next')", "Newer match", show=False, id="find_newer"),
        Binding("N", "screen.do('find_previous')", "Older match", show=False, id="find_older"),
        Binding("escape", "hide_cursor", "Hide the cursor", show=False, id="part_hide_cursor"),
    ]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._letters = Letters()

    @dataclass
    class Typed(TextualMessage):
        """A printable key was pressed."""

        character: str

    @dataclass
    class CopyWanted(TextualMessage):
        """The text of a part should be copied."""

        text: str

    @dataclass
    class Opened(TextualMessage):
        """A file or web page should be opened; several targets leave the choice to the user."""

        targets: list[Target]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Enable the cursor's commands while it is visible."""
        if action in ("copy_part", "go_to_file"):
            return self.cursor.is_visible
        if action == "hide_cursor":
            return self.cursor.is_visible or bool(self.finder.query)
        return super().check_action(action, parameters)

    takes_bursts = True
    """A burst of letters is text: commands arrive alone."""

    async def on_key(self, event: events.Key) -> None:
        """Post letters as `Typed`, unless they are commands."""
        text = event.character
        if not event.is_printable or not text:
            return
        if len(text) == 1 and text in self._commands:
            self._letters.press(text, event.time)
            return
        event.stop()
        event.prevent_default()
        if len(text) > 1 and text[0] in self._commands and is_held(text):
            for _ in text:
                await self.run_action(_ACTIONS[text[0]])
        else:
            self.post_message(self.Typed(self._letters.take_word(event.time) + text))

    @property
    def _commands(self) -> frozenset[str]:
        """The letters that are commands now."""
        matches = MATCHES if self.finder.query else frozenset[str]()
        return MOVES | matches | (PARTS if self.cursor.is_visible else frozenset())

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Scroll immediately, without animation."""
        event.stop()
        event.prevent_default()
        self._scroll_by(_WHEEL_ROWS)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Scroll immediately, without animation."""
        event.stop()
        event.prevent_default()
        self._scroll_by(-_WHEEL_ROWS)

    def on_focus(self) -> None:
        """Show the cursor."""
        self.refresh_changed()

    def on_blur(self) -> None:
        """Hide the cursor."""
        self._letters.forget()
        self.refresh_changed()

    def on_click(self, event: events.Click) -> None:
        """Expand or collapse, follow links, move the cursor; the label jumps to the end."""
        viewport = self.viewport
        position = viewport.position_at(event.y) if viewport else None
        if event.chain > 1:
            event.prevent_default()  # Textual would select the whole conversation.
            if viewport is not None and position is not None:
                self._select(viewport.rows, *position, event)
            return
        if viewport is None or position is None or self.text_selection is not None:
            return
        if event.style.link:
            self.post_message(self.Opened([Target(href=event.style.link)]))
            return
        is_jump_label = (
            event.y == viewport.height - 1 and event.x >= self.size.width - _JUMP_LABEL_WIDTH
        )
        if viewport.anchor is not None and is_jump_label:
            self.action_scroll_end()
            return
        index, line = position
        layout = viewport.rows.get_layout(index)
        strip = layout.strips[line]
        if target := find_target_at(strip.text, len(strip.crop(0, event.x).text)):
            self.post_message(self.Opened([target]))
            return
        part = layout.parts[layout.index_at(line)]
        if self.cursor.is_visible:
            self.cursor.move_to(layout, part)
        row_in_part = line - layout.starts[layout.index_at(line)]
        if row_in_part == 0 and part.level is not None:
            self._set_level(index, part.key, OPEN if part.level == CLOSED else CLOSED)
        elif part.has_more and SHOW_ALL_HINT in layout.strips[line].text:
            self._set_level(index, part.key, ALL)
        self.refresh_changed()

    def _select(self, rows: HistoryRows, index: int, line: int, event: events.Click) -> None:
        """Select a word on a double click, a row on a triple click."""
        strip, row = rows.get_layout(index).strips[line], stable_row(rows, index, line)
        found = select_word(strip, row, event.x) if event.chain == 2 else select_row(strip, row)
        if found is not None:
            self.screen.selections = {self: found}

    def action_line(self, by: int) -> None:
        """Scroll by a row, or move the cursor if it is visible."""
        if self.cursor.is_visible:
            self.action_step(by)
        else:
            self._scroll_by(by)

    def action_half_page(self, by: int) -> None:
        """Scroll by half a screen."""
        self._scroll_by(by * max(1, self.size.height // 2))

    def action_message(self, by: int) -> None:
        """Scroll to the beginning of the previous or next message."""
        viewport = self.viewport
        if viewport is None or not self.is_ready or not len(viewport.rows.history):
            return
        row = find_message_start(viewport, by)
        if row is None:
            self.action_scroll_end()
        else:
            self.go_to(row)

    def action_step(self, by: int) -> None:
        """Show the cursor, or move it to the previous or next part."""
        if self.viewport is None or not self.is_ready or not len(self.viewport.rows.history):
            return
        shown = self.cursor.step(self.viewport, by)
        if shown is None:
            self.action_scroll_end()
        else:
            first, end = shown
            self.settle()
            viewport = self.viewport
            if first < viewport.top:
                self.go_to(first)
            elif end > viewport.top + viewport.height:
                self.go_to(min(first, end - viewport.height))
        self.refresh_changed()

    def set_query(self, text: str) -> None:
        """Highlight matches of `text`; `find` moves between them."""
        self.finder.set_query(text)
        self.refresh_changed()

    def find(self, by: int) -> bool:
        """Go to the next or previous match; whether there is one."""
        viewport = self.viewport
        row = self.finder.step(viewport, by) if viewport is not None else None
        if viewport is None or row is None:
            return False
        viewport.settle()
        if not viewport.top <= row < viewport.top + viewport.height - 1:
            self.go_to(row - viewport.height // 2)
        self.refresh_changed()
        return True

    def action_hide_cursor(self) -> None:
        """Hide the cursor and end the search."""
        self.cursor.hide()
        self.finder.set_query("")
        self.refresh_changed()

    def action_open_part(self) -> None:
        """Toggle the expansion of the part under the cursor; show the cursor if it is hidden."""
        if not self.cursor.is_visible:
            self.action_step(-1)
            return
        found = self.cursor.find_part(self.viewport)
        if found is not None:
            index, part = found
            self._set_level(index, part.key, part.next_level)

    def action_copy_part(self) -> None:
        """Copy the text of the part under the cursor."""
        found = self.cursor.find_part(self.viewport)
        if found is not None and self.viewport is not None:
            index, part = found
            text = raw_text(self.viewport.rows.history[index], part)
            self.post_message(self.CopyWanted(text))

    def action_go_to_file(self) -> None:
        """Open the file or web page that the part under the cursor mentions."""
        found = self.cursor.find_part(self.viewport)
        if found is not None and self.viewport is not None:
            index, part = found
            message = self.viewport.rows.history[index]
            self.post_message(self.Opened(find_targets(message, part)))

    def _set_level(self, index: int, key: int, level: int | None) -> None:
        viewport = self.viewport
        if viewport is None or level is None:
            return
        viewport.anchor_to(index)
        viewport.rows.set_level(index, key, level)
        viewport.settle()
        self.go_to(viewport.top)

    def _scroll_by(self, rows: int) -> None:
        if self.viewport is not None:
            self.go_to(self.viewport.top + rows)

    def action_scroll_up(self) -> None:
        """Scroll up one row."""
        self._scroll_by(-1)

    def action_scroll_down(self) -> None:
        """Scroll down one row."""
        self._scroll_by(1)

    def action_page_up(self) -> None:
        """Scroll up one screen; two rows stay visible."""
        self._scroll_by(2 - self.size.height)

    def action_page_down(self) -> None:
        """Scroll down one screen; two rows stay visible."""
        self._scroll_by(self.size.height - 2)

    def action_scroll_home(self) -> None:
        """Scroll to the oldest loaded message."""
        self.go_to(0)

    def action_scroll_end(self) -> None:
        """Scroll to the newest message and follow it."""
        if self.viewport is not None:
            self.go_to(self.viewport.rows.total)
