"""The list over the message box: files for `@`, commands for `/`: Spinney's, then the agent's."""

import re
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

from textual import events
from textual.content import Content
from textual.geometry import Offset, Size
from textual.widget import Widget

from model.base.errors import SpinneyError
from model.base.text import clean_line
from tui.composer.completion_rows import Row, agent_rows, drawn, fitting, orders

if TYPE_CHECKING:
    from model.domain.resources import AgentCommand
    from tui.composer.widget import Composer

ROWS: Final = 8
"""Files that are shown."""
MOST_ROWS: Final = 12
"""Commands that are shown at a time, where there is room."""
WIDTH: Final = 100
_FILE: Final = re.compile(r"(?:^|(?<=\s))@([^\s@\"]*)$")
_ORDER: Final = re.compile(r"^/\S*$")
_ORDERED: Final = re.compile(r"^(/\S+) $")

Search = Callable[[str], Awaitable[list[str]]]
AskCommands = Callable[[], Awaitable[tuple[str, "list[AgentCommand]"]]]


class Completion(Widget, can_focus=False):
    """What the word before the cursor may become; it lies over the chat, which does not move."""

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
        """Finds the worktree's files that fit a few letters, the best first."""
        self.ask_commands: AskCommands | None = None
        """Gives the name of the agent that is written to, and its own commands."""
        self._rows: list[Row] = []
        self._of_agent: list[Row] = []
        self._is_asked = False
        """Whether the agent's commands were asked for since the `/` was written."""
        self._note = ""
        self._chosen = 0
        self._first = 0
        """The first row that is shown."""
        self._begin = (0, 0)
        """Where the word begins."""
        self._word = ""
        self._text = ""
        """What stood in the box at the last look."""
        self._typed: tuple[tuple[int, int], str] | None = None
        """The word that was typed last, as long as the cursor stays behind it."""
        self._put_away: tuple[tuple[int, int], str] | None = None
        self._searching = False

    # What may be written ------------------------------------------------------------------------

    def follow(self) -> None:
        """Look at the word before the cursor; only one that is being typed opens the list."""
        begin, word = self._at_cursor()
        self._is_asked = self._is_asked and word.startswith("/")
        self._follow_typing(begin, word)
        is_put_away = self._put_away is not None and self._put_away[0] == begin
        if not word or is_put_away or not self._is_typed(begin, word):
            self._put_away = self._put_away if word else None
            self._hide()
            self._remind()
            return
        self._put_away = None
        if (begin, word) == (self._begin, self._word) and self.display:
            return
        self._begin, self._word = begin, word
        if word.startswith("@"):
            self._find()
            return
        self._ask()
        self._show(fitting([*orders(), *self._of_agent], word))

    def _follow_typing(self, begin: tuple[int, int], word: str) -> None:
        box = self._composer
        if (text := box.text) != self._text:
            self._text = text
            self._typed = (begin, word) if text != box.given else None
        elif not self._is_typed(begin, word):
            self._typed = None  # The cursor went elsewhere, as by a click.

    def _is_typed(self, begin: tuple[int, int], word: str) -> bool:
        return self._typed == (begin, word)

    def forget(self) -> None:
        """Somebody else is written to."""
        self.workers.cancel_group(self, "commands")
        self._of_agent = []
        self._is_asked = False

    def _at_cursor(self) -> tuple[tuple[int, int], str]:
        box = self._composer
        row, column = box.cursor_location
        line = box.document.get_line(row)
        before = line[:column]
        is_order = row == 0 and not line[column : column + 1].strip()
        found = _FILE.search(before) or (_ORDER.search(before) if is_order else None)
        if found is None or not box.selection.is_empty or not box.has_focus:
            return (0, 0), ""
        word = before[found.start() :]
        return (row, column - len(word)), word

    def _remind(self) -> None:
        """Say what may follow a command that was written, until something does."""
        row, column = self._composer.cursor_location
        written = _ORDERED.search(self._composer.document.get_line(row)[:column])
        if written is None or row or not self._composer.has_focus:
            return
        known = next((row for row in self._of_agent if row.text == written[1]), None)
        if known is not None and known.hint:
            self._show([], f"{known.text} {known.hint}")

    def _ask(self) -> None:
        if self.ask_commands is not None and not self._is_asked:
            self._is_asked = True
            self.run_worker(self._asked(self.ask_commands), group="commands", exclusive=True)

    async def _asked(self, ask: AskCommands) -> None:
        try:
            found = agent_rows(*await ask())
        except (SpinneyError, TimeoutError):
            return  # sending does not need the list, and says itself what is wrong
        self._of_agent = found
        begin, word = self._at_cursor()
        if not word:
            self._remind()
        elif self._put_away is None and word.startswith("/") and self._is_typed(begin, word):
            chosen = self._rows[self._chosen] if self._rows else None
            self._begin, self._word = begin, word
            self._show(fitting([*orders(), *found], word))
            if chosen in self._rows:
                self._choose(self._rows.index(chosen))

    def _find(self) -> None:
        if self.search is not None and not self._searching:
            self._searching = True
            self.run_worker(self._searched(self.search), exit_on_error=False)

    async def _searched(self, search: Search) -> None:
        """Search until what was found is what is wanted: letters come quicker than answers."""
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
        begin, at_cursor = self._at_cursor()
        if at_cursor == word and self._is_typed(begin, word):
            rows = [Row(_mention(name)) for name in found if clean_line(name) == name]
            self._show(rows[:ROWS], note or "No file of the worktree fits.")

    # Showing ------------------------------------------------------------------------------------

    def _show(self, rows: list[Row], note: str = "") -> None:
        self._rows, self._note, self._chosen, self._first = rows, note, 0, 0
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
        """As wide as the box, within reason."""
        return min(container.width, WIDTH)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """One row for each, and one that says that there are more."""
        return self._height

    @property
    def _room(self) -> int:
        """Rows that are shown at a time."""
        # A line that tells of more takes one, and the bar at the top of the screen stays.
        return max(1, min(len(self._rows), MOST_ROWS, self._composer.region.y - 2))

    @property
    def _height(self) -> int:
        return self._room + (self._room < len(self._rows))

    def render(self) -> Content:
        """The rows, the chosen one marked."""
        width = self.content_size.width
        if not self._rows:
            return Content.styled(f" {clean_line(self._note)}", "$text-muted").truncate(width)
        last = self._first + self._room
        content = drawn(self._rows[self._first : last], width, self._chosen - self._first)
        if self._room == len(self._rows):
            return content
        below = next((row.agent for row in self._rows[last:] if row.agent), "")
        more = f" {self._chosen + 1} of {len(self._rows)}"
        if below and not self._rows[last - 1].agent:
            more += f", those of {below} below"
        return Content("\n").join(
            [content, Content.styled(more, "$text-muted").truncate(width, pad=True)]
        )

    # Choosing -----------------------------------------------------------------------------------

    def press(self, key: str) -> bool:
        """Take a key of the message box; whether it was one of the list's."""
        _, word = self._at_cursor()
        if word.startswith("/") or (self._word and not word):
            self.follow()  # keys come quicker than the word that what was written has changed
        if not self.display:
            return False
        match key:
            case "escape" if self._word:
                self._put_away = (self._begin, self._word)
                self._hide()
            case "up" | "down" if self._rows:
                self._choose((self._chosen + (1 if key == "down" else -1)) % len(self._rows))
            case "tab" | "enter" if self._rows:
                row, word = self._rows[self._chosen], self._word
                if key == "enter" and row.text == word and word.startswith("/"):
                    self._hide()
                    return False  # it is written already, and goes
                self._take(self._chosen)
                # A command of Spinney's own is carried out by the same press.
                return key == "tab" or row.text.startswith("@") or bool(row.agent)
            case _:
                return False
        return True

    def _choose(self, place: int) -> None:
        self._chosen = min(place, len(self._rows) - 1)
        self._first = min(max(self._first, self._chosen - self._room + 1), self._chosen)
        self.refresh()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Go on in the list."""
        event.stop()
        self._choose(self._chosen + 1)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Go back in the list."""
        event.stop()
        self._choose(max(0, self._chosen - 1))

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Take the row."""
        event.stop()
        event.prevent_default()
        if event.y < min(self._room, len(self._rows)):
            self._take(self._first + event.y)
        self._composer.focus()

    def _take(self, place: int) -> None:
        row = self._rows[place]
        text = f"{row.text} " if row.agent or row.text.startswith("@") else row.text
        box, begin = self._composer, self._begin
        self._hide()
        box.history.checkpoint()
        box.insert_over(text, begin, box.cursor_location)


def _mention(name: str) -> str:
    return f'@"{name}"' if " " in name else f"@{name}"
