"""A person and the messages that wait behind a run: more of them, changed, removed, taken back."""

import time
from typing import Any, Final

from tests.journeys.ledger import MARK, Conversation, FoundError
from tests.journeys.speech import DIRECTIVES, LONG
from tests.journeys.terminal_hand import DELETE, ENTER, TAB, UP, Hand

ROWS: Final = 4
"""Waiting messages that are drawn."""
REACH: Final = 2.0
"""Seconds in which a key has led to the next pane, as a rule."""


def text_of(message: dict[str, Any]) -> str:
    """What a message says."""
    return "".join(block.get("text", "") for block in message["content"])


class QueueSteps(Hand):
    """Steps about the queue of the open session."""

    def queue_up(self, kinds: list[str]) -> None:
        """Give the agent long work, and meanwhile more to do."""
        here = self.shown
        if here is None or here.request is not None or self.boxes.get(here.id):
            return
        for text in (LONG, *(DIRECTIVES[kind] for kind in kinds)):
            self.write_in(here, text.format(mark=self.place.ledger.mark()), True, ENTER)
            self.await_sent(here)

    def take_back(self, words: str = "") -> None:
        """Take the newest message back into the box, by the arrow up, and write on in one piece."""
        here = self.shown
        if here is None or not here.queued or here.request is not None or self.boxes.get(here.id):
            return
        wanted = here.queued[-1]
        written = f"{words} {self.place.ledger.mark()}"
        self._wait_for_rows(here)
        self.place.ledger.type(written, here.id)
        self.go_to_box()
        self.press(UP + written)

        def complain() -> str:
            if written not in self.place.drafts().get(here.id, ""):
                return f"typed, and in no message box: {written}"
            # What the agent asks meanwhile takes the arrow.
            is_asked = self.place.world.conversations[here.id].request is not None
            is_left = self._waits(here, wanted) and not is_asked
            return "the queued message was not taken back" if is_left else ""

        self.place.settle(complain)
        if self._is_removed(here, wanted):
            self._is_in_box(here, wanted)
        else:  # It was sent before; what the key brought, if anything, was written earlier.
            self.empty_box(here, written)

    def change_queued(self, number: int, by_keys: bool) -> None:
        """Take one of the messages back into the box."""
        here = self.shown
        if here is None or self.boxes.get(here.id):
            return
        if (wanted := self._take_out(here, number, by_keys, "edit")) is not None:
            self._is_in_box(here, wanted)

    def remove_queued(self, number: int, by_keys: bool) -> None:
        """Remove one of the messages, which `↑` brings back."""
        here = self.shown
        wanted = self._take_out(here, number, by_keys, "remove") if here is not None else None
        if here is not None and wanted is not None:
            self.place.ledger.take_back(text_of(wanted))
            self.place.ledger.type(text_of(wanted), here.id)

    def send_queued(self) -> None:
        """Send what waits after a stop, by enter on the empty box."""
        here = self.shown
        if here is None or not here.queued or self.boxes.get(here.id):
            return
        if here.status not in ("idle", "failed") or here.is_archived:
            return
        says_so = lambda view: "nter sends" in "\n".join(view.rows)  # noqa: E731
        self.place.wait_for(says_so, "the word that enter sends what is queued")
        self.go_to_box()
        self.press(ENTER)
        first = here.queued[0]
        self.place.settle(lambda: "what is queued is not sent" if self._waits(here, first) else "")

    # How it is done -----------------------------------------------------------------------------

    def _take_out(
        self, here: Conversation, number: int, by_keys: bool, word: str
    ) -> dict[str, Any] | None:
        """The message that was taken out of the queue by this word, or by the key for it."""
        if not here.queued or len(here.queued) > ROWS:
            return None
        # Behind a run they move up at any time: only the newest has nobody's row after that.
        at = len(here.queued) - 1 if here.status == "running" else number % len(here.queued)
        wanted = here.queued[at]
        self._wait_for_rows(here)
        mark = MARK.findall(text_of(wanted))[0]
        if by_keys:
            if not self._mark_row(mark):
                return None
            self.press(ENTER if word == "edit" else DELETE)
        elif place := self.place.view.word_in_queue(mark, word):
            self.click(*place)
        self.place.settle(
            lambda: f"{word} did nothing to {mark}" if self._waits(here, wanted) else ""
        )
        self.go_to_box()
        return wanted if self._is_removed(here, wanted) else None

    def _mark_row(self, mark: str) -> bool:
        """Go to the queue by tab, and to the row with this mark; whether it is there."""
        self.go_to_box()
        end = time.monotonic() + self.place.patience
        while mark not in (row := self.place.view.marked_in_queue):
            if time.monotonic() > end:
                raise FoundError(f"no key leads to the row of {mark}")
            if mark not in self.place.view.queue:  # It has begun meanwhile.
                self.go_to_box()
                return False
            hints = self.place.view.rows[-1]
            self.press(UP if row else TAB)
            self.place.comes(
                lambda view: (view.marked_in_queue, view.rows[-1]) != (row, hints),  # noqa: B023
                REACH,
            )
        return True

    def _is_in_box(self, here: Conversation, message: dict[str, Any]) -> None:
        """A message was taken back: wait until it stands in the box, as the disk has it."""
        text = text_of(message)
        self.place.ledger.take_back(text)
        self.place.ledger.type(text, here.id)
        if self.find_draft(text) != here.id:
            raise FoundError(f"taken back into another session: {text}")
        self.boxes[here.id] = self.place.drafts()[here.id]

    def _wait_for_rows(self, here: Conversation) -> None:
        """Wait until the messages are drawn that wait; of many, the first."""

        def complain() -> str:
            queued = self.place.world.conversations[here.id].queued[:ROWS]
            marks = {MARK.findall(text_of(message))[0] for message in queued}
            missing = marks - set(MARK.findall(self.place.view.queue))
            return f"{sorted(missing)} wait, and are not in the queue on the screen" * bool(missing)

        self.place.settle(complain)

    def _waits(self, here: Conversation, message: dict[str, Any]) -> bool:
        queued = self.place.world.conversations[here.id].queued
        return any(other["id"] == message["id"] for other in queued)

    def _is_removed(self, here: Conversation, message: dict[str, Any]) -> bool:
        """Whether it is neither said nor waits."""
        now = self.now(here)
        return all(other["id"] != message["id"] for other in [*now.messages, *now.queued])
