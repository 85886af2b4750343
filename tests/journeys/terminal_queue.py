"""Steps on the terminal with queued messages: add, edit, remove, take back."""

import time
from typing import Any, Final

from tests.journeys.ledger import MARK, Conversation, InvariantError
from tests.journeys.prompts import DIRECTIVES, LASTING_LIMIT, LONG
from tests.journeys.terminal_input import DELETE, ENTER, SEND_NOW, TAB, UP, TerminalInput

MAX_ROWS: Final = 4
"""Number of queued messages that are drawn at most."""
FOCUS_SECONDS: Final = 2.0
"""Seconds to wait for a key to move the focus."""


def text_of(message: dict[str, Any]) -> str:
    """The text of a message."""
    return "".join(block.get("text", "") for block in message["content"])


class QueueSteps(TerminalInput):
    """Steps with the queue of the open session."""

    def queue_up(self, kinds: list[str]) -> None:
        """Send a message that takes long, and more messages behind it."""
        current = self.shown
        if current is None or current.request is not None or self.box_texts.get(current.id):
            return
        for text in (LONG, *(DIRECTIVES[kind] for kind in kinds)):
            self.type_into_box(
                current, text.format(mark=self.harness.ledger.new_mark()), True, ENTER
            )
            self.await_sent(current)

    def take_back(self, words: str = "") -> None:
        """Take the newest queued message back by Up, and type `words` in the same write."""
        current = self.shown
        if (
            current is None
            or not current.queued
            or current.request is not None
            or self.box_texts.get(current.id)
        ):
            return
        message = current.queued[-1]
        written = f"{words} {self.harness.ledger.new_mark()}"
        self._wait_for_rows(current)
        self.harness.ledger.record_typed(written, current.id)
        self.focus_box()
        self.press(UP + written)

        def find_problem() -> str:
            if written not in self.harness.read_drafts().get(current.id, ""):
                return f"typed and in no message box: {written}"
            # If the agent asks something meanwhile, the request receives the key.
            is_asked = self.harness.world.conversations[current.id].request is not None
            is_left = self._is_queued(current, message) and not is_asked
            return "the queued message was not taken back" if is_left else ""

        self.harness.settle(find_problem)
        if self._is_removed(current, message):
            self._await_in_box(current, message)
        else:  # It was sent before; the key may have recalled an older text.
            self.clear_box(current, written)

    def edit_queued(self, number: int, by_keys: bool) -> None:
        """Take one of the queued messages back into the box."""
        current = self.shown
        if current is None or self.box_texts.get(current.id):
            return
        if (message := self._take_from_queue(current, number, by_keys, "edit")) is not None:
            self._await_in_box(current, message)

    def remove_queued(self, number: int, by_keys: bool) -> None:
        """Remove one of the queued messages; `↑` can recall its text."""
        current = self.shown
        message = (
            self._take_from_queue(current, number, by_keys, "remove")
            if current is not None
            else None
        )
        if current is not None and message is not None:
            self.harness.ledger.record_removed(text_of(message))
            self.harness.ledger.record_typed(text_of(message), current.id)

    def send_queued(self) -> None:
        """Press Enter in the empty box to send what is still queued after a stop."""
        current = self.shown
        if current is None or not current.queued or self.box_texts.get(current.id):
            return
        if current.status not in ("idle", "failed") or current.is_archived:
            return
        is_offered = lambda view: "nter sends" in "\n".join(view.rows)  # noqa: E731
        self.harness.wait_for(is_offered, "the hint that Enter sends the queue")
        self.focus_box()
        self.press(ENTER)
        first = current.queued[0]
        self.harness.settle(
            lambda: "the queue is not sent" if self._is_queued(current, first) else ""
        )

    def send_now(self) -> None:
        """Press the key that sends the next queued message into the running turn."""
        current = self.shown
        if current is None or self.box_texts.get(current.id) or current.request is not None:
            return
        waiting = [message for message in current.queued if not message.get("steered")]
        if current.status != "running" or not waiting:
            return
        self._wait_for_rows(current)
        self.focus_box()
        self.press(SEND_NOW)

        def find_problem() -> str:
            now = self.harness.world.conversations[current.id]
            if now.status != "running" or now.request is not None:
                return ""  # the turn ended before the key arrived
            found = [message for message in now.queued if message["id"] == waiting[0]["id"]]
            return "it is queued as before" if found and not found[0].get("steered") else ""

        self.harness.settle(find_problem)

    def resume_at_limit(self, by_command: bool) -> None:
        """Reach a limit with messages queued behind it, and go on long before it resets."""
        current = self.shown
        if current is None or current.status != "idle" or self.box_texts.get(current.id):
            return
        for text in (LASTING_LIMIT, DIRECTIVES["say"], DIRECTIVES["say"]):
            self.type_into_box(
                current, text.format(mark=self.harness.ledger.new_mark()), True, ENTER
            )
            self.await_sent(current)
        self._await_status(current, "paused")
        if by_command:
            self.focus_box()
            self.press("/continue now" + ENTER)
        else:
            self.harness.client.call("resume_session", sessionId=current.id)
        self._await_status(current, "idle")

    # Implementation -----------------------------------------------------------------------------

    def _take_from_queue(
        self, current: Conversation, number: int, by_keys: bool, action: str
    ) -> dict[str, Any] | None:
        """Remove a message from the queue by a click on this word or by its key, and return it."""
        if not current.queued or len(current.queued) > MAX_ROWS:
            return None
        # While the agent runs, the queue may move up. Only the newest keeps a row of its own.
        index = (
            len(current.queued) - 1 if current.status == "running" else number % len(current.queued)
        )
        message = current.queued[index]
        self._wait_for_rows(current)
        mark = MARK.findall(text_of(message))[0]
        if by_keys:
            if not self._select_row(mark):
                return None
            self.press(ENTER if action == "edit" else DELETE)
        elif position := self.harness.view.find_queue_action(mark, action):
            self.click(*position)
        self.harness.settle(
            lambda: f"{action} did nothing to {mark}" if self._is_queued(current, message) else ""
        )
        self.focus_box()
        return message if self._is_removed(current, message) else None

    def _select_row(self, mark: str) -> bool:
        """Select the row with this mark by Tab and Up. Return whether it is still there."""
        self.focus_box()
        end = time.monotonic() + self.harness.patience
        while mark not in (row := self.harness.view.selected_queue_row):
            if time.monotonic() > end:
                raise InvariantError(f"cannot select the row of {mark}")
            if mark not in self.harness.view.queue:  # The agent has begun with it meanwhile.
                self.focus_box()
                return False
            hints = self.harness.view.rows[-1]
            self.press(UP if row else TAB)
            self.harness.screen_shows(
                lambda view: (view.selected_queue_row, view.rows[-1]) != (row, hints),  # noqa: B023
                FOCUS_SECONDS,
            )
        return True

    def _await_in_box(self, current: Conversation, message: dict[str, Any]) -> None:
        """Wait until a message that was taken back is in the box, and saved."""
        text = text_of(message)
        self.harness.ledger.record_removed(text)
        self.harness.ledger.record_typed(text, current.id)
        if self.find_draft(text) != current.id:
            raise InvariantError(f"taken back into another session: {text}")
        self.box_texts[current.id] = self.harness.read_drafts()[current.id]

    def _wait_for_rows(self, current: Conversation) -> None:
        """Wait until the first `MAX_ROWS` queued messages are drawn."""

        def find_problem() -> str:
            queued = self.harness.world.conversations[current.id].queued[:MAX_ROWS]
            marks = {MARK.findall(text_of(message))[0] for message in queued}
            missing = marks - set(MARK.findall(self.harness.view.queue))
            return f"{sorted(missing)} are queued and not drawn" * bool(missing)

        self.harness.settle(find_problem)

    def _await_status(self, current: Conversation, status: str) -> None:
        """Wait until the session has this status, and nothing in its queue once it is idle."""

        def find_problem() -> str:
            now = self.harness.world.conversations[current.id]
            is_reached = now.status == status and not (status == "idle" and now.queued)
            left = [text_of(message) for message in now.queued]
            return "" if is_reached else f"{now.name} is {now.status}, not {status}: {left}"

        self.harness.settle(find_problem)

    def _is_queued(self, current: Conversation, message: dict[str, Any]) -> bool:
        queued = self.harness.world.conversations[current.id].queued
        return any(other["id"] == message["id"] for other in queued)

    def _is_removed(self, current: Conversation, message: dict[str, Any]) -> bool:
        """Whether a message is neither in the conversation nor in the queue."""
        updated = self.reread(current)
        return all(other["id"] != message["id"] for other in [*updated.messages, *updated.queued])
