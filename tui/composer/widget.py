"""The message box: several lines, chips for long pastes and images, earlier messages."""

import asyncio
from collections.abc import Callable, Container
from typing import ClassVar, Final

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from model.base.text import make_output_visible
from tui.composer.draft import UNFOLD_LIMIT, Draft, is_long
from tui.composer.images import dropped_images
from tui.composer.text_area import QuietText
from tui.keys.keymap import BY_ID
from tui.terminal.input_parser import is_burst

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
"""Keys of the text box and its actions for them."""


class MessageArea(QuietText):
    """A text box in which Enter submits and the new-line keys break the line."""

    BINDINGS: ClassVar[list[BindingType]] = [
        # Undo and redo by keys that no terminal takes; ctrl+z is the shell's.
        Binding("ctrl+underscore", "undo", "Undo", show=False),
    ]

    class Submitted(Message):
        """Enter was pressed; `text` is everything, pastes too."""

        def __init__(
            self,
            area: "MessageArea",
            text: str,
            images: tuple[str, ...] = (),
            written_for: str = "",
        ) -> None:
            super().__init__()
            self.area = area
            self.text = text
            self.images = images
            self.written_for = written_for
            """The request that it was written for, or nothing."""

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
        self._chips = Draft()
        self.given = ""
        """The text that was put here last, rather than typed."""
        self._sends_nothing = sends_nothing

    @property
    def draft(self) -> Draft:
        """What stands in the box."""
        return self._chips.pruned(self.text)

    @draft.setter
    def draft(self, draft: Draft) -> None:
        self._chips = draft.pruned(draft.text)
        self.text = self.given = draft.text
        self.move_cursor(self.document.end)

    def rewrite(self, draft: Draft) -> None:
        """Put another text in the place of this one; undo brings this one back."""
        # Chips that only the old text has stay known, for undo.
        self._chips.pastes |= draft.pastes
        self._chips.images |= draft.images
        self.replace(draft.text, (0, 0), self.document.end)
        self.given = self.text
        self.move_cursor(self.document.end)

    def empty(self) -> bool:
        """Remove the whole text, in one step that undo takes back; whether there was any."""
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
        """Take the keys that mean something else here than in a plain text box."""
        if event.key in NEW_LINE_KEYS:
            self._taken(event)
            self.insert("\n")
        elif event.key == "enter":
            self._taken(event)
            self._enter()
        elif event.key == "backspace" and self.selection.is_empty and (chip := self._chip_before()):
            self._taken(event)
            row, column = self.cursor_location
            self.delete((row, column - len(chip)), (row, column))
        elif action := _EDITING.get(event.key):
            # As a binding it would come after letters that were written later: keys of one burst,
            # as a slow connection delivers them, would change their order.
            self._taken(event)
            getattr(self, f"action_{action}")()

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
        event.stop()
        event.prevent_default()
        # Many terminals send a return for each line break of a paste.
        text = make_output_visible(event.text.replace("\r\n", "\n").replace("\r", "\n"))
        self.insert_paste(self._chips.fold(text) if is_long(text) else text)

    def insert_paste(self, text: str) -> None:
        """Put it in the place of what is selected, as a step that undo takes back alone."""
        self.history.checkpoint()
        self.replace(text, *self.selection)
        self.history.checkpoint()

    def on_click(self, event: events.Click) -> None:
        """A double click on a chip unfolds it."""
        if event.chain == 2:
            self.unfold()

    def unfold(self) -> str | None:
        """Put a paste in the place of its chip, the one at the cursor or else the last one.

        A sentence where there is none, or where it is too long to be shown.
        """
        places = [
            ((row, line.index(chip)), chip)
            for row, line in enumerate(self.document.lines)
            for chip in self._chips.pastes
            if chip in line
        ]
        if not places:
            return "There is no folded paste here."
        row, column = self.cursor_location
        here = [p for p in places if p[0][0] == row and 0 <= column - p[0][1] <= len(p[1])]
        (row, column), chip = max(here or places)
        paste = self._chips.pastes[chip]
        if len(paste) > UNFOLD_LIMIT:
            return f"{len(paste):,} characters are too many for this box; open it in your editor."
        self.history.checkpoint()
        self.insert_over(paste, (row, column), (row, column + len(chip)))
        return None

    def insert_over(self, text: str, start: tuple[int, int], end: tuple[int, int]) -> None:
        """Put `text` between two places, the cursor behind it."""
        result = self.replace(text, start, end)
        self.move_cursor(result.end_location)

    def _chip_before(self) -> str:
        row, column = self.cursor_location
        return self._chips.chip_before(self.document.get_line(row)[:column])


class Composer(MessageArea):
    """The message box of a conversation, with earlier messages.

    What is written is a message, whatever is asked at the time; it is sent as an answer only to
    what it was written for (`addressee`).
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("pageup", "screen.scroll_chat(-1)", show=False),
        Binding("pagedown", "screen.scroll_chat(1)", show=False),
        # The text box has keys of its own for these.
        *(
            Binding(BY_ID[name].keys, f"screen.do('{name}')", show=False, id=name)
            for name in ("external_editor", "next_waiting", "open_shell", "search")
        ),
    ]

    class Emptied(Message):
        """A text was removed that was not sent."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Ordered(Message):
        """A command of Spinney's own was written, such as `/model`."""

        def __init__(self, line: str) -> None:
            super().__init__()
            self.line = line

    class Held(Message):
        """Enter was pressed on a text that was written for something else than what is asked now;
        it stays in the box."""

    class NothingWritten(Message):
        """Enter was pressed on an empty box."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.offer: Callable[[events.Key, bool], bool] = lambda event, is_empty: False
        """Told every key, and whether the box is empty; whether a request took it."""
        self.addressee: Callable[[], str | None] = lambda: ""
        """What a text that is begun now is written for: a request's id, nothing (empty), or
        `None` where a request came so recently that nobody can have read it."""
        self.sending: Callable[[], None] = lambda: None
        """Told at once that a message leaves the box: the next key may follow in the same read."""
        self.written_for: str | None = ""
        """What the text in the box was begun for."""
        self.completion: Callable[[str], bool] = lambda key: False
        """Asked for every key: whether the list of completions took it."""
        self.take_back: Callable[[], bool] = lambda: False
        """Asked for up in an empty box: whether a message comes back that still waits."""
        self.to_newest: Callable[[], bool] = lambda: False
        """Asked for end in an empty box: whether the conversation goes to its newest message."""
        self.unsent: Callable[[], Container[str]] = lambda: ()
        """Messages that wait or are on their way: recalled, they would be sent twice."""
        self.is_order: Callable[[str], bool] = lambda text: False
        """Whether a text is a command of Spinney's own."""
        self.takes_images = True
        """Whether this machine's files are those that the agent can look at."""
        self.earlier: list[str] = []
        """Messages sent before in this project, oldest first."""
        self._recalled: int | None = None
        self._unsent = Draft()

    async def on_key(self, event: events.Key) -> None:
        """Offer keys to a request, and go through earlier messages at the edges."""
        self._note_addressee()
        if is_burst(event):
            self.offer(event, False)
        elif (
            self.offer(event, not self.text.strip())  # blanks are sent to nobody
            or self.completion(event.key)
            or (event.key == "up" and not self.text and self.take_back())
            or (event.key == "end" and not self.text and self.to_newest())
            or (event.key == "up" and self.cursor_location[0] == 0 and self._recall(-1))
            or (event.key == "down" and self._at_last_line and self._recall(+1))
        ):
            self._taken(event)

    async def on_paste(self, event: events.Paste) -> None:
        """A path of an image, pasted or dropped, goes with the message as an image."""
        self._note_addressee()
        images = await asyncio.to_thread(dropped_images, event.text)
        if images and not self.takes_images:
            self.notify(
                "Images are read by the machine that Spinney runs on, which is not this one: "
                "the path was pasted as text.",
                markup=False,
            )
        elif images:
            event.stop()
            event.prevent_default()
            self.insert_paste("".join(f"{self._chips.attach(path)} " for path in images))

    @property
    def _at_last_line(self) -> bool:
        return self.cursor_location[0] == self.document.line_count - 1

    def _note_addressee(self) -> None:
        if not self.text:
            self.written_for = self.addressee()

    def write(self, text: str) -> None:
        """Insert what was typed elsewhere."""
        self._note_addressee()
        self.insert(text)

    def rewrite(self, draft: Draft) -> None:
        """Put another text in the place of this one; undo brings this one back."""
        self._note_addressee()
        super().rewrite(draft)

    def empty(self) -> bool:
        """Remove the whole text; it is the newest of the earlier messages then."""
        text = self.draft.full()
        if was_any := super().empty():
            self.post_message(self.Emptied(text))
        return was_any

    def _recall(self, step: int) -> bool:
        if not self.text and step < 0:
            self._recalled = None  # what was brought back has been removed
        if self._recalled is None:
            if step > 0 or not self.earlier:
                return False
            self._unsent = self.draft
            self._recalled = len(self.earlier)
        unsent, position = self.unsent(), self._recalled + step
        while 0 <= position < len(self.earlier) and self.earlier[position] in unsent:
            position += step
        if position < 0:
            return True
        if position >= len(self.earlier):
            self._recalled = None
            self.draft = self._unsent
            return True
        self._recalled = position
        self.draft = Draft.of(self.earlier[position])
        return True

    def begin(self, draft: Draft, earlier: list[str], written_for: str | None) -> None:
        """Show another conversation's draft."""
        self._recalled = None
        self.earlier = earlier
        self.draft = draft
        self.written_for = written_for

    def submit(self) -> None:
        """Post what was written, and empty the box at once: the next word may be typed already."""
        draft = self.draft
        text, images = draft.full(), draft.image_paths()
        if not text.strip() and not images:
            self.post_message(self.NothingWritten())
            return
        is_order = self.is_order(text)
        addressee = self.addressee()
        if not is_order and (addressee is None or addressee != self.written_for):
            self.post_message(self.Held())
            return
        self._recalled = None
        self.draft = Draft()
        if is_order:
            self.post_message(self.Ordered(text.strip()))
        else:
            self.sending()
            self.post_message(self.Submitted(self, text, images, addressee or ""))
