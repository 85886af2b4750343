"""Verdicts, files viewed and an agent's findings on the diff screen, and comparisons."""

from typing import Any

from textual.pilot import Pilot
from textual.widgets import Input

from model.api.changes import FileDiff
from model.api.code_reviews import Comparison, ReviewState
from model.base.errors import SpinneyError
from model.domain.branches import Branch
from model.domain.changes import Side
from model.domain.code_reviews import CodeReview, Finding, HunkVerdict, Verdict
from model.domain.events.landing import ReviewUpdated
from model.domain.landing import ReviewProgress
from model.domain.messages import SessionMessage
from tests.tui.builders import a_changed_file
from tests.tui.conftest import Start
from tests.tui.diff_tree import PARSER, FakeWorktree, go_to_files, lines, open_diff, top_text
from tests.tui.reading import notifications, screen_text
from tests.tui.waiting import until
from tui.composer.message_area import MessageArea
from tui.diff.compare_screen import CompareDiff
from tui.diff.finding_dialog import EditFinding, Findings
from tui.diff.screen import Diff
from tui.screens.dialog import AskText
from tui.screens.pick import Pick
from tui.shell.app import SpinneyApp


def a_verdict(verdict: Verdict = "rejected", side: Side = "unstaged", **fields: Any) -> HunkVerdict:
    return HunkVerdict(
        **{
            "id": "v1",
            "path": "parser.py",
            "side": side,
            "verdict": verdict,
            "text": "@@ -20,2 +20,3 @@\n def main():\n+    return 1\n     pass\n",
            "decided_at": 1.0,
            **fields,
        }
    )


def a_finding(key: str = "f1", **fields: Any) -> Finding:
    return Finding(
        **{
            "id": key,
            "path": "parser.py",
            "first_line": 2,
            "last_line": 2,
            "severity": "major",
            "explanation": "It prints the wrong number.",
            **fields,
        }
    )


class FakeReview(FakeWorktree):
    """A worktree with verdicts and findings that commands change."""

    def __init__(self, *findings: Finding) -> None:
        super().__init__()
        self.verdicts: list[HunkVerdict] = []
        self.found = CodeReview(
            worktree_id="w1",
            status="completed" if findings else "none",
            findings=[*findings],
            agent="Claude Code",
        )
        self.client.answers |= {
            "get_review": self._state,
            "get_code_review": lambda given: self.found,
            "decide_hunk": self._decide,
            "undo_verdict": self._undo,
            "send_verdicts": self._send,
            "run_code_review": lambda given: self._set(status="running"),
            "stop_code_review": lambda given: self._set(status="none"),
            "update_finding": self._update,
            "send_findings": self._send,
        }

    def _state(self, given: dict[str, Any]) -> ReviewState:
        rejected = sum(not one.is_sent for one in self.verdicts if one.verdict == "rejected")
        accepted = sum(one.verdict == "accepted" for one in self.verdicts)
        progress = ReviewProgress(hunks=23, accepted=accepted, rejected=rejected)
        return ReviewState(progress=progress, verdicts=self.verdicts, viewed=[])

    def _undo(self, given: dict[str, Any]) -> HunkVerdict:
        if not self.verdicts:
            raise SpinneyError("There is no verdict to take back here.", "not_found")
        return self.verdicts.pop(0)

    def _decide(self, given: dict[str, Any]) -> HunkVerdict:
        made = a_verdict(given["verdict"], given["side"], reason=given["reason"])
        self.verdicts.insert(0, made)
        return made

    def _send(self, given: dict[str, Any]) -> SessionMessage:
        self.verdicts = [one.model_copy(update={"is_sent": True}) for one in self.verdicts]
        return SessionMessage(session_id="s1", message_id="m", status="processing")

    def _set(self, **fields: Any) -> CodeReview:
        self.found = self.found.model_copy(update=fields)
        return self.found

    def _update(self, given: dict[str, Any]) -> Finding:
        changes: dict[str, Any] = {"explanation": given.get("explanation")}
        if given.get("dismissed") is not None:
            changes = {"state": "dismissed" if given["dismissed"] else "open"}
        changed = [
            one.model_copy(update=changes) if one.id == given["finding_id"] else one
            for one in self.found.findings
        ]
        self._set(findings=changed)
        return changed[0]


def text_of(screen: Diff) -> str:
    return "\n".join(lines(screen))


async def reject(app: SpinneyApp, pilot: "Pilot[None]", reason: str) -> None:
    await pilot.press("n")
    await until(pilot, lambda: isinstance(app.screen, AskText))
    await pilot.press(*reason, "enter")


async def test_a_hunk_is_accepted_and_a_rejected_one_needs_no_reason(start: Start) -> None:
    tree = FakeReview()
    async with start(tree.client) as (app, pilot):
        screen = await open_diff(app, pilot)
        await pilot.press("y")
        await until(pilot, lambda: "1 of 23 hunks" in top_text(screen))
        decided = {"worktree_id": "w1", "path": "parser.py", "side": "unstaged"}
        seen = str(hash(PARSER))
        assert tree.client.called("decide_hunk") == [
            {**decided, "hunk": "h0", "verdict": "accepted", "reason": "", "seen": seen}
        ]
        await pilot.press("]")
        await reject(app, pilot, "")
        await until(pilot, lambda: "2 of 23 hunks · 1 rejected to send" in top_text(screen))
        assert tree.client.called("decide_hunk")[1] == {
            **decided, "hunk": "h1", "verdict": "rejected", "reason": "", "seen": seen
        }  # fmt: skip
        await pilot.press("n")
        await until(pilot, lambda: isinstance(app.screen, AskText))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen)
        assert len(tree.client.called("decide_hunk")) == 2


async def test_in_the_list_all_hunks_of_a_file_are_decided_from_the_end(start: Start) -> None:
    tree = FakeReview()
    async with start(tree.client) as (app, pilot):
        screen = await open_diff(app, pilot)
        await go_to_files(pilot, screen)
        await pilot.press("y")
        await until(pilot, lambda: "2 of 23 hunks" in top_text(screen))
        hunks = [given["hunk"] for given in tree.client.called("decide_hunk")]
        assert hunks == ["h1", "h0"]
        await pilot.press("down")
        await until(pilot, lambda: screen.path == "picture")
        await pilot.press("y")
        await until(pilot, lambda: "no lines to decide about" in "".join(notifications(app)))
        await pilot.press("v", "y")
        await until(pilot, lambda: "Staged hunks are accepted." in "".join(notifications(app)))


async def test_verdicts_are_taken_back_and_rejections_sent(start: Start) -> None:
    tree = FakeReview()
    async with start(tree.client) as (app, pilot):
        screen = await open_diff(app, pilot)
        await pilot.press("Z")
        await until(pilot, lambda: "There is no verdict to take back" in notifications(app)[0])
        await pilot.press("N")
        await until(pilot, lambda: "n on a hunk rejects it." in notifications(app)[-1])
        for key in ("z", "Z"):
            await reject(app, pilot, "No.")
            await until(pilot, lambda: "1 rejected to send" in top_text(screen))
            await pilot.press(key)
            await until(pilot, lambda: "rejected" not in top_text(screen))
        known = [given["verdict_id"] for given in tree.client.called("undo_verdict")][1:]
        assert known == ["v1", None]
        await reject(app, pilot, "No.")
        await until(pilot, lambda: "1 rejected to send" in top_text(screen))
        await pilot.press("N")
        await until(pilot, lambda: "Sent 1 rejected hunk to" in notifications(app)[-1])
        assert tree.client.called("send_verdicts") == [{"worktree_id": "w1", "session_id": "s1"}]
        await until(pilot, lambda: "to send" not in top_text(screen))


async def test_a_committed_hunk_shows_its_verdict_and_the_cursor_goes_on(start: Start) -> None:
    tree = FakeReview()
    tree.files = {"unstaged": [], "staged": [], "branch": [a_changed_file("parser.py")]}
    async with start(tree.client) as (app, pilot):
        screen = await open_diff(app, pilot)
        await until(pilot, lambda: screen.side == "branch" and bool(screen.path))
        await pilot.press("y")
        await until(pilot, lambda: screen.view.hunk == 1)
        assert tree.client.called("decide_hunk")[0]["side"] == "branch"
        assert "you  accepted" in text_of(screen)


async def test_findings_are_shown_at_their_lines_and_gone_through(start: Start) -> None:
    elsewhere = a_finding("f2", first_line=21, last_line=21, severity="minor", is_new=False)
    gone = a_finding("f3", first_line=900, last_line=900)
    tree = FakeReview(a_finding(suggestion="print(3)"), elsewhere, gone)
    async with start(tree.client) as (app, pilot):
        screen = await open_diff(app, pilot)
        await until(pilot, lambda: "3 findings, 2 new" in top_text(screen))
        shown = lines(screen)
        assert "major new  It prints the wrong number." in shown[4]
        assert "print(3)" in shown[6]
        assert len(screen.view.notes) == 2
        await pilot.press("f")
        await until(pilot, lambda: screen.finding_here is not None)
        assert screen.finding_here is not None and screen.finding_here.id == "f1"
        await pilot.press("f")
        await until(pilot, lambda: getattr(screen.finding_here, "id", "") == "f2")
        await pilot.press("f")
        await until(pilot, lambda: getattr(screen.finding_here, "id", "") == "f1")


async def test_a_finding_is_edited_dismissed_brought_back_and_sent(start: Start) -> None:
    tree = FakeReview(a_finding())
    async with start(tree.client) as (app, pilot):
        screen = await open_diff(app, pilot)
        await pilot.press("f")
        await until(pilot, lambda: screen.finding_here is not None)
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, EditFinding))
        assert app.screen.query_one("#explanation", MessageArea).text == (
            "It prints the wrong number."
        )
        await pilot.press(*" Why?", "tab", "ctrl+j", *"pass", "tab", "left", "enter")
        await until(pilot, lambda: "wrong number. Why?" in text_of(screen))
        [edited] = tree.client.called("update_finding")
        assert edited["suggestion"].endswith("\npass")
        assert edited["severity"] != a_finding().severity
        await pilot.press("delete")
        await until(pilot, lambda: "wrong number" not in text_of(screen))
        await pilot.press("z")
        await until(pilot, lambda: "wrong number. Why?" in text_of(screen))
        await pilot.press("F")
        await until(pilot, lambda: "Sent 1 finding to" in notifications(app)[-1])
        sent = {"worktree_id": "w1", "finding_ids": ["f1"], "session_id": "s1"}
        assert tree.client.called("send_findings") == [sent]


async def test_a_review_is_started_followed_and_stopped(start: Start) -> None:
    tree = FakeReview()
    async with start(tree.client) as (app, pilot):
        screen = await open_diff(app, pilot)
        await pilot.press("f")
        await until(pilot, lambda: "R lets one do it." in notifications(app)[-1])
        await pilot.press("R")
        await until(pilot, lambda: "Claude Code is reviewing" in top_text(screen))
        await pilot.press("R")
        await until(pilot, lambda: bool(tree.client.called("stop_code_review")))
        await until(pilot, lambda: "reviewing" not in top_text(screen))
        tree._set(status="failed", error="The loom is closed.")
        tree.client.feed(ReviewUpdated(worktree_id="w1"))
        await until(pilot, lambda: "review failed" in top_text(screen))
        await pilot.press("F")
        await until(pilot, lambda: "The loom is closed. R runs it" in notifications(app)[-1])


async def test_the_worktree_is_compared_with_a_branch(start: Start) -> None:
    tree = FakeReview()
    tree.client.answers |= {
        "get_project_branches": lambda given: [Branch(name="main", current=True)],
        "compare_branches": lambda given: Comparison(
            left="main",
            right="brave-otter",
            left_commit="a1",
            right_commit="b2",
            files=[a_changed_file("parser.py")],
        ),
        "get_compared_diff": lambda given: FileDiff(
            path="parser.py", text=PARSER, digest="d", hunks=["h0", "h1"]
        ),
    }
    async with start(tree.client) as (app, pilot):
        screen = await open_diff(app, pilot)
        await pilot.press("=")
        await until(pilot, lambda: isinstance(app.screen, Pick) and bool(app.screen.shown))
        app.screen.query_one(Input).focus()
        await pilot.press(*"main", "enter")
        await until(pilot, lambda: isinstance(app.screen, CompareDiff))
        compared = app.screen
        assert isinstance(compared, CompareDiff)
        await until(pilot, lambda: compared.file_diff is not None)
        assert "− main  →  + brave-otter" in top_text(compared)
        assert tree.client.called("compare_branches") == [
            {"project_id": "p1", "left": "main", "right": "w1"}
        ]
        shown = {"project_id": "p1", "left": "a1", "right": "b2", "path": "parser.py"}
        assert tree.client.called("get_compared_diff") == [shown]
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen)


async def test_the_list_of_findings_shows_dismissed_ones_and_brings_them_back(start: Start) -> None:
    other = a_finding("f2", first_line=21, last_line=21, state="dismissed")
    tree = FakeReview(a_finding(), other)
    async with start(tree.client) as (app, pilot):
        screen = await open_diff(app, pilot)
        await until(pilot, lambda: "1 finding" in top_text(screen))
        await pilot.press("L")
        await until(pilot, lambda: isinstance(app.screen, Findings))
        assert "parser.py:21  dismissed" in screen_text(app)
        await pilot.press("down", "delete")
        await until(pilot, lambda: len(tree.client.called("update_finding")) == 1)
        await until(
            pilot, lambda: isinstance(app.screen, Findings) and "dismissed" not in screen_text(app)
        )
        await pilot.press("enter")
        await until(pilot, lambda: getattr(screen.finding_here, "id", "") == "f2")
