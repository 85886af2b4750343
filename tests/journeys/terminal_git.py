"""Steps on the terminal with git: commits, stashes, and the undo of turns."""

import time
from typing import Any, Final

from tests.journeys.ledger import Conversation, InvariantError
from tests.journeys.screen import View
from tests.journeys.second_client import MAX_SESSIONS
from tests.journeys.terminal_input import ENTER, ESCAPE
from tests.journeys.terminal_queue import text_of
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
        turn = self._open_undo(current)
        if current is None or turn is None:
            return
        self.press("\t")
        self.harness.wait_for(lambda view: _has(view, "Undo files only."), "files only")
        if self._has_conflict(turn):
            self.press(ESCAPE)
        else:
            self.press(ENTER)
            self._await_undone(current, turn, "files")
            self._redo(current, turn)
        self.harness.wait_for(lambda view: not view.overlays, "the end of the dialog")

    def undo_all(self, sends: bool) -> None:
        """Take back the newest turn's files and messages; send its message again, or redo."""
        current = self.shown
        turn = self._open_undo(current)
        if current is None or turn is None:
            return
        self.harness.wait_for(
            lambda view: _has(view, "Undo files and conversation."), "files and conversation"
        )
        if self._has_conflict(turn):
            self.press(ESCAPE)
            self.harness.wait_for(lambda view: not view.overlays, "the end of the dialog")
            return
        self.press(ENTER)
        self._await_undone(current, turn, "both")
        text = self._await_rewound(current, turn)
        if sends:
            self.box_texts[current.id] = text
            self.focus_box()
            self.press(ENTER)
            self.await_sent(current)
            self.harness.settle(lambda: self._find_missing(current, turn, is_rewound=True))
        else:
            self.focus_box()
            self.clear_box(current, text)
            self._redo(current, turn)
            self.harness.settle(lambda: self._find_missing(current, turn, is_rewound=False))

    def fork(self) -> None:
        """Continue the conversation in a second session; the first one stays as it is."""
        current, before = self.shown, set(self.harness.world.conversations)
        if current is None or not self._is_free(current) or len(before) >= MAX_SESSIONS:
            return
        if not current.kept_messages:
            return
        self.harness.ledger.expect("session-created")
        for message in current.kept_messages:
            if message["role"] == "user":
                self.harness.ledger.record_copied(text_of(message))
        self.focus_box()
        self.press(f"/fork{ENTER}")
        name = self.rename_new_session(before)
        new = self.harness.world.find_by_name(name)
        assert new is not None
        said = [message["content"] for message in current.kept_messages]
        assert [message["content"] for message in new.messages] == said
        kept = self.reread(current)
        assert [m["id"] for m in kept.messages] == [m["id"] for m in current.messages]

    # Implementation -----------------------------------------------------------------------------

    def _open_stashes(self) -> None:
        self.press(STASH)
        self.harness.wait_for(lambda view: "Stashes" in view.overlays, "the stashes")

    def _read_turns(self, current: Conversation) -> list[dict[str, Any]]:
        turns: list[dict[str, Any]] = self.harness.client.call("list_turns", sessionId=current.id)
        return turns

    def _open_undo(self, current: Conversation | None) -> dict[str, Any] | None:
        """Open the dialog that undoes the newest turn, if it can be undone; return the turn."""
        if current is None or not self._is_free(current) or not self._is_worktree_idle(current):
            return None
        turns = self._read_turns(current)
        last = next((turn for turn in reversed(turns) if turn["undone"] is None), None)
        if last is None or last["problem"] or not last["message_id"] or not last["ended_at"]:
            return None
        self.focus_box()
        self.press(f"/undo{ENTER}")
        is_asked = lambda view: f"Undo: turn {last['number']}" in view.overlays  # noqa: E731
        self.harness.wait_for(is_asked, "what the undo does")
        return last

    def _has_conflict(self, turn: dict[str, Any]) -> bool:
        preview = self.harness.client.call("preview_undo", turnId=turn["turn_id"])
        return any(file["action"] == "conflict" for file in preview["files"])

    def _redo(self, current: Conversation, turn: dict[str, Any]) -> None:
        self.focus_box()
        self.press(f"/redo{ENTER}")
        self._await_undone(current, turn, None)

    def _await_undone(
        self, current: Conversation, turn: dict[str, Any], undone: str | None
    ) -> None:
        def find_problem() -> str:
            turns = {each["turn_id"]: each["undone"] for each in self._read_turns(current)}
            found = turns[turn["turn_id"]]
            return "" if found == undone else f"it is {found}, not {undone}"

        self.harness.settle(find_problem)

    def _await_rewound(self, current: Conversation, turn: dict[str, Any]) -> str:
        """Wait until the turn's messages are folded, and its text is in the box; return this."""
        self.harness.settle(lambda: self._find_missing(current, turn, is_rewound=True))
        self.harness.wait_for(lambda view: " rewound" in view.conversation, "the folded messages")
        message = next(m for m in current.messages if m["id"] == turn["message_id"])
        if self.find_draft(text_of(message)) != current.id:
            raise InvariantError(f"taken back into another session: {text_of(message)}")
        return self.harness.read_drafts()[current.id]

    def _find_missing(
        self, current: Conversation, turn: dict[str, Any], *, is_rewound: bool
    ) -> str:
        """Say which messages are gone, or are not rewound as they should be."""
        now = {message["id"]: message for message in self.reread(current).messages}
        for message in current.messages:
            if message["id"] not in now:
                return f"message {message['id']} is gone"
        ids = [message["id"] for message in current.kept_messages]
        taken = ids[ids.index(turn["message_id"]) :]
        wrong = [each for each in taken if bool(now[each].get("rewound")) != is_rewound]
        return f"{wrong} should be rewound: {is_rewound}" if wrong else ""

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
