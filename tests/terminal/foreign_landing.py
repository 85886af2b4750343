"""Landing, pull requests, open work and reviews with untrusted text in every field."""

from collections.abc import Callable
from typing import Any

from model.api.code_reviews import ReviewState
from model.api.landing import LandingMessage
from model.domain.code_reviews import CodeReview, Finding
from model.domain.events.base import Event
from model.domain.events.worktrees import WorktreeUpdated
from model.domain.hosting import ItemLabel, OpenWork, OpenWorkItem, OpenWorkProblem, Reviewer
from model.domain.landing import LandingDesk, ReviewProgress, Sweep
from model.domain.worktrees import Worktree
from tests.tui import a_hosting_service as hosting
from tests.tui import landing_desk as desk

Answer = Callable[[dict[str, Any]], Any]


def command_results(text: str) -> dict[str, Answer]:
    """Return results of commands of landing and hosting, with the text in every field."""
    return {**_landing(text), **_hosting(text), **_review(text)}


def link_pull_request(worktree: Worktree) -> Event:
    """Return the event by which a worktree has a pull request."""
    linked = {"pr_number": 12, "pr_url": hosting.URL}
    return WorktreeUpdated(worktree=worktree.model_copy(update=linked))


def _landing(text: str) -> dict[str, Answer]:
    names = {"name": text, "branch": text, "base": text}
    row = desk.a_row(1, "fix", text, check=desk.a_check("failed"), **names)
    car = desk.a_car(1, "failed", branch=text, error=text, check="failed")
    train = desk.a_train(car, base=text, error=text)
    preview = desk.a_preview(
        base=text,
        conflicts=[text],
        marked_files=[text],
        message=text,
        problem=text,
        checked_out_in=text,
    )
    swept = desk.a_sweep_row(1, name=text, branch=text, uncommitted=1)
    return {
        "get_landing_desk": lambda given: LandingDesk(project_id="p1", rows=[row]),
        "preview_landing": lambda given: preview,
        "get_train": lambda given: train,
        "get_train_output": lambda given: LandingMessage(message=text),
        "list_sweep": lambda given: Sweep(rows=[swept], free_bytes=1),
    }


def _hosting(text: str) -> dict[str, Answer]:
    comment = hosting.a_comment(text, text)
    found = hosting.a_pull_request(
        title=text, body=text, author=text, base=text, head=text, merge_note=text,
        checks_note=text, threads_note=text,
        checks=[hosting.a_check(text, "failed", id="red", summary=text)],
        threads=[hosting.a_thread(text, 1, comment)],
        conversation=[hosting.a_remark(text, text)], conversation_note=text,
        reviewers=[Reviewer(name=text, state="approved")],
    )  # fmt: skip
    issue = hosting.an_issue(
        3, text, body=text, author=text, labels=[ItemLabel(name=text)], assignees=[text]
    )
    request = hosting.an_open_request(7, text, head_ref_name=text, author=text)
    work = OpenWork(
        items=[OpenWorkItem(project_id="p1", item=item) for item in (issue, request)],
        problems=[OpenWorkProblem(project_id="p1", message=text)],
    )
    return {
        "get_pull_request": lambda given: found,
        "get_check_log": lambda given: hosting.a_log(name=text, text=text),
        "list_open_work": lambda given: work,
    }


def _review(text: str) -> dict[str, Answer]:
    finding = Finding(
        id="f1", path=text, first_line=1, last_line=1, severity="major", explanation=text,
        suggestion=text,
    )  # fmt: skip
    review = CodeReview(worktree_id="w1", status="completed", agent=text, findings=[finding])
    state = ReviewState(progress=ReviewProgress(hunks=1), verdicts=[], viewed=[])
    return {"get_code_review": lambda given: review, "get_review": lambda given: state}
