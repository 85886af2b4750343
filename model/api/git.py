"""Commands that ask git about worktrees or let it work in them: status, diff, commit, exchange."""

from typing import Annotated, Literal

from model.api.command import PATH, command
from model.domain.resources import Resource


class CommitResult(Resource):
    """What `commit_changes` gives."""

    success: bool
    commit_sha: str


class ExchangeResult(Resource):
    """What `git_pull` and `git_push` give: git's words, also where it refused."""

    success: bool
    output: str


@command
async def fetch_worktrees_status(project_id: str) -> None:
    """Ask git anew about a project's worktrees, and the hosting service about pull requests.

    Of each, `git:status-update` and `worktree:status_updated` tell, also where nothing changed;
    what the hosting service answers is told when it comes.
    """


@command
async def has_uncommitted_changes(worktree_id: str) -> bool:
    """Whether anything in the worktree is not committed, untracked files included."""


@command
async def get_git_diff(
    worktree_path: Annotated[str, PATH],
    diff_type: Literal["working", "staged", "branch"],
    base_branch: str | None = None,
) -> str:
    """A unified diff of a worktree or project: working, staged, or against a base branch."""


@command
async def commit_changes(worktree_id: str, message: str, stage_all: bool = False) -> CommitResult:
    """Commit what is staged, or (`stageAll`) everything."""


@command
async def git_pull(
    worktree_path: Annotated[str, PATH], base_branch: str, remote: str = "origin"
) -> ExchangeResult:
    """Bring a remote's branch into the one checked out here; a conflict stays to be solved."""


@command
async def git_push(
    worktree_path: Annotated[str, PATH], pr_number: int | None = None, remote: str = "origin"
) -> ExchangeResult:
    """Push the branch checked out here, to its own name or (`prNumber`) to a pull request's head.

    Never forces.
    """


@command
async def cancel_git(worktree_id: str) -> None:
    """End the creation, commit, pull or push that runs in a worktree, with the hooks it waits for.

    Nothing stays half done. When nothing runs, that is no error.
    """
