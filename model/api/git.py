"""Git: status, diff, commit, pull, push."""

from typing import Annotated, Literal

from model.api.command import PATH, command
from model.domain.resource import Resource


class CommitResult(Resource):
    """The result of `commit_changes`."""

    success: bool
    commit_sha: str


class ExchangeResult(Resource):
    """The result of `git_pull`, `update_from_base` and `git_push`: git's output, also after a
    failure."""

    success: bool
    output: str


@command
async def fetch_worktrees_status(project_id: str) -> None:
    """Refresh the git status of a project's worktrees, and the state of their pull requests.

    Every worktree is reported by `git:status-update` and `worktree:status_updated`, even if nothing
    changed; pull requests follow when the hosting service has answered.
    """


@command
async def has_uncommitted_changes(worktree_id: str) -> bool:
    """Check whether a worktree has uncommitted changes, untracked files included."""


@command
async def get_git_diff(
    worktree_path: Annotated[str, PATH],
    diff_type: Literal["working", "staged", "branch"],
    base_branch: str | None = None,
) -> str:
    """Get a unified diff of a worktree or project: working tree, index, or against a branch."""


@command
async def commit_changes(
    worktree_id: str,
    message: str,
    stage_all: bool = False,
    allowed_secrets: list[str] | None = None,
    allow_markers: bool = False,
) -> CommitResult:
    """Commit the staged changes, or all changes (`stageAll`).

    Refuses with `conflict` what looks like a secret (see `find_secrets`), except for the
    fingerprints in `allowedSecrets`, for a person who has seen them. Refuses files with a conflict,
    and (without `allowMarkers`) conflict markers in added lines.
    """


@command
async def git_pull(
    worktree_path: Annotated[str, PATH], base_branch: str, remote: str = "origin"
) -> ExchangeResult:
    """Pull a branch of a remote into the current branch; conflicts are left to be resolved.

    The remote `.` is the repository itself: its local branch. Fails with `conflict` while a merge
    or rebase is unfinished.
    """


@command
async def update_from_base(worktree_id: str) -> ExchangeResult:
    """Bring what is new in its base branch into a worktree: in the local branch, and at the remote.

    Conflicts are left to be resolved. A remote that does not respond is named in the output; what
    the local branch has is brought in anyway. Fails with `conflict` while a merge or rebase is
    unfinished.
    """


@command
async def git_push(
    worktree_path: Annotated[str, PATH],
    pr_number: int | None = None,
    remote: str = "origin",
    allowed_secrets: list[str] | None = None,
) -> ExchangeResult:
    """Push the current branch, to its own name or (`prNumber`) to the head of a pull request.

    Never forces. Refuses with `conflict` commits with what looks like a secret, as
    `commit_changes` does.
    """


@command
async def cancel_git(worktree_id: str) -> None:
    """Cancel what git does in a worktree, with the hooks and programs that it waits for.

    Its creation, a commit, pull or push, a landing or its undo, or the train that brings it in.
    Nothing is left half done. Does nothing if none is running.
    """
