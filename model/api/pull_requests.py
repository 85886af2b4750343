"""Pull requests of worktrees."""

from model.api.command import command
from model.domain.resource import Resource


class OpenedPullRequest(Resource):
    """The result of `open_pull_request`."""

    pr_number: int
    pr_url: str


@command
async def open_pull_request(
    worktree_id: str,
    title: str | None = None,
    body: str | None = None,
    draft: bool = False,
    allowed_secrets: list[str] | None = None,
    mask_secrets: bool = False,
) -> OpenedPullRequest:
    """Open a pull request for a worktree's branch, pushing it if necessary, and link it to the
    worktree.

    A missing title or body is written by the agent of the prompt `pr_content`. Without an agent, or
    if it fails or takes longer than a minute, they are taken from the commits.

    Refuses with `conflict` commits to be pushed, and a given title or body, with what looks like a
    secret, as `commit_changes` does. `maskSecrets` masks those of title and body instead; in a
    written text they are always masked.
    """


@command
async def save_worktree_pr(worktree_id: str, pr_number: int, pr_url: str) -> None:
    """Link a pull request to a worktree, and follow its state."""


@command
async def clear_worktree_pr(worktree_id: str) -> None:
    """Unlink the pull request of a worktree; the pull request itself stays as it is."""
