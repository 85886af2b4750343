"""The dialog that shows a text that others wrote: a log, a comment, a description."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import ClassVar, Final

from textual import events
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from model.base.errors import SpinneyError
from model.base.text import clean_line, make_visible
from tui.draw.colors import Palette
from tui.screens.dialog import AskText, Dialog
from tui.screens.searchable_output import SearchableOutput
from tui.widgets.key_line import keys_line

MAX_TEXT: Final = 256_000
"""Most characters that are shown; what the model returns is shorter."""


@dataclass(frozen=True, slots=True)
class ReaderText:
    """A text, and what is to be known of it."""

    text: str
    note: str = ""
    """What is left out of it, say."""
    at_end: bool = False
    """Whether its end is shown first, as that of a log is."""


class TextReader(Dialog[str]):
    """A text to scroll, find in and copy; the result is one of the additional keys.

    Args:
        title: The dialog's title, which may be written by others, too.
        palette: Returns the present colors.
        read: Reads the text; the message of a `SpinneyError` is shown in its place.
        copy: Copies a text to the clipboard.
        keys: Keys that close the dialog, with labels.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "find", show=False),
        Binding("n", "find_next(1)", show=False),
        Binding("N", "find_next(-1)", show=False),
        Binding("y", "copy", show=False),
    ]

    def __init__(
        self,
        title: str,
        palette: Callable[[], Palette],
        read: Callable[[], Awaitable[ReaderText]],
        copy: Callable[[str], None],
        *keys: tuple[str, str],
    ) -> None:
        super().__init__(clean_line(title))
        self._palette = palette
        self._read_text = read
        self._copy = copy
        self._keys = keys
        self._query = ""
        self.content = ""
        """The text, once it is read."""

    def body(self) -> list[Widget]:
        """The text, a note about it, and the keys."""
        self._view = SearchableOutput(self._palette())
        self._note = Static("Loading …", markup=False, classes="note")
        self._line = Static("", classes="keys")
        return [self._note, self._view, self._line]

    def on_mount(self) -> None:
        """Read the text."""
        self._view.focus()
        self.app.theme_changed_signal.subscribe(
            self, lambda _: self._view.set_palette(self._palette())
        )
        self._show_keys()
        self.run_worker(self._read(), exit_on_error=False)

    async def _read(self) -> None:
        try:
            found = await self._read_text()
        except SpinneyError as error:
            self._say(error.message, bad=True)
            return
        self.content = make_visible(found.text)[:MAX_TEXT]
        self._view.replace(self.content or "It is empty.")
        self._say(found.note)
        if found.at_end:
            self.call_after_refresh(self._view.scroll_end, animate=False)
        self._show_keys()

    def _say(self, sentence: str, *, bad: bool = False) -> None:
        self._note.update(make_visible(sentence))
        self._note.set_class(bad, "problem")
        self._note.display = bool(sentence)

    def _show_keys(self) -> None:
        own = [("↑ ↓", "scroll"), ("/", "find")] if self.content else []
        own += [("n", "next"), ("N", "previous")] if self._query else []
        own += [("y", "copy")] if self.content else []
        first = keys_line(*own) if own else Content("")
        last = keys_line(*self._keys, ("esc", "close"))
        is_wide = first.cell_length + last.cell_length <= self._line.content_size.width
        self._line.update(Content("" if is_wide or not own else "\n").join([first, last]))

    def on_resize(self) -> None:
        """Put the keys into one row or two."""
        self.call_after_refresh(self._show_keys)

    def on_key(self, event: events.Key) -> None:
        """Close with the key, if it is one of the additional keys."""
        if any(event.key == known for known, _ in self._keys):
            event.stop()
            self.dismiss(event.key)

    def action_copy(self) -> None:
        """Copy the whole text."""
        if self.content:
            self._copy(self.content)

    def action_find(self) -> None:
        """Ask for a text, and go to the last row that contains it."""

        def start(text: str | None) -> None:
            if text:
                self._query, self._view.found = text, None
                self._show_keys()
                self.action_find_next(-1)

        sentence = "Begins at the end. n goes to the next match below, N to the one above."
        self.app.push_screen(AskText("Find", self._query, sentence=sentence, verb="find"), start)

    def action_find_next(self, step: int) -> None:
        """Go to the match below (1) or above (-1)."""
        if self._query and not self._view.find(self._query, step):
            where = "below" if step > 0 else "above"
            self.app.notify(f"No match {where}: '{self._query}'.", markup=False, timeout=3)
