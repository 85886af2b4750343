"""A person at the message box of a page: what is written, sent, and taken back while it waits."""

from typing import Final

from playwright.sync_api import Locator

from tests.journeys.ledger import Conversation, FoundError
from tests.journeys.page_hands import press, press_if_there
from tests.journeys.page_place import PagePlace
from tests.journeys.page_waiting import take
from tests.journeys.speech import DIRECTIVES
from tests.patience import PATIENCE

PRESS: Final = 15
"""Milliseconds between the keys of somebody who types."""


class WritingSteps:
    """Steps about the message box of the open session."""

    place: PagePlace | None = None
    """Made by the first step, which says before which screen somebody sits."""

    def __init__(self, patience: float = PATIENCE) -> None:
        self.patience = patience

    @property
    def at(self) -> PagePlace:
        """Where the journey goes."""
        assert self.place is not None, "the first step is `sit_down`"
        return self.place

    @property
    def shown(self) -> Conversation | None:
        """The session that is open."""
        return self.at.shown if self.place is not None else None

    def send(self, kind: str, burst: bool) -> None:
        """Give the demo agent something to do."""
        if self._type(DIRECTIVES[kind].format(mark=self.at.ledger.mark()), burst):
            self._submit()

    def write(self, words: str, burst: bool) -> None:
        """Write a sentence, and send nothing."""
        self._type(f"{words} {self.at.ledger.mark()}", burst)

    def submit(self) -> None:
        """Send what stands in the box."""
        if self._can_write() and self._box.input_value().strip():
            self._submit()

    @property
    def _box(self) -> Locator:
        return self.at.page.locator(".composer textarea")

    def _can_write(self) -> bool:
        here = self.shown
        return here is not None and not here.is_archived

    def _type(self, text: str, burst: bool) -> bool:
        """Put the keys into the message box and write at its end, on a line of its own."""
        if not self._can_write():
            return False
        self._press(self._box)
        keyboard = self.at.page.keyboard
        keyboard.press("Control+End")
        self.at.ledger.type(text)
        lines = ["", *text.split("\n")] if self._box.input_value() else text.split("\n")
        if burst:
            keyboard.insert_text("\n".join(lines))
        else:
            for at, line in enumerate(lines):
                if at:
                    keyboard.press("Shift+Enter")
                keyboard.type(line, delay=PRESS)
        if "".join(text.split()) not in "".join(self._box.input_value().split()):
            raise FoundError(f"typed beside the box: {text}")
        return True

    def _submit(self) -> None:
        here = self.shown
        text = self._box.input_value().strip()
        assert here is not None
        self.at.ledger.send(text, here.id)
        if self.at.screen.touch:
            self._press(self.at.page.locator(".composer button.primary"))
        else:
            self._box.press("Enter")
        self.at.is_scrolled = False
        wanted = "".join(text.split())

        def complain() -> str:
            seen = self.at.look()
            places = [*self.at.world.texts, *seen.texts]
            is_kept = any(wanted in "".join(place.split()) for place in places)
            return "" if is_kept and not seen.box else f"typed and not sent: {text}"

        self.at.settle(complain)

    def edit_waiting(self, number: int) -> None:
        """Take a message that waits back into the box."""
        if (here := self.shown) is not None and not here.is_archived:
            take(self.at, here, number, "Edit")

    def remove_waiting(self, number: int) -> None:
        """Delete a message that waits."""
        if (here := self.shown) is not None and not here.is_archived:
            take(self.at, here, number, "Remove")

    # How it is done -----------------------------------------------------------------------------

    def _press(self, control: Locator) -> None:
        press(self.at, control)

    def _press_if_there(self, control: Locator, *, wait: bool = False) -> bool:
        return press_if_there(self.at, control, wait=wait)
