"""Steps on the terminal that start work: a command, `/clear`, a worktree with a setup script."""

import time
from typing import Final

from tests.journeys.ledger import Conversation
from tests.journeys.prompts import DIRECTIVES, LAST_OUTPUT, RUN_COMMAND, first_output
from tests.journeys.second_client import MAX_SESSIONS
from tests.journeys.setup import block_script, finish_script
from tests.journeys.terminal_input import ENTER, ESCAPE, PALETTE, READING_SECONDS
from tests.journeys.terminal_queue import QueueSteps

SETUP_RUNNING: Final = "waiting for setup"
SETUP_FAILED: Final = "setup failed, enter sends anyway"
STOPS_SETUP: Final = "esc again stops the setup."
"""Texts about a message that waits for the setup of its worktree."""


class WorkSteps(QueueSteps):
    """Steps that start some work and check its result."""

    def run_command(self) -> None:
        """Have the agent run a command, and check the output while it runs and afterwards."""
        current = self.shown
        if (
            current is None
            or not self._is_free(current)
            or current.session["execution_mode"] == "plan"
        ):
            return
        mark = self.harness.ledger.new_mark()
        go = self.harness.program.place / mark
        self.focus_box()
        self.type_into_box(current, RUN_COMMAND.format(mark=mark, go=go), True, ENTER)
        self.await_sent(current)
        has_output = lambda view: first_output(mark) in view.conversation  # noqa: E731
        self.harness.wait_for(has_output, "the output of the command")
        go.touch()
        self.harness.settle(
            lambda: "it is still running" if self._status(current) == "running" else ""
        )
        has_ended = lambda view: not has_output(view) or LAST_OUTPUT in view.conversation  # noqa: E731
        self.harness.wait_for(has_ended, "the end of the output")

    def clear(self) -> None:
        """Start a new session by `/clear`; the open session does not change."""
        current, before = self.shown, set(self.harness.world.conversations)
        if current is None or not self._is_free(current) or len(before) >= MAX_SESSIONS:
            return
        self.harness.ledger.expect("session-created")
        self.focus_box()
        self.press("/clear" + ENTER)
        name = self.rename_new_session(before)
        new = self.harness.world.find_by_name(name)
        kept = self.harness.world.conversations[current.id]
        assert new is not None and not new.messages
        assert new.session["execution_mode"] == current.session["execution_mode"]
        assert not kept.is_archived and len(kept.messages) >= len(current.messages)

    def await_new_session(self, before: set[str]) -> str:
        """Wait for the session that was just created, and return its id."""
        find_new = lambda: set(self.harness.world.conversations) - before  # noqa: E731
        self.harness.settle(lambda: "" if find_new() else "no session was created")
        return find_new().pop()

    def rename_new_session(self, before: set[str]) -> str:
        """Wait for the session that was just created, and return its new, unique name."""
        session_id = self.await_new_session(before)
        name = self.harness.second.new_name()
        self.harness.client.call("update_session", sessionId=session_id, name=name)
        self.harness.wait_for_session(name)
        return name

    def begin_in_setup(self, outcome: str) -> None:
        """Send a message in a worktree whose setup is running, and end or stop the setup."""
        if len(self.harness.world.conversations) >= MAX_SESSIONS:
            return
        block_script(self.harness.program, "setup")
        session_id = self.harness.second.create_worktree_session(
            self.harness.client, self.harness.world
        )
        self.harness.refresh()
        current = self.harness.world.conversations[session_id]
        self.open_by_name(current)
        self.type_into_box(
            current, DIRECTIVES["say"].format(mark=self.harness.ledger.new_mark()), True, ENTER
        )
        self.await_sent(current)
        self._wait_for(SETUP_RUNNING)
        if outcome == "stopped":
            self._stop_setup()
        else:
            finish_script(self.harness.program, "setup", succeeds=outcome == "success")
        if outcome != "success":
            self._wait_for(SETUP_FAILED)
            time.sleep(READING_SECONDS)
            self.press(ENTER)
        self.harness.settle(
            lambda: "" if self._has_messages(session_id) else "the message is still waiting"
        )
        finish_script(self.harness.program, "setup")

    def _stop_setup(self) -> None:
        """Press Escape, and again where the terminal asks for it as a screen has just closed."""
        self.press(ESCAPE)
        is_asked = lambda view: STOPS_SETUP in "\n".join(view.rows)  # noqa: E731
        if self.harness.screen_shows(is_asked, READING_SECONDS):
            self.press(ESCAPE)

    def open_by_name(self, conversation: Conversation) -> None:
        """Open a session by its name on the canvas."""
        self.press(PALETTE)
        self.harness.wait_for(lambda view: view.has_palette, "the palette")
        self.press("All sessions (canvas)" + ENTER)
        self.harness.wait_for(lambda view: view.shows_canvas, "the canvas")
        self.press(conversation.name + ENTER)
        self.harness.wait_for_session(conversation.name)

    def _wait_for(self, words: str) -> None:
        self.harness.wait_for(lambda view: words in "\n".join(view.rows), f"“{words}”")

    def _has_messages(self, session_id: str) -> bool:
        return bool(self.harness.world.conversations[session_id].messages)

    def _status(self, current: Conversation) -> str:
        return self.harness.world.conversations[current.id].status

    def _is_free(self, current: Conversation) -> bool:
        """Whether the session is idle and its message box is empty."""
        is_written = self.box_texts.get(current.id) or self.harness.read_drafts().get(current.id)
        return (
            current.status == "idle"
            and not current.queued
            and not current.is_archived
            and not is_written
        )
