"""Commands that ask git about worktrees or let it work in them: status, diff, commit."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from model import worktree_status
from model.commands.registry import command
from model.errors import worktree_not_found
from model.git import commit, diff, status
from model.resources import Resource, Worktree
from model.worktrees import project_in, worktree_in

if TYPE_CHECKING:
    from model.workspace import Workspace


class CommitResult(Resource):
    """What `commit_changes` gives."""

    success: bool
    commit_sha: str


@command
async def fetch_worktrees_status(workspace: "Workspace", project_id: str) -> None:
    """Ask git anew about all worktrees of a project."""
    project_in(workspace.store.state, project_id)
    limit = asyncio.Semaphore(2)

    async def refresh(worktree: Worktree) -> None:
        async with limit:
            await worktree_status.refresh(workspace.store, worktree.id)

    found = workspace.store.state.worktrees_of(project_id)
    await asyncio.gather(*(refresh(worktree) for worktree in found if worktree.status == "ready"))


@command
async def has_uncommitted_changes(workspace: "Workspace", worktree_id: str) -> bool:
    """Whether anything in the worktree is not committed, untracked files included."""
    worktree = worktree_in(workspace.store.state, worktree_id)
    return await status.has_uncommitted_changes(Path(worktree.path))


@command
async def get_git_diff(
    workspace: "Workspace",
    worktree_path: str,
    diff_type: Literal["working", "staged", "branch"],
    base_branch: str | None = None,
) -> str:
    """A unified diff of a worktree or project: working, staged, or against a base branch."""
    path, base = await _known_root(workspace, worktree_path)
    return await diff.diff(path, diff_type, base_branch or base)


@command
async def commit_changes(
    workspace: "Workspace", worktree_id: str, message: str, stage_all: bool = False
) -> CommitResult:
    """Commit what is staged, or (`stageAll`) everything."""
    worktree = worktree_in(workspace.store.state, worktree_id)
    sha = await commit.commit(Path(worktree.path), message, stage_all)
    workspace.run_in_background(worktree_status.refresh(workspace.store, worktree_id))
    return CommitResult(success=True, commit_sha=sha)


async def _known_root(workspace: "Workspace", given: str) -> tuple[Path, str]:
    """The root of a known worktree or project at this path, and its base branch."""
    state = workspace.store.state
    real = await asyncio.to_thread(lambda: Path(given).resolve())
    for worktree in state.worktrees.values():
        if Path(worktree.path) == real:
            project = state.projects[worktree.project_id]
            return real, worktree.base_branch or project.default_branch
    for project in state.projects.values():
        if project.path and Path(project.path) == real:
            return real, project.default_branch
    raise worktree_not_found(given)
