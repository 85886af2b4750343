"""Steps on the page with turns: undo one, with its conversation or without, and take that back."""

from typing import Any, Final

from tests.journeys.ledger import Conversation
from tests.journeys.page_work import WorkSteps

CONTENT: Final = "git status --short && find . -name .git -prune -o -type f -exec sha256sum {} +"
"""A command that prints the state of all files of a worktree."""
SCOPES: Final = {"both": "Files and conversation", "files": "Files only"}


class TurnSteps(WorkSteps):
    """Steps that undo turns."""

    def undo(self, what: str, is_reloaded: bool) -> None:
        """Undo the newest turn by the menu of its message, and redo it by the card."""
        current = self.shown
        if current is None or not self._is_free() or not self._is_worktree_idle(current):
            return
        turns = self._read_turns(current)
        turn = turns[-1] if turns else None
        if turn is None or turn["undone"] or turn["problem"] or not turn["message_id"]:
            return
        if turn["ended_at"] is None or not turn["files"]:
            return  # Without files there is no card to redo it by.
        before = self._read_content(current)
        self._undo(turn, what)
        self._await_undone(current, turn["turn_id"], what)
        has_text = lambda view: bool(view.box) == (what == "both")  # noqa: E731
        self.harness.wait_for(has_text, f"the text of the undone message ({what})")
        is_folded = self.harness.page.locator("button.rewound")
        if what == "both":
            is_folded.last.wait_for(state="attached")
            self._box.fill("")
        if is_reloaded:
            self.harness.page.reload()
            self.harness.wait_for(lambda view: view.session_id == current.id, "the session again")
        self._press(self.harness.page.locator(".change-card").get_by_role("button", name="Redo"))
        self._await_undone(current, turn["turn_id"], None)
        assert self._read_content(current) == before, "the redo did not bring the files back"
        message = self.harness.page.locator(f"#m-{turn['message_id']}:not([hidden])")
        message.wait_for(state="attached")
        self.harness.wait_for(lambda view: not view.dialogs and not view.box, "nothing else")

    def _undo(self, turn: dict[str, Any], what: str) -> None:
        page = self.harness.page
        preview = self.harness.client.call("preview_undo", turnId=turn["turn_id"])
        self._press(page.locator(f"#m-{turn['message_id']} .message-actions button"))
        self._press(page.get_by_role("dialog").get_by_role("button", name="Undo", exact=True))
        dialog = page.locator("dialog.undo")
        self._press(dialog.get_by_text(SCOPES[what], exact=True))
        for file in preview["files"]:
            if file["action"] == "conflict" and not file["others"]:
                dialog.get_by_label(file["path"], exact=True).select_option("before")
        self._press(dialog.get_by_role("button", name="Undo", exact=True))

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

    def _read_content(self, current: Conversation) -> str:
        run = self.harness.client.call(
            "run_command", worktreeId=current.session["worktree_id"], command=CONTENT
        )
        return "\n".join(sorted(str(run["output"]).splitlines()))
