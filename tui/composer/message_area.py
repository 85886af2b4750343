"""A multiline text field: enter submits, long pastes and images are chips."""

from typing import ClassVar, Final

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from model.base.text import make_output_visible
from tui.composer.draft import UNFOLD_LIMIT, Draft, is_long
from tui.composer.text_area import DiffingTextArea

NEW_LINE_KEYS = frozenset({"ctrl+j", "alt+enter", "shift+enter"})

_EDITING: Final = {
    "backspace": "delete_left",
    "delete": "delete_right",
    "left": "cursor_left",
    "right": "cursor_right",
    "up": "cursor_up",
    "down": "cursor_down",
    "home": "cursor_line_start",
    "end": "cursor_line_end",
    "ctrl+u": "empty",
    "ctrl+left": "cursor_word_left",
    "ctrl+right": "cursor_word_right",
    "ctrl+w": "delete_word_left",
    "alt+delete": "delete_word_right",
}
"""Editing keys and the actions of the text area."""


class MessageArea(DiffingTextArea):
    """A text area in which Enter submits and `NEW_LINE_KEYS` insert a line break."""

    BINDINGS: ClassVar[list[BindingType]] = [
        # A key that no terminal reserves; ctrl+z suspends.
        Binding("ctrl+underscore", "undo", "Undo", show=False),
    ]

    class Submitted(Message):
        """Enter was pressed; `text` has pastes expanded."""

        def __init__(
            self,
            area: "MessageArea",
            text: str,
            images: tuple[str, ...] = (),
            written_for: str = "",
            *,
            steers: bool = False,
        ) -> None:
            super().__init__()
            self.area = area
            self.text = text
            self.images = images
            self.written_for = written_for
            """The id of the request that it answers, or ''."""
            self.steers = steers
            """Whether it is to be read during the running turn."""

        @property
        def control(self) -> "MessageArea":
            """The area, for `@on` selectors."""
            return self.area

    def __init__(
        self, *, id: str | None = None, placeholder: str = "", can_submit_empty: bool = False
    ) -> None:
        super().__init__(
            id=id,
            placeholder=placeholder,
            highlight_cursor_line=False,
            show_line_numbers=False,
        )
        self._chips = Draft()
        self.inserted_text = ""
        """The text that was last set by the program rather than typed."""
        self._can_submit_empty = can_submit_empty

    @property
    def draft(self) -> Draft:
        """The content of the box."""
        return self._chips.prune(self.text)

    @draft.setter
    def draft(self, draft: Draft) -> None:
        self._chips = draft.prune(draft.text)
        self.text = self.inserted_text = draft.text
        self.move_cursor(self.document.end)

    def replace_draft(self, draft: Draft) -> None:
        """Replace the content; undo restores it."""
        # Chips of the old text are kept for undo.
        self._chips.pastes |= draft.pastes
        self._chips.images |= draft.images
        self.replace(draft.text, (0, 0), self.document.end)
        self.inserted_text = self.text
        self.move_cursor(self.document.end)

    def empty(self) -> bool:
        """Remove the whole text as one undo step; whether there was any."""
        if not self.text:
            return False
        self.history.checkpoint()
        self.clear()
        self.history.checkpoint()
        return True

    def action_empty(self) -> None:
        """Remove the whole text."""
        self.empty()

    async def on_key(self, event: events.Key) -> None:
        """Handle keys that differ from those of a plain text area."""
        if event.key in NEW_LINE_KEYS:
            self.finish_key(event)
            self.insert("\n")
        elif event.key == "enter":
            self.finish_key(event)
            self._enter()
        elif event.key == "backspace" and self.selection.is_empty and (chip := self._chip_before()):
            self.finish_key(event)
            row, column = self.cursor_location
            self.delete((row, column - len(chip)), (row, column))
        elif action := _EDITING.get(event.key):
            # Bindings run after later letters: the keys of a burst, as a slow connection delivers
            # them, would be reordered.
            self.finish_key(event)
            getattr(self, f"action_{action}")()

    def finish_key(self, event: events.Key) -> None:
        """Let nothing else handle the key."""
        event.stop()
        event.prevent_default()

    def _enter(self) -> None:
        row, column = self.cursor_location
        before = self.document.get_line(row)[:column]
        if before.endswith("\\"):
            # A trailing backslash breaks the line, for terminals without another key for it.
            self.replace("\n", (row, column - 1), (row, column))
            return
        self.submit()

    def submit(self) -> None:
        """Post the text, unless it is empty and empty text is not allowed."""
        text = self.draft.text_to_send()
        if text.strip() or self._can_submit_empty:
            self.post_message(self.Submitted(self, text))

    async def on_paste(self, event: events.Paste) -> None:
        """Insert a paste, as a chip if it is long; it is sent in full."""
        event.stop()
        event.prevent_default()
        # Many terminals send a carriage return for each line break of a paste.
        text = make_output_visible(event.text.replace("\r\n", "\n").replace("\r", "\n"))
        self.insert_paste(self._chips.add_paste(text) if is_long(text) else text)

    def insert_paste(self, text: str) -> None:
        """Replace the selection by a paste, as a separate undo step."""
        self.history.checkpoint()
        self.replace(text, *self.selection)
        self.history.checkpoint()

    def on_click(self, event: events.Click) -> None:
        """Expand a chip on a double click."""
        if event.chain == 2:
            self.unfold()

    def unfold(self) -> str | None:
        """Replace the chip at the cursor, or else the last one, by its paste.

        Returns a message if there is none, or if the paste is too long.
        """
        positions = [
            ((row, line.index(chip)), chip)
            for row, line in enumerate(self.document.lines)
            for chip in self._chips.pastes
            if chip in line
        ]
        if not positions:
            return "There is no collapsed paste here."
        row, column = self.cursor_location
        at_cursor = [p for p in positions if p[0][0] == row and 0 <= column - p[0][1] <= len(p[1])]
        (row, column), chip = max(at_cursor or positions)
        paste = self._chips.pastes[chip]
        if len(paste) > UNFOLD_LIMIT:
            return f"{len(paste):,} characters are too many for this box. Open it in your editor."
        self.history.checkpoint()
        self.insert_over(paste, (row, column), (row, column + len(chip)))
        return None

    def insert_over(self, text: str, start: tuple[int, int], end: tuple[int, int]) -> None:
        """Replace the text between two locations and move the cursor to its end."""
        result = self.replace(text, start, end)
        self.move_cursor(result.end_location)

    def _chip_before(self) -> str:
        row, column = self.cursor_location
        return self._chips.chip_before(self.document.get_line(row)[:column])
