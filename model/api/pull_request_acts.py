"""Reading and changing the pull request of a worktree at its hosting service."""

from model.api.command import command
from model.domain.hosting import CheckLog, MergeMethod, PullRequestDetails


@command
async def get_pull_request(worktree_id: str, refresh: bool = False) -> PullRequestDetails:
    """Get the pull request of a worktree: state, reviewers, checks by name, review comments, and
    what can be done with it.

    `pull_request:updated` says that it has changed. Fails with `not_found` if there is none.
    """


@command
async def get_check_log(worktree_id: str, check_id: str) -> CheckLog:
    """Get the end of the log of a check's failed steps."""


@command
async def merge_pull_request(
    worktree_id: str,
    method: MergeMethod | None = None,
    auto: bool = False,
    head_commit: str | None = None,
) -> PullRequestDetails:
    """Merge the pull request of a worktree at the hosting service, or add it to the merge queue.

    With `auto` it is merged as soon as checks and reviews allow. Fails with `conflict` if its head
    is not `headCommit` any more. The merge cannot be undone here; a revert is a new pull request.
    """


@command
async def cancel_auto_merge(worktree_id: str) -> PullRequestDetails:
    """Switch automatic merging off, or take the pull request out of the merge queue."""


@command
async def update_pull_request_branch(worktree_id: str, rebase: bool = False) -> PullRequestDetails:
    """Bring the head of the pull request up to date with its base, at the hosting service.

    The worktree's own branch follows with the next pull.
    """


@command
async def set_pull_request_draft(worktree_id: str, draft: bool) -> PullRequestDetails:
    """Mark the pull request as ready for review, or as a draft."""


@command
async def edit_pull_request(
    worktree_id: str,
    title: str | None = None,
    body: str | None = None,
    allowed_secrets: list[str] | None = None,
) -> PullRequestDetails:
    """Change title or description of the pull request.

    Refuses with `conflict` what looks like a secret, as `commit_changes` does.
    """


@command
async def list_possible_reviewers(worktree_id: str) -> list[str]:
    """List who can be asked for a review: logins, and `organization/team`; at most 100."""


@command
async def request_review(worktree_id: str, reviewers: list[str]) -> PullRequestDetails:
    """Ask people or teams for a review of the pull request."""


@command
async def reply_to_thread(
    worktree_id: str,
    thread_id: str,
    text: str = "",
    resolve: bool = False,
    allowed_secrets: list[str] | None = None,
) -> PullRequestDetails:
    """Reply to a thread of review comments, mark it as resolved, or both.

    A comment of the conversation is replied to there; to resolve it fails with `conflict`.

    Refuses with `conflict` what looks like a secret, as `commit_changes` does.
    """
