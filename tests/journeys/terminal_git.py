"""Steps on the terminal with git: commits, stashes, and the undo of turns."""

import time
from typing import Any, Final

from tests.journeys.ledger import Conversation
from tests.journeys.screen import View
from tests.journeys.terminal_input import ENTER, ESCAPE
from tests.journeys.terminal_reflexes import ReflexSteps

LOG, STASH = "\x1b[15;2~", "\x1b[17;2~"
KEPT: Final = "kept"
"""What is in the file that is put aside."""


class GitSteps(ReflexSteps):
    """Steps that look at commits, put changes aside, and undo turns."""

    def look_at_commits(self) -> None:
        """Open the log and the changes of its newest commit, and come back."""
        current = self.shown
        if current is None or current.is_archived:
            return
        self.press(LOG)
        is_log = lambda view: "  commits" in view.rows[0] and "enter show" in view.rows[-1]  # noqa: E731
        self.harness.wait_for(is_log, "the commits")
        self.press(ENTER)
        self.harness.wait_for(lambda view: "  commit " in view.rows[0], "the changes of a commit")
        self.press(ESCAPE)
        self.harness.wait_for(is_log, "the commits again")
        self.press(ESCAPE)
        self.harness.wait_for_session(current.name, at_end=False)

    def stash(self) -> None:
        """Put a new file aside and bring it back."""
        current = self.shown
        if current is None or not self._is_free(current) or not self._is_worktree_idle(current):
            return
        name = f"stash-{time.time_ns()}"
        self._run(current, f"echo {KEPT} > {name}")
        self._open_stashes()
        self.press("s")
        is_asked = lambda view: "Stash all changes" in view.overlays  # noqa: E731
        self.harness.wait_for(is_asked, "the question for a message")
        self.press(name + ENTER)
        is_listed = lambda view: "Stashes" in view.overlays and _has(view, name)  # noqa: E731
        self.harness.wait_for(is_listed, "the stash")
        assert self._run(current, f"cat {name}").strip() != KEPT
        self.press(ENTER)
        self.harness.wait_for(lambda view: not view.overlays, "the end of the dialog")
        self.harness.settle(
            lambda: "" if self._run(current, f"cat {name}").strip() == KEPT else "not brought back"
        )
        self._run(current, f"rm {name}")

    def undo(self) -> None:
        """Take back the files of the newest turn and bring them back; a conflict is only seen."""
        current = self.shown
        if current is None or not self._is_free(current) or not self._is_worktree_idle(current):
            return
        turns = self._read_turns(current)
        last = next((turn for turn in reversed(turns) if turn["undone"] is None), None)
        if last is None or last["problem"] or not last["message_id"]:
            return
        preview = self.harness.client.call("preview_undo", turnId=last["turn_id"])
        self.focus_box()
        self.press(f"/undo{ENTER}")
        is_asked = lambda view: f"Undo: turn {last['number']}" in view.overlays  # noqa: E731
        self.harness.wait_for(is_asked, "what the undo does")
        self.press("\t")
        self.harness.wait_for(lambda view: _has(view, "Undo files only."), "files only")
        if any(file["action"] == "conflict" for file in preview["files"]):
            self.press(ESCAPE)
        else:
            self.press(ENTER)
            self._await_undone(current, last["turn_id"], "files")
            self.focus_box()
            self.press(f"/redo{ENTER}")
            self._await_undone(current, last["turn_id"], None)
        self.harness.wait_for(lambda view: not view.overlays, "the end of the dialog")

    # Implementation -----------------------------------------------------------------------------

    def _open_stashes(self) -> None:
        self.press(STASH)
        self.harness.wait_for(lambda view: "Stashes" in view.overlays, "the stashes")

    def _read_turns(self, current: Conversation) -> list[dict[str, Any]]:
        turns: list[dict[str, Any]] = self.harness.client.call("list_turns", sessionId=current.id)
        return turns

    def _await_undone(self, current: Conversation, turn_id: str, undone: str | None) -> None:
        def find_problem() -> str:
            turns = {turn["turn_id"]: turn["undone"] for turn in self._read_turns(current)}
            return "" if turns[turn_id] == undone else f"it is {turns[turn_id]}, not {undone}"

        self.harness.settle(find_problem)

    def _is_worktree_idle(self, current: Conversation) -> bool:
        worktree_id = current.session["worktree_id"]
        own = (
            each
            for each in self.harness.world.conversations.values()
            if each.session["worktree_id"] == worktree_id
        )
        return all(each.status == "idle" and not each.queued for each in own)

    def _run(self, current: Conversation, command: str) -> str:
        run = self.harness.client.call(
            "run_command", worktreeId=current.session["worktree_id"], command=command
        )
        return str(run["output"])


def _has(view: View, words: str) -> bool:
    return words in "\n".join(view.rows)
