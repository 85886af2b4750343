"""Keyboard and mouse input on the terminal, with a record of the typed text."""

import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any, Final

from tests.journeys.ledger import MARK, Conversation
from tests.journeys.screen import View
from tests.journeys.terminal_harness import TerminalHarness
from tests.patience import PATIENCE

ESCAPE, ENTER, TAB, DELETE = "\x1b", "\r", "\t", "\x1b[3~"
PALETTE, SEND_NOW = "\x10", "\x1bs"
UP, DOWN, END, CLEAR_LINE = "\x1b[A", "\x1b[B", "\x1b[F", "\x15"
KEY_PAUSE: Final = 0.5
"""Seconds without a key after which a request accepts Enter."""
READING_SECONDS: Final = 1.0
"""Seconds to read a new request; afterwards it accepts keys."""
KEY_INTERVAL: Final = 0.02
"""Seconds between the keys when typing."""
MAX_RETRIES: Final = 2
"""How often Enter may leave the text in the box because the request has changed meanwhile."""


class TerminalInput:
    """Presses keys and records the text in each message box."""

    def __init__(self, patience: float = PATIENCE) -> None:
        self.harness = TerminalHarness(patience)
        self.box_texts: defaultdict[str, str] = defaultdict(str)
        """The text in the message box of each session."""

    @property
    def shown(self) -> Conversation | None:
        """The open session."""
        return self.harness.shown

    def press(self, keys: str) -> None:
        """Send keys in a single write."""
        self.harness.terminal.write(keys)

    def click(self, column: int, row: int, after: str = "") -> None:
        """Click with the left mouse button, and press the keys in `after` in the same write."""
        place = f"\x1b[<0;{column};{row}"
        self.press(f"{place}M{place}m{after}")

    def focus_box(self) -> None:
        """Focus the message box by a click, and move the cursor to the end of the text."""
        self.click(*self._await_box_position(lambda view: view.box_end), END)

    def click_into_box(self, column: int) -> None:
        """Click on this column of the first row of the message box."""
        first, row = self._await_box_position(lambda view: view.box_position)
        self.click(first + column, row)

    def _await_box_position(
        self, find: Callable[[View], tuple[int, int] | None]
    ) -> tuple[int, int]:
        """Wait until the box is drawn, as a person does after a start."""
        found: list[tuple[int, int]] = []

        def is_drawn(view: View) -> bool:
            position = find(view)
            found.extend([position] if position is not None else [])
            return bool(found)

        self.harness.wait_for(is_drawn, "the message box")
        return found[0]

    def type_into_box(self, current: Conversation, text: str, burst: bool, after: str = "") -> None:
        """Type into the message box, then press the keys in `after`."""
        self.harness.ledger.record_typed(text.strip(), current.id)
        self.box_texts[current.id] += text
        for keys in [text + after] if burst else [*text, after]:
            self.press(keys)
            time.sleep(0 if burst else KEY_INTERVAL)

    def await_sent(self, current: Conversation) -> None:
        """Wait until the text in the box is sent, after Enter was pressed."""
        text = self.box_texts.pop(current.id)
        self.harness.ledger.record_sent(text, current.id)
        self.harness.scrolled.discard(current.id)
        wanted = "".join(text.split())

        def is_sent() -> bool:
            return wanted in "".join("".join(self.harness.world.texts).split())

        self.harness.poll_until(is_sent)
        for _ in range(MAX_RETRIES):
            if not is_sent() and set(MARK.findall(text)) & self.harness.view.box_marks:
                # The request changed while the text was typed. Another Enter confirms it.
                self.press(ENTER)
                self.harness.poll_until(is_sent)
        self.harness.settle(lambda: "" if is_sent() else f"typed and not sent: {text}")

    def find_draft(self, text: str) -> str:
        """Wait until a text is in a message box. Return the session's id."""
        keys: list[str] = []

        def find_problem() -> str:
            keys[:] = [key for key, draft in self.harness.read_drafts().items() if text in draft]
            return "" if keys else f"typed and in no message box: {text}"

        self.harness.settle(find_problem)
        return keys[0]

    def clear_box(self, current: Conversation, text: str) -> None:
        """Clear the box, which contains this text."""
        self.press(CLEAR_LINE)
        self.harness.settle(
            lambda: (
                f"not removed: {text}"
                if text in self.harness.read_drafts().get(current.id, "")
                else ""
            )
        )

    def reread(self, current: Conversation) -> Conversation:
        """Read the session again."""
        self.harness.refresh()
        return self.harness.world.conversations[current.id]

    def current_request_id(self, current: Conversation) -> Any:
        """The id of the session's request, if it has one."""
        request = self.reread(current).request
        return request["id"] if request is not None else None
