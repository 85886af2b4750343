"""Commands about the pull request of a worktree: opened, remembered, forgotten."""

from model.api.command import command
from model.domain.resources import Resource


class OpenedPullRequest(Resource):
    """What `open_pull_request` gives."""

    pr_number: int
    pr_url: str


@command
async def open_pull_request(
    worktree_id: str, title: str | None = None, body: str | None = None, draft: bool = False
) -> OpenedPullRequest:
    """Push the worktree's branch if need be, propose it, and remember the pull request.

    Where title or body is not given, the agent of the prompt `pr_content` writes it. Without an
    agent, or when it fails or takes longer than a minute, it comes from the commits.
    """


@command
async def save_worktree_pr(worktree_id: str, pr_number: int, pr_url: str) -> None:
    """Remember which pull request a worktree belongs to, and follow how it stands."""


@command
async def clear_worktree_pr(worktree_id: str) -> None:
    """Forget a worktree's pull request; on the hosting service nothing changes."""
