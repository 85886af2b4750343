"""Steps on the page that start work: a command, `/clear`, a worktree with a setup script."""

from typing import Any, Final

from tests.journeys.page_writing import WritingSteps
from tests.journeys.prompts import DIRECTIVES, LAST_OUTPUT, RUN_COMMAND, first_output
from tests.journeys.second_client import MAX_SESSIONS
from tests.journeys.setup import block_script, finish_script

SETUP_RUNNING: Final = "Waiting for setup"
SETUP_FAILED: Final = "Setup failed"
"""Texts about a message that waits for the setup of its worktree."""


class WorkSteps(WritingSteps):
    """Steps that start some work and check its result."""

    def run_command(self, is_reloaded: bool) -> None:
        """Have the agent run a command, and check the output while it runs and afterwards."""
        current = self.shown
        if current is None or not self._is_free() or current.session["execution_mode"] == "plan":
            return
        mark = self.harness.ledger.new_mark()
        go = self.harness.program.place / mark
        if not self._type(RUN_COMMAND.format(mark=mark, go=go), burst=True):
            return
        self._submit()
        has_output = lambda view: first_output(mark) in "".join(view.live)  # noqa: E731
        self.harness.wait_for(has_output, "the output of the command")
        if is_reloaded:
            self.harness.page.reload()
            self.harness.wait_for(has_output, "the earlier output of the command")
        go.touch()
        status = lambda: self.harness.world.conversations[current.id].status  # noqa: E731
        self.harness.settle(lambda: "it is still running" if status() == "running" else "")
        self._press(
            self.harness.page.locator(".message").last.locator("details.tool > summary").last
        )
        printed = first_output(mark) + "\n" + LAST_OUTPUT
        self.harness.wait_for(lambda view: printed in "".join(view.results), "the complete output")

    def clear(self) -> None:
        """Start a new session by `/clear`; the open session does not change."""
        current = self.shown
        before = set(self.harness.world.conversations)
        if current is None or not self._is_free() or len(before) >= MAX_SESSIONS:
            return
        self.harness.ledger.expect("session-created")
        if not self._type("/clear", burst=True):
            return
        self._press(self.harness.page.locator(".composer button.primary"))
        find_new = lambda: set(self.harness.world.conversations) - before  # noqa: E731
        self.harness.settle(lambda: "" if find_new() else "no session was created")
        (new_id,) = find_new()
        self.harness.client.call(
            "update_session", sessionId=new_id, name=self.harness.second.new_name()
        )
        self.harness.wait_for_session(new_id)
        self.harness.settle(lambda: self._check_fresh_session(new_id, current.session))

    def _check_fresh_session(self, new_id: str, old: dict[str, Any]) -> str:
        new, kept = (self.harness.world.conversations[each] for each in (new_id, old["id"]))
        if new.messages or new.session["execution_mode"] != old["execution_mode"]:
            return f"it is not an empty session in the mode {old['execution_mode']}: {new}"
        is_kept = not kept.is_archived and kept.session["message_count"] >= old["message_count"]
        return (
            ""
            if is_kept and not self.harness.read_view().box
            else f"{kept.name} has changed, or the message box is not empty"
        )

    def start_task(self) -> None:
        """Start a task with the form: a worktree with a session that gets the words."""
        before = set(self.harness.world.conversations)
        if not self.harness.is_online or len(before) >= MAX_SESSIONS:
            return
        page = self.harness.page
        self.harness.ledger.expect("worktree:creating")
        self.harness.ledger.expect("session-created")
        page.goto("/#/new")
        page.get_by_text("Build", exact=True).click()
        words = DIRECTIVES["say"].format(mark=self.harness.ledger.new_mark())
        page.get_by_role("textbox", name="First message").fill(words)
        self.harness.ledger.record_sent(words, "")  # its session does not exist yet
        self._press(page.get_by_role("button", name="Start", exact=True))
        find_new = lambda: set(self.harness.world.conversations) - before  # noqa: E731
        self.harness.settle(lambda: "" if find_new() else "no session was created")
        (new_id,) = find_new()
        self.harness.client.call(
            "update_session", sessionId=new_id, name=self.harness.second.new_name()
        )
        self.harness.wait_for_session(new_id)
        messages = lambda: self.harness.world.conversations[new_id].messages  # noqa: E731
        self.harness.settle(lambda: "" if messages() else "the words were not sent")

    def stop_in_list(self, number: int) -> None:
        """Stop a running session on the start view."""
        running = [each for each in self.harness.world.open_sessions if each.status == "running"]
        if not running or not self.harness.is_online:
            return
        current = running[number % len(running)]
        self.harness.page.goto("/#/needs")
        self._press_if_present(
            self.harness.page.locator(f'.running-item[data-key="{current.id}"] button')
        )

    def begin_in_setup(self, outcome: str) -> None:
        """Send a message in a worktree whose setup is running, and end or bypass the setup."""
        if not self.harness.is_online or len(self.harness.world.conversations) >= MAX_SESSIONS:
            return
        block_script(self.harness.program, "setup")
        new_id = self.harness.second.create_worktree_session(
            self.harness.client, self.harness.world
        )
        self.harness.page.goto(f"/#/session/{new_id}")
        self.harness.wait_for_session(new_id)
        if not self._type(
            DIRECTIVES["say"].format(mark=self.harness.ledger.new_mark()), burst=True
        ):
            return
        self._submit()
        self._wait_in_queue(SETUP_RUNNING)
        if outcome != "anyway":
            finish_script(self.harness.program, "setup", succeeds=outcome == "success")
        if outcome == "failure":
            self._wait_in_queue(SETUP_FAILED)
        if outcome != "success":
            self._press(self.harness.page.get_by_role("button", name="Send anyway"))
        messages = lambda: self.harness.world.conversations[new_id].messages  # noqa: E731
        self.harness.settle(lambda: "" if messages() else "the message is still waiting")
        finish_script(self.harness.program, "setup")

    def _wait_in_queue(self, words: str) -> None:
        self.harness.wait_for(lambda view: words in "".join(view.queue), f"“{words}”")

    def _is_free(self) -> bool:
        """Whether the open session is idle and its message box is empty."""
        current = self.shown
        if current is None or not self.harness.is_online or not self._can_write() or current.queued:
            return False
        return current.status == "idle" and not self._box.input_value()
