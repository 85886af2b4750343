"""Steps on the page with the message box: type, send, take queued messages back."""

from typing import Final

from playwright.sync_api import Locator

from tests.journeys.ledger import Conversation, InvariantError
from tests.journeys.page_harness import PageHarness
from tests.journeys.page_input import press, press_if_present
from tests.journeys.page_queue import send_now, take_from_queue
from tests.journeys.prompts import DIRECTIVES
from tests.patience import PATIENCE

KEY_INTERVAL: Final = 15
"""Milliseconds between the keys when typing."""


class WritingSteps:
    """Steps with the message box of the open session."""

    _harness: PageHarness | None = None
    """Created by the first step, `open_page`, which chooses the screen."""

    def __init__(self, patience: float = PATIENCE) -> None:
        self.patience = patience

    @property
    def harness(self) -> PageHarness:
        """The harness, once the page is open."""
        assert self._harness is not None, "the first step is `open_page`"
        return self._harness

    @property
    def shown(self) -> Conversation | None:
        """The open session."""
        return self.harness.shown if self._harness is not None else None

    def send(self, kind: str, burst: bool) -> None:
        """Send a directive to the demo agent."""
        if self._type(DIRECTIVES[kind].format(mark=self.harness.ledger.new_mark()), burst):
            self._submit()

    def write(self, words: str, burst: bool) -> None:
        """Type a sentence without sending it."""
        self._type(f"{words} {self.harness.ledger.new_mark()}", burst)

    def submit(self) -> None:
        """Send the text in the box."""
        if self._can_write() and self._box.input_value().strip():
            self._submit()

    @property
    def _box(self) -> Locator:
        return self.harness.page.locator(".composer textarea")

    def _can_write(self) -> bool:
        current = self.shown
        return current is not None and not current.is_archived

    def _type(self, text: str, burst: bool) -> bool:
        """Type a new line at the end of the message box. Return whether that is possible."""
        if not self._can_write():
            return False
        self._press(self._box)
        keyboard = self.harness.page.keyboard
        keyboard.press("Control+End")
        self.harness.ledger.record_typed(text)
        lines = ["", *text.split("\n")] if self._box.input_value() else text.split("\n")
        if burst:
            keyboard.insert_text("\n".join(lines))
        else:
            for index, line in enumerate(lines):
                if index:
                    keyboard.press("Shift+Enter")
                keyboard.type(line, delay=KEY_INTERVAL)
        if "".join(text.split()) not in "".join(self._box.input_value().split()):
            raise InvariantError(f"typed and not in the box: {text}")
        return True

    def _submit(self) -> None:
        current = self.shown
        text = self._box.input_value().strip()
        assert current is not None
        self.harness.ledger.record_sent(text, current.id)
        if self.harness.screen.touch:
            self._press(self.harness.page.locator(".composer button.primary"))
        else:
            self._box.press("Enter")
        self.harness.is_scrolled = False
        wanted = "".join(text.split())

        def find_problem() -> str:
            view = self.harness.read_view()
            texts = [*self.harness.world.texts, *view.texts]
            is_kept = any(wanted in "".join(each.split()) for each in texts)
            return "" if is_kept and not view.box else f"typed and not sent: {text}"

        self.harness.settle(find_problem)

    def edit_waiting(self, number: int) -> None:
        """Take a queued message back into the box."""
        if (current := self.shown) is not None and not current.is_archived:
            take_from_queue(self.harness, current, number, "Edit")

    def remove_waiting(self, number: int) -> None:
        """Delete a queued message."""
        if (current := self.shown) is not None and not current.is_archived:
            take_from_queue(self.harness, current, number, "Remove")

    def steer_waiting(self) -> None:
        """Send a queued message into the running turn."""
        if (current := self.shown) is not None and not current.is_archived:
            send_now(self.harness, current)

    # Implementation -----------------------------------------------------------------------------

    def _press(self, control: Locator) -> None:
        press(self.harness, control)

    def _press_if_present(self, control: Locator, *, wait: bool = False) -> bool:
        return press_if_present(self.harness, control, wait=wait)
