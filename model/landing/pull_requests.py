"""What the landing desk shows of a pull request."""

from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final

from model.domain.hosting import Check, CheckState, PullRequestDetails
from model.domain.landing import DeskPullRequest
from model.domain.worktrees import Worktree
from model.hosting.details import PullRequestCache
from model.landing.desk import describe_cached_pull_request

_WORST_FIRST: Final[tuple[CheckState, ...]] = (
    "failed", "waiting", "running", "queued", "cancelled", "passed", "skipped",
)  # fmt: skip


def look_up_pull_request(
    cache: PullRequestCache,
    run_in_background: Callable[[Coroutine[Any, Any, None]], None],
    worktree: Worktree,
) -> DeskPullRequest | None:
    """Return what is known of a worktree's pull request; what is missing is read meanwhile."""
    if cache.is_worth_reading(worktree):
        run_in_background(cache.read_ahead(worktree))
    details, is_outdated = cache.peek(worktree)
    return describe_pull_request(worktree, details, is_outdated=is_outdated)


def describe_pull_request(
    worktree: Worktree, details: PullRequestDetails | None, *, is_outdated: bool
) -> DeskPullRequest | None:
    """Return what is known of a worktree's pull request.

    Args:
        worktree: Has its state as the poller found it last.
        details: What was read last for a person who looked at it.
        is_outdated: Whether it has changed since; only the comments are taken from them then.
    """
    found = describe_cached_pull_request(worktree)
    if found is None or details is None:
        return found
    comments = {
        "unresolved": len(details.unresolved_threads),
        "unanswered": len(details.unanswered_comments),
    }
    if is_outdated:
        return found.model_copy(update=comments)
    checks = combine_checks(details.checks) or found.checks
    return found.model_copy(update={"phase": details.phase, "checks": checks, **comments})


def combine_checks(checks: Sequence[Check]) -> CheckState | None:
    """Return the worst state; `None` without checks."""
    states = {check.state for check in checks}
    return next((state for state in _WORST_FIRST if state in states), None)
