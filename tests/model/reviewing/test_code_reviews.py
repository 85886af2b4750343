"""Reviews by an agent: what it reads, what it answers, and what becomes of its findings."""

import json
from collections.abc import Iterable
from typing import Any

import pytest

from model.backends import agent_events, base
from model.base.errors import SpinneyError
from model.commands.code_reviews import (
    get_code_review,
    run_code_review,
    send_findings,
    stop_code_review,
    update_finding,
)
from model.commands.preferences import update_preferences
from model.domain.code_reviews import CodeReview
from model.domain.events.program import TaskCompleted
from model.domain.worktrees import Worktree
from model.reviewing import material
from model.reviewing.code_reviews import CodeReviews
from tests.conftest import Eventually
from tests.fakes import DONE, FakeBackend, silence
from tests.model.git.git_project import GitProject
from tests.model.reviewing.conftest import change


def finding(**fields: Any) -> dict[str, Any]:
    return {
        "path": "loom.txt",
        "first_line": 20,
        "last_line": 20,
        "severity": "major",
        "explanation": "The shed is opened before the weft is beaten.",
        "suggestion": "",
        **fields,
    }


def answer(*findings: dict[str, Any], summary: str = "Nearly.") -> str:
    return f"<review>{json.dumps({'summary': summary, 'findings': findings})}</review>"


class Reviewer:
    """Answers prompts in order, the last answer again and again, and keeps the prompts."""

    def __init__(self, backend: FakeBackend) -> None:
        self.prompts: list[str] = []
        self.answers: list[str] = []
        backend.script = self._reply

    def _reply(self, prompt: base.Prompt) -> Iterable[agent_events.AgentEvent]:
        self.prompts.append(prompt.text.replace("\u2060", ""))
        text = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        yield agent_events.TextDelta("answer", text)
        yield DONE


@pytest.fixture
def reviewer(backend: FakeBackend) -> Reviewer:
    return Reviewer(backend)


@pytest.fixture
async def review(
    git_project: GitProject, worktree: Worktree, reviewer: Reviewer, eventually: Eventually
) -> Any:
    """`await review(answer, …)` reviews the worktree with these answers."""

    async def run(*answers: str) -> CodeReview:
        reviewer.answers[:] = answers
        started = await run_code_review(git_project.workspace, worktree.id)
        assert started.status == "running"
        return await wait_for_end(git_project, worktree, eventually)

    return run


async def wait_for_end(
    git_project: GitProject, worktree: Worktree, eventually: Eventually
) -> CodeReview:
    reviews = git_project.workspace.code_reviews
    await eventually(lambda: worktree.id not in reviews._running)
    return await get_code_review(git_project.workspace, worktree.id)


async def test_the_agent_reads_all_changes_since_the_base_with_their_line_numbers(
    git_project: GitProject, worktree: Worktree, reviewer: Reviewer, review: Any
) -> None:
    tree = git_project.in_worktree(worktree)
    tree.git("commit", "--quiet", "--all", "-m", "Change lines")
    tree.write("new", "woven\n")
    tree.write("image", "\0\0")
    done = await review(answer())
    (prompt,) = reviewer.prompts
    assert "=== loom.txt (modified)\n" in prompt
    assert "\n    20 + changed 20\n" in prompt and "\n       - line 20\n" in prompt
    assert "=== new (untracked)\n" in prompt and "\n     1 + woven\n" in prompt
    assert (done.status, done.error, done.findings) == ("completed", "", [])
    assert done.summary.startswith("Nearly. Not reviewed") and "image" in done.summary


async def test_findings_are_sorted_by_severity_and_bound_to_lines_that_were_read(
    review: Any,
) -> None:
    done = await review(
        answer(
            finding(severity="minor"),
            finding(severity="critical", first_line=38, last_line=37),
            finding(first_line=500, last_line=900, explanation="Beyond the end.\x1b[2J"),
        )
    )
    shown = [(one.severity, one.first_line, one.last_line) for one in done.findings]
    assert shown == [("critical", 37, 38), ("major", 40, 40), ("minor", 20, 20)]
    assert "\x1b" not in done.findings[1].explanation
    assert all(one.is_new and one.state == "open" for one in done.findings)


INVALID = {
    "no answer": "I found nothing worth a word.",
    "no JSON": "<review>Nothing.</review>",
    "another form": '<review>{"findings": [{"path": "loom.txt", "severity": "blocker"}]}</review>',
    "another file": answer(finding(path="../../etc/passwd")),
}


@pytest.mark.parametrize("invalid", INVALID.values(), ids=INVALID.keys())
async def test_an_invalid_answer_is_asked_for_once_more_with_the_reason(
    reviewer: Reviewer, review: Any, invalid: str
) -> None:
    done = await review(invalid, answer(finding()))
    assert (done.status, len(done.findings)) == ("completed", 1)
    assert "<mistake>\nYour last answer could not be used: " in reviewer.prompts[1]


async def test_a_second_invalid_answer_fails_and_keeps_what_was_found_before(review: Any) -> None:
    await review(answer(finding()))
    done = await review(INVALID["no JSON"])
    assert done.status == "failed" and "it is not JSON" in done.error
    assert [one.first_line for one in done.findings] == [20]


async def test_findings_about_unknown_files_are_left_out_of_a_second_answer(review: Any) -> None:
    done = await review(answer(finding(), finding(path="elsewhere")))
    assert len(done.findings) == 1
    assert "Left out: 1 about files that have not changed." in done.summary


async def test_a_failing_agent_fails_the_review_with_its_own_words(
    git_project: GitProject, worktree: Worktree, backend: FakeBackend, eventually: Eventually
) -> None:
    backend.script = lambda _: [agent_events.TurnFailed("The loom is closed.", "rate_limit_error")]
    await run_code_review(git_project.workspace, worktree.id)
    done = await wait_for_end(git_project, worktree, eventually)
    assert (done.status, done.error) == ("failed", "The loom is closed.")


async def test_the_end_of_a_review_is_published(
    git_project: GitProject, worktree: Worktree, review: Any, eventually: Eventually
) -> None:
    reader = git_project.workspace.bus.reader()
    ends: list[tuple[bool, str]] = []

    def have_both_ended() -> bool:
        ends.extend(
            (entry.event.ok, entry.event.detail)
            for entry in reader.take()[0]
            if isinstance(entry.event, TaskCompleted)
        )
        return len(ends) == 2

    await review(answer(finding()))
    await review(INVALID["no JSON"])
    await eventually(have_both_ended)
    assert ends[0] == (True, "The review of 'otter' ended with 1 finding.")
    assert ends[1][0] is False and ends[1][1].startswith("The review of 'otter' failed: ")


async def test_without_changes_there_is_nothing_to_review(
    git_project: GitProject, worktree: Worktree, review: Any
) -> None:
    git_project.in_worktree(worktree).git("checkout", "--quiet", ".")
    done = await review(answer())
    assert done.status == "failed" and "nothing to review" in done.error


async def test_large_changes_are_reviewed_in_parts_and_what_is_left_out_is_said(
    git_project: GitProject,
    worktree: Worktree,
    reviewer: Reviewer,
    review: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(material, "_MAX_PART", 400)
    monkeypatch.setattr(material, "_MAX_FILE", 300)
    monkeypatch.setattr(material, "MAX_PARTS", 2)
    tree = git_project.in_worktree(worktree)
    for name in ("a", "b", "c"):
        tree.write(name, "woven\n" * 30)
    done = await review(answer(finding(path="a", first_line=1, last_line=1)), answer())
    assert ["=== a (" in prompt for prompt in reviewer.prompts] == [True, False]
    assert "[the rest of this file is left out]" in reviewer.prompts[0]
    assert (done.status, [one.path for one in done.findings]) == ("completed", ["a"])
    assert "the end of a, the end of b, c, loom.txt." in done.summary


async def test_a_second_review_shows_what_is_new_and_dismissed_findings_stay_dismissed(
    git_project: GitProject, worktree: Worktree, review: Any
) -> None:
    first = await review(answer(finding(), finding(first_line=2, last_line=2)))
    ids = [one.id for one in first.findings]
    await update_finding(git_project.workspace, worktree.id, ids[0], dismissed=True)
    again = finding(explanation="The shed is opened before anybody has beaten the weft.")
    other = finding(explanation="A name says nothing.", severity="note")
    second = await review(answer({**again, "first_line": 2, "last_line": 2}, other))
    assert [(one.id == ids[0], one.state, one.is_new) for one in second.findings] == [
        (True, "dismissed", False),
        (False, "open", True),
    ]
    await review(answer(other))
    third = await review(answer({**again, "first_line": 2, "last_line": 2}))
    assert [(one.id, one.state) for one in third.findings] == [(ids[0], "dismissed")]


async def test_findings_follow_their_lines_until_those_change(
    git_project: GitProject, worktree: Worktree, review: Any
) -> None:
    await review(answer(finding(), finding(first_line=38, last_line=38)))
    tree = git_project.in_worktree(worktree)
    tree.write("loom.txt", "a new line\n" + change(2, 20))
    now = await get_code_review(git_project.workspace, worktree.id)
    assert [(one.first_line, one.is_outdated) for one in now.findings] == [(21, False), (38, True)]


async def test_a_finding_does_not_move_to_the_same_text_in_another_place(
    git_project: GitProject, worktree: Worktree, review: Any
) -> None:
    tree = git_project.in_worktree(worktree)
    lines = change().splitlines(keepends=True)
    tree.write(
        "loom.txt", "".join([*lines[:10], "beat()\n", *lines[10:30], "beat()\n", *lines[30:]])
    )
    await review(answer(finding(first_line=32, last_line=32)))
    tree.write("loom.txt", "".join([*lines[:10], "beat()\n", *lines[10:]]))
    now = await get_code_review(git_project.workspace, worktree.id)
    assert [(one.first_line, one.is_outdated) for one in now.findings] == [(32, True)]


async def test_a_finding_is_edited_sent_and_gone_after_another_review(
    git_project: GitProject, worktree: Worktree, review: Any
) -> None:
    done = await review(answer(finding()))
    of_it = (git_project.workspace, worktree.id)
    key = done.findings[0].id
    edited = await update_finding(
        *of_it, key, explanation="Beat first.", suggestion="beat()", severity="critical"
    )
    assert (edited.explanation, edited.severity) == ("Beat first.", "critical")
    sent = await send_findings(*of_it, [key])
    message = (await git_project.workspace.store.messages(sent.session_id)).messages[0].text
    assert "`loom.txt:20` critical\nBeat first.\n" in message and "```\nbeat()\n```" in message
    assert (await get_code_review(*of_it)).findings[0].state == "sent"
    await review(answer())
    for acting in (update_finding(*of_it, key, dismissed=True), send_findings(*of_it, [key])):
        with pytest.raises(SpinneyError, match="This finding is gone"):
            await acting


async def test_a_stopped_review_leaves_the_one_before(
    git_project: GitProject, worktree: Worktree, backend: FakeBackend, review: Any
) -> None:
    of_it = (git_project.workspace, worktree.id)
    with pytest.raises(SpinneyError, match="No review"):
        await stop_code_review(*of_it)
    before = await review(answer(finding()))
    backend.script = silence
    await run_code_review(*of_it)
    with pytest.raises(SpinneyError, match="running already"):
        await run_code_review(*of_it)
    assert (await get_code_review(*of_it)).findings == before.findings
    assert await stop_code_review(*of_it) == before


async def test_a_review_that_an_exit_interrupted_has_failed_and_keeps_its_findings(
    git_project: GitProject, worktree: Worktree, backend: FakeBackend, review: Any
) -> None:
    workspace = git_project.workspace
    await review(answer(finding()))
    backend.script = silence
    await run_code_review(workspace, worktree.id)
    await workspace.code_reviews.close()
    restarted = CodeReviews(
        workspace.store, workspace.directories.reviews, workspace.writer, lambda _: "Agent"
    )
    now = await restarted.get(worktree.id)
    assert (now.status, len(now.findings)) == ("failed", 1)
    assert now.error == "Spinney exited while the review was running. Run it again."


async def test_the_prompt_is_the_persons_own_and_the_form_is_kept(
    git_project: GitProject, reviewer: Reviewer, review: Any
) -> None:
    own = {"magic_prompts": {"code_review": "Look at the selvage of {branch}."}}
    await update_preferences(git_project.workspace, own)
    await review(answer())
    assert reviewer.prompts[0].startswith("Look at the selvage of otter.\n")
    assert '"first_line", "last_line"' in reviewer.prompts[0]
