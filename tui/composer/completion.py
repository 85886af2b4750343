"""The completion list above the message box: files for `@`, commands for `/`."""

import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from textual import events
from textual.content import Content
from textual.geometry import Offset, Size
from textual.widget import Widget

from model.base.errors import SpinneyError
from model.base.text import clean_line
from tui.composer.completion_rows import (
    Row,
    agent_rows,
    argument_rows,
    filter_rows,
    render_rows,
    spinney_rows,
)
from tui.composer.slash_commands import SLASH_COMMANDS, Values

if TYPE_CHECKING:
    from model.domain.agent_commands import AgentCommand
    from tui.composer.widget import Composer

MAX_FILES: Final = 8
"""Files that are listed."""
MAX_ROWS: Final = 12
"""Visible commands, if there is enough space."""
MAX_WIDTH: Final = 100
_FILE: Final = re.compile(r"(?:^|(?<=\s))@([^\s@\"]*)$")
_COMMAND: Final = re.compile(r"^/\S*$")
_WRITTEN_COMMAND: Final = re.compile(r"^(/\S+) $")

Search = Callable[[str], Awaitable[list[str]]]
LoadCommands = Callable[[], Awaitable[tuple[str, "list[AgentCommand]"]]]
LoadValues = Callable[[Values], Awaitable[list[tuple[str, str]]]]


class Completion(Widget, can_focus=False):
    """Completions of the word before the cursor; overlays the chat without moving it."""

    DEFAULT_CSS = """
    Completion {
        overlay: screen;
        height: auto;
        width: auto;
        display: none;
    }
    """

    def __init__(self, composer: "Composer", *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._composer = composer
        self.search: Search | None = None
        """Searches the files of the worktree, best matches first."""
        self.load_commands: LoadCommands | None = None
        """Returns the name of the session's agent, and its commands."""
        self.load_values: LoadValues | None = None
        """Returns the values of an argument, each with its description."""
        self._values: dict[str, list[Row] | None] = {}
        """The completed lines with an argument, by command; `None` while they are loaded."""
        self._rows: list[Row] = []
        self._agent_rows: list[Row] = []
        self._has_requested = False
        """Whether the agent's commands were requested since the `/` was typed."""
        self._note = ""
        self._selected = 0
        self._first_row = 0
        """The index of the first visible row."""
        self._word_start = (0, 0)
        """The start of the word."""
        self._word = ""
        self._text = ""
        """The text of the box at the last update."""
        self._typed: tuple[tuple[int, int], str] | None = None
        """The word typed last, with its start, while the cursor stays at its end."""
        self._dismissed: tuple[tuple[int, int], str] | None = None
        self._searching = False

    # Completions --------------------------------------------------------------------------------

    def follow(self) -> None:
        """Update the list for the word before the cursor; only a word being typed opens it."""
        start, word = self._at_cursor()
        self._has_requested = self._has_requested and word.startswith("/")
        self._track_typing(start, word)
        is_dismissed = self._dismissed is not None and self._dismissed[0] == start
        if not word or is_dismissed or not self._is_typed(start, word):
            self._dismissed = self._dismissed if word else None
            self._hide()
            self._show_argument_hint()
            return
        self._dismissed = None
        if (start, word) == (self._word_start, self._word) and self.display:
            return
        self._word_start, self._word = start, word
        if word.startswith("@"):
            self._request_files()
            return
        if " " in word:
            self._show_values(word)
            return
        self._request_commands()
        self._show(filter_rows([*spinney_rows(), *self._agent_rows], word))

    def _show_values(self, word: str) -> None:
        """Show the values of a command's argument, which are loaded once."""
        name = word[1:].partition(" ")[0]
        if name not in self._values and self.load_values is not None:
            self._values[name] = None
            work = self._load_values(name, self.load_values)
            self.run_worker(work, group="values", exit_on_error=False)
        if (rows := self._values.get(name)) is None:
            self._show([], f"/{name} …")
            return
        # Without a letter none is selected: enter asks, as the command does without an argument.
        selected = -1 if word.endswith(" ") else 0
        self._show(argument_rows(rows, word), selected=selected)

    async def _load_values(self, name: str, load: LoadValues) -> None:
        found: list[tuple[str, str]] = []
        with suppress(SpinneyError, TimeoutError):  # the command itself reports it
            found = await load(SLASH_COMMANDS[name].values)
        self._values[name] = [Row(f"/{name} {value}", about=about) for value, about in found]
        _, word = self._at_cursor()
        if word.startswith(f"/{name} ") and word == self._word:
            self._show_values(word)

    def _track_typing(self, start: tuple[int, int], word: str) -> None:
        box = self._composer
        if (text := box.text) != self._text:
            self._text = text
            self._typed = (start, word) if text != box.inserted_text else None
        elif not self._is_typed(start, word):
            self._typed = None  # The cursor was moved, for example by a click.

    def _is_typed(self, start: tuple[int, int], word: str) -> bool:
        return self._typed == (start, word)

    def reset_commands(self) -> None:
        """Drop the agent's commands, because the session changed."""
        self.workers.cancel_group(self, "commands")
        self.workers.cancel_group(self, "values")
        self._agent_rows = []
        self._values = {}
        self._has_requested = False

    def _at_cursor(self) -> tuple[tuple[int, int], str]:
        box = self._composer
        row, column = box.cursor_location
        line = box.document.get_line(row)
        before = line[:column]
        is_command = row == 0 and not line[column : column + 1].strip()
        if not box.selection.is_empty or not box.has_focus:
            return (0, 0), ""
        if is_command and _has_values(before):
            return (0, 0), before
        found = _FILE.search(before) or (_COMMAND.search(before) if is_command else None)
        if found is None:
            return (0, 0), ""
        word = before[found.start() :]
        return (row, column - len(word)), word

    def _show_argument_hint(self) -> None:
        """Show the argument hint of a complete command until an argument is typed."""
        row, column = self._composer.cursor_location
        written = _WRITTEN_COMMAND.search(self._composer.document.get_line(row)[:column])
        if written is None or row or not self._composer.has_focus:
            return
        rows = (*self._agent_rows, *spinney_rows())
        command = next((row for row in rows if row.text == written[1]), None)
        if command is not None and command.hint:
            self._show([], f"{command.text} {command.hint}")

    def _request_commands(self) -> None:
        if self.load_commands is not None and not self._has_requested:
            self._has_requested = True
            self.run_worker(
                self._load_commands(self.load_commands), group="commands", exclusive=True
            )

    async def _load_commands(self, load: LoadCommands) -> None:
        try:
            found = agent_rows(*await load())
        except (SpinneyError, TimeoutError):
            return  # The list is optional, and sending reports the error itself.
        self._agent_rows = found
        start, word = self._at_cursor()
        if not word:
            self._show_argument_hint()
        elif self._dismissed is None and word.startswith("/") and self._is_typed(start, word):
            selected = self._rows[self._selected] if self._rows else None
            self._word_start, self._word = start, word
            self._show(filter_rows([*spinney_rows(), *found], word))
            if selected in self._rows:
                self._select(self._rows.index(selected))

    def _request_files(self) -> None:
        if self.search is not None and not self._searching:
            self._searching = True
            self.run_worker(self._search_files(self.search), exit_on_error=False)

    async def _search_files(self, search: Search) -> None:
        """Search until the results match the current word: typing is faster than searching."""
        try:
            found, word = [""], ""
            note = ""
            while word != self._word and self._word.startswith("@"):
                word = self._word
                try:
                    found, note = await search(word[1:]), ""
                except SpinneyError as error:
                    found, note = [], error.message
        finally:
            self._searching = False
        start, at_cursor = self._at_cursor()
        if at_cursor == word and self._is_typed(start, word):
            rows = [Row(_mention(name)) for name in found if clean_line(name) == name]
            self._show(rows[:MAX_FILES], note or "No matching files in the worktree.")

    # Rendering ----------------------------------------------------------------------------------

    @property
    def agent_commands(self) -> frozenset[str]:
        """The commands of the agent that are known, as they are written."""
        return frozenset(row.text for row in self._agent_rows)

    def _show(self, rows: list[Row], note: str = "", *, selected: int = 0) -> None:
        self._rows, self._note, self._selected, self._first_row = rows, note, selected, 0
        if not rows and not note:
            self._hide()
            return
        self.styles.offset = Offset(0, -self._height)
        self.display = True
        self.refresh(layout=True)

    def _hide(self) -> None:
        self._word = ""
        self.display = False

    def get_content_width(self, container: Size, viewport: Size) -> int:
        """The width of the box, up to `MAX_WIDTH`."""
        return min(container.width, MAX_WIDTH)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """The number of visible rows, plus one if there are more."""
        return self._height

    @property
    def _visible_rows(self) -> int:
        """The number of visible rows."""
        # The line about more rows needs one, and the bar at the top stays visible.
        return max(1, min(len(self._rows), MAX_ROWS, self._composer.region.y - 2))

    @property
    def _height(self) -> int:
        return self._visible_rows + (self._visible_rows < len(self._rows))

    def render(self) -> Content:
        """The rows, the selected one highlighted."""
        width = self.content_size.width
        if not self._rows:
            return Content.styled(f" {clean_line(self._note)}", "$text-muted").truncate(width)
        last = self._first_row + self._visible_rows
        content = render_rows(
            self._rows[self._first_row : last], width, self._selected - self._first_row
        )
        if self._visible_rows == len(self._rows):
            return content
        below = next((row.agent for row in self._rows[last:] if row.agent), "")
        more = f" {self._selected + 1} of {len(self._rows)}"
        if below and not self._rows[last - 1].agent:
            more += f", {below} commands below"
        return Content("\n").join(
            [content, Content.styled(more, "$text-muted").truncate(width, pad=True)]
        )

    # Selection ----------------------------------------------------------------------------------

    def press(self, key: str) -> bool:
        """Handle a key of the message box; whether it was for the list."""
        _, word = self._at_cursor()
        if word.startswith("/") or (self._word and not word):
            self.follow()  # keys may arrive before the event about the changed text
        if not self.display:
            return False
        match key:
            case "escape" if self._word:
                self._dismissed = (self._word_start, self._word)
                self._hide()
            case "up" | "down" if self._rows:
                index = self._selected + 1 if key == "down" else max(self._selected, 0) - 1
                self._select(index % len(self._rows))
            case "enter" if self._rows and self._selected < 0:
                self._hide()
                return False
            case "tab" | "enter" if self._rows:
                row, word = self._rows[max(self._selected, 0)], self._word
                if key == "enter" and row.text == word and word.startswith("/"):
                    self._hide()
                    return False  # already complete, so enter sends it
                self._accept(max(self._selected, 0), completes=key == "tab")
                # A command of Spinney is executed by the same key press.
                return key == "tab" or row.text.startswith("@") or bool(row.agent)
            case _:
                return False
        return True

    def _select(self, index: int) -> None:
        self._selected = min(index, len(self._rows) - 1)
        self._first_row = min(
            max(self._first_row, self._selected - self._visible_rows + 1), self._selected
        )
        self.refresh()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Select the next row."""
        event.stop()
        self._select(self._selected + 1)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Select the previous row."""
        event.stop()
        self._select(max(0, self._selected - 1))

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Accept the clicked row."""
        event.stop()
        event.prevent_default()
        if event.y < min(self._visible_rows, len(self._rows)):
            self._accept(self._first_row + event.y)
        self._composer.focus()

    def _accept(self, index: int, *, completes: bool = True) -> None:
        row = self._rows[index]
        has_more = row.agent or row.text.startswith("@") or (completes and row.hint)
        text = f"{row.text} " if has_more else row.text
        box, start = self._composer, self._word_start
        if box.is_shell:  # a path, which nothing else would understand there
            text = text.removeprefix("@")
        self._hide()
        box.history.checkpoint()
        box.insert_over(text, start, box.cursor_location)


def _has_values(line: str) -> bool:
    """Whether the line is a command of Spinney, and the beginning of an argument it completes."""
    name, space, _ = line[1:].partition(" ")
    command = SLASH_COMMANDS.get(name) if line.startswith("/") and space else None
    return command is not None and bool(command.values)


def _mention(name: str) -> str:
    return f'@"{name}"' if " " in name else f"@{name}"
