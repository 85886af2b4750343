"""The hand of a person at the terminal: keys, clicks, and what it has written where."""

import time
from collections import defaultdict
from typing import Any, Final

from tests.journeys.ledger import MARK, Conversation, FoundError
from tests.journeys.terminal_place import TerminalPlace
from tests.patience import PATIENCE

ESCAPE, ENTER, TAB, DELETE = "\x1b", "\r", "\t", "\x1b[3~"
PALETTE = "\x10"
UP, DOWN, END, EMPTY = "\x1b[A", "\x1b[B", "\x1b[F", "\x15"
CALM: Final = 0.5
"""Seconds without a key, after which enter counts as meant for a request."""
READING: Final = 1.0
"""Seconds in which somebody reads what has come; after them a request takes keys."""
PRESS: Final = 0.02
"""Seconds between the keys of somebody who types."""
TIMES_HELD: Final = 2
"""How often a text may stay in the box because something else is asked than what it was for."""


class Hand:
    """Presses keys, and remembers what stands in each message box."""

    def __init__(self, patience: float = PATIENCE) -> None:
        self.place = TerminalPlace(patience)
        self.boxes: defaultdict[str, str] = defaultdict(str)
        """What stands in the message box of each session."""

    @property
    def shown(self) -> Conversation | None:
        """The session that is open."""
        return self.place.shown

    def press(self, keys: str) -> None:
        """In one piece."""
        self.place.terminal.write(keys)

    def click(self, column: int, row: int) -> None:
        """Press and release the mouse's button."""
        for end in "Mm":
            self.press(f"\x1b[<0;{column};{row}{end}")

    def go_to_box(self) -> None:
        """Click into the message box: the keys may be in the conversation. Then behind the text."""
        self.click_into_box(0)
        self.press(END)

    def click_into_box(self, column: int) -> None:
        """Click into the first row of the message box, at this character."""
        place = self.place.view.box
        if place is None:
            raise FoundError("there is no message box")
        self.click(place[0] + column, place[1])

    def write_in(self, here: Conversation, text: str, burst: bool, after: str = "") -> None:
        """Type into the message box, and press the keys `after` it."""
        self.place.ledger.type(text.strip(), here.id)
        self.boxes[here.id] += text
        for keys in [text + after] if burst else [*text, after]:
            self.press(keys)
            time.sleep(0 if burst else PRESS)

    def await_sent(self, here: Conversation) -> None:
        """Wait until what stands in the box is said, once enter was pressed."""
        text = self.boxes.pop(here.id)
        self.place.ledger.send(text, here.id)
        self.place.scrolled.discard(here.id)
        wanted = "".join(text.split())

        def is_said() -> bool:
            return wanted in "".join("".join(self.place.world.texts).split())

        self.place.look_on(is_said)
        for _ in range(TIMES_HELD):
            if not is_said() and set(MARK.findall(text)) & self.place.view.written:
                # It was for something else than what is asked now; another enter says it is meant.
                self.press(ENTER)
                self.place.look_on(is_said)
        self.place.settle(lambda: "" if is_said() else f"typed and not sent: {text}")

    def find_draft(self, text: str) -> str:
        """The session in whose message box a text came to stand."""
        keys: list[str] = []

        def complain() -> str:
            keys[:] = [key for key, draft in self.place.drafts().items() if text in draft]
            return "" if keys else f"typed, and in no message box: {text}"

        self.place.settle(complain)
        return keys[0]

    def empty_box(self, here: Conversation, text: str) -> None:
        """Remove what stands in the box, of which this text is a part."""
        self.press(EMPTY)
        self.place.settle(
            lambda: f"not removed: {text}" if text in self.place.drafts().get(here.id, "") else ""
        )

    def now(self, here: Conversation) -> Conversation:
        """The session as it has become."""
        self.place.read()
        return self.place.world.conversations[here.id]

    def request_of(self, here: Conversation) -> Any:
        """The id of what the session asks, if it does."""
        request = self.now(here).request
        return request["id"] if request is not None else None
