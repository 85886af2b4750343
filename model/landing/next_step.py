"""Decide what to do next with a worktree on the landing desk, and say why."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from model.base.plural import count
from model.domain.landing import CheckResult, DeskPullRequest, MergedBy, NextStep, ReviewProgress
from model.landing.checks import describe_check
from model.landing.stacks import describe_landed_base

Step = tuple[NextStep, str]
"""What is next, and why."""

ORDER: Final[tuple[NextStep, ...]] = (
    "answer", "land", "merge", "review", "resolve", "fix", "check", "update", "commit", "archive",
    "wait",
)  # fmt: skip
"""Those for which something can be done now come first."""

_MERGED_WORDS: Final[dict[MergedBy, str]] = {
    "commits": "Its commits are in {base}.",
    "squash": "{base} has the same changes.",
    "content": "{base} has the same content.",
    "pull_request": "Its pull request was merged.",
}


@dataclass(frozen=True, slots=True)
class Facts:
    """What the next step depends on."""

    base: str
    waiting: str
    """The session that waits for a person; or empty, as `running`."""
    running: str
    ahead: int
    behind: int
    uncommitted: int
    """Files; `unmerged` ones among them have an unresolved conflict."""
    unmerged: int
    conflicts_with_base: int
    """Files."""
    merged: MergedBy | None
    check: CheckResult
    review: ReviewProgress
    pull_request: DeskPullRequest | None
    has_base: bool = True
    """Whether the base branch exists."""
    train_check: str = ""
    """That the check of a train failed with it, as a sentence."""
    new_base: str = ""
    """The branch in which its base has landed, if it has."""
    reverted: bool = False
    """It was in the base, which has taken some of it back since."""


def choose_step(facts: Facts) -> Step:
    """Return the first step that applies."""
    return next(_list_steps(facts))


def _list_steps(facts: Facts) -> Iterator[Step]:
    yield from _session_steps(facts)
    if facts.unmerged:
        files = count(facts.unmerged, "file")
        yield "resolve", f"{files} {_verb(facts.unmerged)} an unresolved conflict."
    if facts.uncommitted:
        files = count(facts.uncommitted, "file")
        yield "commit", f"{files} {_verb(facts.uncommitted)} uncommitted changes."
    if not facts.has_base:
        yield (
            "update",
            (
                f"There is no branch '{facts.base}' any more: it was renamed or deleted. Choose "
                "another base branch, here or in the project's settings."
            ),
        )
    if facts.new_base:
        yield "update", describe_landed_base(facts.base, facts.new_base)
    if facts.merged is not None:
        yield "archive", _MERGED_WORDS[facts.merged].format(base=facts.base)
    if facts.reverted and not facts.ahead:
        yield "review", f"{facts.base} had its changes, and has taken some of them back since."
    if not facts.ahead:
        yield "archive", f"It has nothing that {facts.base} lacks."
    if facts.conflicts_with_base:
        files = count(facts.conflicts_with_base, "file")
        yield "resolve", f"{files} {_verb(facts.conflicts_with_base)} a conflict with {facts.base}."
    if facts.review.rejected:
        yield "fix", f"{count(facts.review.rejected, 'rejected change')} not sent to a session."
    yield from _pull_request_problems(facts)
    yield from _check_steps(facts)
    open_hunks = facts.review.hunks - facts.review.accepted
    if open_hunks > 0:
        yield "review", f"{open_hunks} of {count(facts.review.hunks, 'change')} not reviewed."
    yield from _pull_request_steps(facts)
    found = facts.pull_request
    has_request = found is not None and found.phase not in ("merged", "closed")
    again = f"{facts.base} has taken back some of it since. " if facts.reverted else ""
    yield "merge" if has_request else "land", f"{again}It can land in {facts.base}."


def _verb(number: int) -> str:
    return "has" if number == 1 else "have"


def _session_steps(facts: Facts) -> Iterator[Step]:
    if facts.waiting:
        yield "answer", f"The session '{facts.waiting}' waits for an answer."
    if facts.running:
        yield "wait", f"{facts.running} is running."


def _check_steps(facts: Facts) -> Iterator[Step]:
    problem = describe_check(facts.check)
    if facts.train_check and facts.check.status != "running":
        yield "fix", facts.train_check
    if not problem:
        return
    if facts.check.is_missing and facts.behind:
        yield "update", f"{facts.base} has a script 'check', which this branch lacks."
    if facts.check.status == "running":
        yield "wait", problem
    is_red = facts.check.status == "failed" and not facts.check.is_stale
    yield "fix" if is_red else "check", problem


def _pull_request_problems(facts: Facts) -> Iterator[Step]:
    found = facts.pull_request
    if found is None:
        return
    if found.phase == "in_conflict":
        yield "resolve", f"Pull request #{found.number} is in conflict with its base."
    if found.checks in ("failed", "cancelled"):
        yield "fix", f"Checks of pull request #{found.number} failed."
    comments = [count(found.unresolved, "unresolved comment")] if found.unresolved else []
    if found.unanswered and found.phase != "approved":
        # Who approved does not wait for an answer to a remark.
        comments.append(count(found.unanswered, "unanswered comment"))
    if found.phase == "changes_requested" or comments:
        what = f"has {' and '.join(comments)}" if comments else "has requested changes"
        yield "fix", f"Pull request #{found.number} {what}."


def _pull_request_steps(facts: Facts) -> Iterator[Step]:
    found = facts.pull_request
    if found is None or found.phase == "closed":
        return
    name = f"Pull request #{found.number}"
    if found.phase == "queued":
        yield "wait", f"{name} is in the merge queue."
    if found.checks in ("queued", "running", "waiting"):
        yield "wait", f"Checks of pull request #{found.number} are not finished."
    if facts.behind:
        yield "update", f"{facts.base} has {count(facts.behind, 'commit')} that it lacks."
    if found.phase == "draft":
        yield "review", f"{name} is a draft."
    if found.phase == "approved":
        yield "merge", f"{name} is approved."
    if found.phase == "open":
        yield "wait", f"{name} waits for a review."
