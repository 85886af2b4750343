"""The message box: several lines, long pastes folded, earlier messages at its edges."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import TextArea

FOLD_LINES = 20
FOLD_CHARACTERS = 4_000
NEW_LINE_KEYS = frozenset({"ctrl+j", "alt+enter", "shift+enter", "alt+\r", "shift+\r"})
"""With `\\r`: as Textual names them where xterm's `modifyOtherKeys` is on, as in tmux."""


@dataclass(slots=True)
class Draft:
    """A text that is being written: what is shown, and the pastes behind its chips."""

    text: str = ""
    pastes: dict[str, str] = field(default_factory=dict)

    def full(self) -> str:
        """The text with every chip unfolded."""
        text = self.text
        for chip, paste in self.pastes.items():
            text = text.replace(chip, paste)
        return text


class MessageArea(TextArea):
    """A text box in which Enter submits and the new-line keys break the line."""

    BINDINGS: ClassVar[list[BindingType]] = [
        # Undo and redo by keys that no terminal takes; ctrl+z is the shell's.
        Binding("ctrl+underscore", "undo", "Undo", show=False),
        Binding("ctrl+e", "cursor_line_end", show=False),
    ]

    class Submitted(Message):
        """Enter was pressed; `text` is everything, pastes too."""

        def __init__(self, area: "MessageArea", text: str) -> None:
            super().__init__()
            self.area = area
            self.text = text

        @property
        def control(self) -> "MessageArea":
            """The box."""
            return self.area

    def __init__(
        self, *, id: str | None = None, placeholder: str = "", sends_nothing: bool = False
    ) -> None:
        super().__init__(
            id=id,
            placeholder=placeholder,
            compact=True,
            highlight_cursor_line=False,
            show_line_numbers=False,
        )
        self.pastes: dict[str, str] = {}
        self.cursor_blink = False
        self._sends_nothing = sends_nothing

    @property
    def draft(self) -> Draft:
        """What stands in the box."""
        return Draft(self.text, {c: p for c, p in self.pastes.items() if c in self.text})

    @draft.setter
    def draft(self, draft: Draft) -> None:
        self.pastes = dict(draft.pastes)
        self.text = draft.text
        self.move_cursor(self.document.end)

    async def on_key(self, event: events.Key) -> None:
        """Take the keys that mean something else here than in a plain text box."""
        if event.key in NEW_LINE_KEYS:
            self._taken(event)
            self.insert("\n")
        elif event.key == "enter":
            self._taken(event)
            self._enter()
        elif event.key == "backspace" and self.selection.is_empty and self._chip_before():
            self._taken(event)
            chip = self._chip_before()
            row, column = self.cursor_location
            self.delete((row, column - len(chip)), (row, column))

    def _taken(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()

    def _enter(self) -> None:
        row, column = self.cursor_location
        before = self.document.get_line(row)[:column]
        if before.endswith("\\"):
            # A trailing backslash breaks the line, where a terminal knows no other key for it.
            self.replace("\n", (row, column - 1), (row, column))
            return
        self.submit()

    def submit(self) -> None:
        """Post what was written, if anything was (or nothing is an answer, too)."""
        text = self.draft.full()
        if text.strip() or self._sends_nothing:
            self.post_message(self.Submitted(self, text))

    async def on_paste(self, event: events.Paste) -> None:
        """Fold a long paste to a chip; it is sent in full."""
        text = event.text.replace("\r\n", "\n").replace("\r", "\n")
        event.stop()
        event.prevent_default()
        lines = text.removesuffix("\n").count("\n") + 1
        if lines > FOLD_LINES or len(text) > FOLD_CHARACTERS:
            size = f"{lines} lines" if lines > FOLD_LINES else f"{len(text)} characters"
            text = self._fold(text, size)
        self.replace(text, *self.selection)

    def _fold(self, text: str, size: str) -> str:
        chip, number = f"[pasted {size}]", 1
        while self.pastes.get(chip, text) != text:
            number += 1
            chip = f"[pasted {size}, {number}]"
        self.pastes[chip] = text
        return chip

    def _chip_before(self) -> str:
        row, column = self.cursor_location
        before = self.document.get_line(row)[:column]
        return next((chip for chip in self.pastes if before.endswith(chip)), "")


def _pressed(event: events.Key) -> str:
    """The character, or the name of a key that writes none (enter has `\\r`)."""
    return event.character if event.is_printable and event.character else event.key


class Composer(MessageArea):
    """The message box of a conversation, with earlier messages and the keys of a request."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("pageup", "screen.scroll_chat(-1)", show=False),
        Binding("pagedown", "screen.scroll_chat(1)", show=False),
    ]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.first_refusal: Callable[[str], str | None] = lambda key: None
        """Asked for every key while the box is empty. If it took it, it says what is to be
        written instead, mostly nothing."""
        self.earlier: list[str] = []
        """Messages sent before in this project, oldest first."""
        self._recalled: int | None = None
        self._unsent = Draft()

    async def on_key(self, event: events.Key) -> None:
        """Offer keys to a request, and go through earlier messages at the edges."""
        instead = None if self.text else self.first_refusal(_pressed(event))
        if instead is not None:
            self._taken(event)
            if instead:
                self.insert(instead)
        elif (event.key == "up" and self.cursor_location[0] == 0 and self._recall(-1)) or (
            event.key == "down" and self._at_last_line and self._recall(+1)
        ):
            self._taken(event)

    @property
    def _at_last_line(self) -> bool:
        return self.cursor_location[0] == self.document.line_count - 1

    def _recall(self, step: int) -> bool:
        if self._recalled is None:
            if step > 0 or not self.earlier:
                return False
            self._unsent = self.draft
            self._recalled = len(self.earlier)
        position = self._recalled + step
        if position < 0:
            return True
        if position >= len(self.earlier):
            self._recalled = None
            self.draft = self._unsent
            return True
        self._recalled = position
        self.draft = Draft(self.earlier[position])
        return True

    def begin(self, draft: Draft, earlier: list[str]) -> None:
        """Show another conversation's draft."""
        self._recalled = None
        self.earlier = earlier
        self.draft = draft

    def submit(self) -> None:
        """Post what was written, and empty the box at once: the next word may be typed already."""
        text = self.draft.full()
        if not text.strip():
            return
        if not self.earlier or self.earlier[-1] != text:
            self.earlier.append(text)
        self._recalled = None
        self.draft = Draft()
        self.post_message(self.Submitted(self, text))
