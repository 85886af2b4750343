"""The transcript: a session's messages as a person moves through them, by keys and by mouse."""

from dataclasses import dataclass
from typing import ClassVar, Final

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message as TextualMessage

from tui.draw.line_parts import SHOWS_ALL
from tui.transcript.layout import raw_text
from tui.transcript.parts import ALL, CLOSED, OPEN
from tui.transcript.rows import Rows
from tui.transcript.selection import row_of, stable_row, word_at
from tui.transcript.targets import Target, target_at, targets_of
from tui.transcript.view import TranscriptView

_WHEEL: Final = 3
"""Rows for each step of the mouse's wheel."""

_MARK: Final = 8
"""Cells at the end of the last row that jump to the end."""

_COMMANDS: Final = frozenset({"j", "k", "c", "o", "v", "g", "G"})
_FINDS: Final = frozenset({"n", "N"})


class Transcript(TranscriptView, can_focus=True):
    """A session's messages; it follows the newest until one scrolls up.

    Printable keys are `Typed`, so that they reach the message box. `ctrl+up` brings out a cursor
    that walks over the parts of messages; while it is out, some letters are its commands.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+up,k", "step(-1)", "Part before", show=False, id="part_previous"),
        Binding("ctrl+down,j", "step(1)", "Part after", show=False, id="part_next"),
        Binding("enter", "open_part", "Open or close", show=False, id="part_open"),
        Binding("c", "copy_part", "Copy", show=False, id="part_copy"),
        Binding("o", "go_to_file", "Go to the file", show=False, id="part_file"),
        Binding("g", "scroll_home", "Oldest", show=False, id="transcript_oldest"),
        Binding("G", "scroll_end", "Newest", show=False, id="transcript_newest"),
        Binding("v", "screen.do('whole_output')", "Whole output", show=False, id="part_output"),
        Binding("n", "screen.do('find_next')", "Newer find", show=False, id="find_newer"),
        Binding("N", "screen.do('find_previous')", "Older find", show=False, id="find_older"),
        Binding("escape", "put_away", "Put the cursor away", show=False, id="part_put_away"),
    ]

    @dataclass
    class Typed(TextualMessage):
        """A printable key was pressed."""

        character: str

    @dataclass
    class CopyWanted(TextualMessage):
        """A part was chosen to be copied."""

        text: str

    @dataclass
    class Opened(TextualMessage):
        """A file or a page was chosen, or a part that speaks of several."""

        targets: list[Target]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The cursor's commands exist while it is out."""
        if action in ("open_part", "copy_part", "go_to_file"):
            return self.cursor.is_out
        if action == "put_away":
            return self.cursor.is_out or bool(self.finder.text)
        return super().check_action(action, parameters)

    @property
    def takes_bursts(self) -> bool:
        """Whether letters that come together are none of the cursor's."""
        return not self.cursor.is_out and not self.finder.text

    def on_key(self, event: events.Key) -> None:
        """Hand letters on, unless they are the cursor's."""
        is_command = self.cursor.is_out and event.character in _COMMANDS
        is_command |= bool(self.finder.text) and event.character in _FINDS
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
        self.refresh_changed()

    def on_blur(self) -> None:
        """Hide the cursor."""
        self.refresh_changed()

    def on_click(self, event: events.Click) -> None:
        """Open what folds, follow links, put the cursor there; the mark jumps to the end."""
        window = self.window
        place = window.place(event.y) if window else None
        if event.chain > 1:
            event.prevent_default()  # Textual would select the whole conversation.
            if window is not None and place is not None:
                self._select(window.rows, *place, event)
            return
        if window is None or place is None or self.text_selection is not None:
            return
        if event.style.link:
            self.post_message(self.Opened([Target(href=event.style.link)]))
            return
        is_mark = event.y == window.height - 1 and event.x >= self.size.width - _MARK
        if window.anchor is not None and is_mark:
            self.action_scroll_end()
            return
        index, line = place
        laid = window.rows.laid_out(index)
        strip = laid.strips[line]
        if target := target_at(strip.text, len(strip.crop(0, event.x).text)):
            self.post_message(self.Opened([target]))
            return
        part = laid.parts[laid.part_at(line)]
        if self.cursor.is_out:
            self.cursor.put_on(laid, part)
        within = line - laid.starts[laid.part_at(line)]
        if within == 0 and part.level is not None:
            self._fold(index, part.key, OPEN if part.level == CLOSED else CLOSED)
        elif part.is_cut and SHOWS_ALL in laid.strips[line].text:
            self._fold(index, part.key, ALL)
        self.refresh_changed()

    def _select(self, rows: Rows, index: int, line: int, event: events.Click) -> None:
        """Select the word that was clicked twice, or the row that was clicked three times."""
        strip, row = rows.laid_out(index).strips[line], stable_row(rows, index, line)
        found = word_at(strip, row, event.x) if event.chain == 2 else row_of(strip, row)
        if found is not None:
            self.screen.selections = {self: found}

    def action_step(self, by: int) -> None:
        """Bring the cursor out, or move it to the part before or after."""
        if self.window is None or not self.is_ready or not len(self.window.rows.history):
            return
        shown = self.cursor.step(self.window, by)
        if shown is None:
            self.action_scroll_end()
        else:
            first, end = shown
            self.settle()
            window = self.window
            if first < window.top:
                self.go_to(first)
            elif end > window.top + window.height:
                self.go_to(min(first, end - window.height))
        self.refresh_changed()

    def seek(self, text: str) -> None:
        """Show where these words stand; `find` goes to them."""
        self.finder.seek(text)
        self.refresh_changed()

    def find(self, by: int) -> bool:
        """Go to the next find, or to the one before; whether there is one."""
        window = self.window
        row = self.finder.step(window, by) if window is not None else None
        if window is None or row is None:
            return False
        window.settle()
        if not window.top <= row < window.top + window.height - 1:
            self.go_to(row - window.height // 2)
        self.refresh_changed()
        return True

    def action_put_away(self) -> None:
        """Put the cursor away, and forget what was sought."""
        self.cursor.put_away()
        self.finder.seek("")
        self.refresh_changed()

    def action_open_part(self) -> None:
        """Open or close what the cursor is on."""
        found = self.cursor.found(self.window)
        if found is not None:
            index, part = found
            self._fold(index, part.key, part.next_level)

    def action_copy_part(self) -> None:
        """Copy the text of what the cursor is on."""
        found = self.cursor.found(self.window)
        if found is not None and self.window is not None:
            index, part = found
            text = raw_text(self.window.rows.history[index], part)
            self.post_message(self.CopyWanted(text))

    def action_go_to_file(self) -> None:
        """Go to the file, or one of the files and pages, that what the cursor is on speaks of."""
        found = self.cursor.found(self.window)
        if found is not None and self.window is not None:
            index, part = found
            message = self.window.rows.history[index]
            self.post_message(self.Opened(targets_of(message, part)))

    def _fold(self, index: int, key: int, level: int | None) -> None:
        window = self.window
        if window is None or level is None:
            return
        window.keep(index)
        window.rows.fold(index, key, level)
        window.settle()
        self.go_to(window.top)

    def _scroll_by(self, rows: int) -> None:
        if self.window is not None:
            self.go_to(self.window.top + rows)

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
        self.go_to(0)

    def action_scroll_end(self) -> None:
        """To the newest message, and follow it."""
        if self.window is not None:
            self.go_to(self.window.rows.total)
