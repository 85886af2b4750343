"""The list over the message box: files for `@`, Spinney's own commands for `/`."""

import re
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

from textual import events
from textual.content import Content
from textual.geometry import Offset, Size
from textual.widget import Widget

from model.errors import SpinneyError
from model.text import clean_line
from tui.composer_orders import titles

if TYPE_CHECKING:
    from tui.widgets.composer import Composer

ROWS: Final = 8
WIDTH: Final = 84
_FILE: Final = re.compile(r"(?:^|(?<=\s))@([^\s@\"]*)$")
_ORDER: Final = re.compile(r"^/(\w*)$")

Search = Callable[[str], Awaitable[list[str]]]


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
        self._rows: list[tuple[str, str]] = []
        """What would be written, and a word about it."""
        self._note = ""
        self._chosen = 0
        self._begin = (0, 0)
        """Where the word begins."""
        self._word = ""
        self._put_away: tuple[tuple[int, int], str] | None = None
        self._searching = False

    # What may be written ------------------------------------------------------------------------

    def follow(self) -> None:
        """Look at the word before the cursor."""
        begin, word = self._at_cursor()
        if not word or (self._put_away and self._put_away[0] == begin):
            self._put_away = self._put_away if word else None
            self._hide()
            return
        self._put_away = None
        if (begin, word) == (self._begin, self._word) and self.display:
            return
        self._begin, self._word = begin, word
        if word.startswith("@"):
            self._find()
            return
        fitting = [row for row in titles() if row[0].startswith(word)]
        self._show(fitting)

    def _at_cursor(self) -> tuple[tuple[int, int], str]:
        box = self._composer
        row, column = box.cursor_location
        before = box.document.get_line(row)[:column]
        found = _FILE.search(before) or (_ORDER.search(before) if row == 0 else None)
        if found is None or not box.selection.is_empty or not box.has_focus:
            return (0, 0), ""
        word = before[found.start() :]
        return (row, column - len(word)), word

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
        if self._at_cursor()[1] == word:
            rows = [(_mention(name), "") for name in found if clean_line(name) == name]
            self._show(rows[:ROWS], note or "No file of the worktree fits.")

    # Showing ------------------------------------------------------------------------------------

    def _show(self, rows: list[tuple[str, str]], note: str = "") -> None:
        self._rows, self._note, self._chosen = rows, note, 0
        if not rows and not note:
            self._hide()
            return
        height = max(1, len(rows))
        self.styles.offset = Offset(0, -height)
        self.display = True
        self.refresh(layout=True)

    def _hide(self) -> None:
        self._word = ""
        self.display = False

    def get_content_width(self, container: Size, viewport: Size) -> int:
        """As wide as the box, within reason."""
        return min(container.width, WIDTH)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """One row for each."""
        return max(1, len(self._rows))

    def render(self) -> Content:
        """The rows, the chosen one marked."""
        width = self.content_size.width
        if not self._rows:
            return Content.styled(clean_line(self._note), "$text-muted").truncate(width)
        lines = []
        for place, (text, about) in enumerate(self._rows):
            style = "$on-selection on $selection" if place == self._chosen else ""
            room = width - 1 - (len(about) + 2 if about else 0)
            shown = text if len(text) <= room else f"…{text[1 - room :]}"
            line = Content.assemble(f" {shown}", (f"  {about}", "" if style else "$text-muted"))
            lines.append(line.truncate(width, pad=True).stylize_before(style))
        return Content("\n").join(lines)

    # Choosing -----------------------------------------------------------------------------------

    def press(self, key: str) -> bool:
        """Take a key of the message box; whether it was one of the list's."""
        if not self.display:
            return False
        match key:
            case "escape":
                self._put_away = (self._begin, self._word)
                self._hide()
            case "up" | "down" if self._rows:
                self._chosen = (self._chosen + (1 if key == "down" else -1)) % len(self._rows)
                self.refresh()
            case "tab" | "enter" if self._rows:
                is_order = self._word.startswith("/")
                self._take(self._chosen)
                # A command is carried out by the same press.
                return not (is_order and key == "enter")
            case _:
                return False
        return True

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Take the row."""
        event.stop()
        event.prevent_default()
        if event.y < len(self._rows):
            self._take(event.y)
        self._composer.focus()

    def _take(self, place: int) -> None:
        text = self._rows[place][0]
        if text.startswith("@"):
            text += " "
        box, begin = self._composer, self._begin
        self._hide()
        box.history.checkpoint()
        box.insert_over(text, begin, box.cursor_location)


def _mention(name: str) -> str:
    return f'@"{name}"' if " " in name else f"@{name}"
