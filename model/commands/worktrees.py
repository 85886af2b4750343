"""Commands about worktrees: making, putting away, looking at what changed in them."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from model import worktree_status, worktrees
from model.commands.registry import command
from model.errors import worktree_not_found
from model.events import WorktreeUpdated
from model.git import commit, diff, status
from model.resources import Label, Resource, Worktree
from model.worktrees import project_in, worktree_in

if TYPE_CHECKING:
    from model.workspace import Workspace


class CommitResult(Resource):
    """What `commit_changes` gives."""

    success: bool
    commit_sha: str


@command
async def list_worktrees(
    workspace: "Workspace", project_id: str, include_archived: bool = False
) -> list[Worktree]:
    """The project's worktrees, highest `order` first."""
    project_in(workspace.store.state, project_id)
    return workspace.store.state.worktrees_of(project_id, archived=include_archived)


@command
async def get_worktree(workspace: "Workspace", worktree_id: str) -> Worktree:
    """One worktree."""
    return worktree_in(workspace.store.state, worktree_id)


@command
async def create_worktree(
    workspace: "Workspace",
    project_id: str,
    base_branch: str | None = None,
    custom_name: str | None = None,
) -> Worktree:
    """Make a worktree on a new branch.

    Answers at once with the worktree as it will be; `worktree:created` or
    `worktree:create_error` follows.
    """
    worktree = await worktrees.announce(
        workspace.store, workspace.directories, project_id, base_branch, custom_name
    )
    workspace.run_in_background(worktrees.create(workspace.store, worktree))
    return worktree


@command
async def archive_worktree(workspace: "Workspace", worktree_id: str) -> None:
    """Put a worktree away; its files stay."""
    await worktrees.archive(workspace.store, worktree_id)


@command
async def delete_worktree(workspace: "Workspace", worktree_id: str) -> None:
    """Move a worktree to the archive; its files stay."""
    await worktrees.archive(workspace.store, worktree_id)


@command
async def unarchive_worktree(workspace: "Workspace", worktree_id: str) -> Worktree:
    """Bring an archived worktree back."""
    return await worktrees.unarchive(workspace.store, worktree_id)


@command
async def remove_worktree(workspace: "Workspace", worktree_id: str, force: bool = False) -> None:
    """Remove a worktree as `removal_behavior` says: archive it, or delete it for good.

    Deleting is refused while work would be lost, unless `force` is given.
    """
    if workspace.store.state.preferences.removal_behavior == "archive":
        await worktrees.archive(workspace.store, worktree_id)
        return
    await worktrees.remove(
        workspace.store, workspace.directories, worktree_id, workspace.chats.end, force=force
    )


@command
async def update_worktree_label(
    workspace: "Workspace", worktree_id: str, label: Label | None
) -> None:
    """Set or (`null`) clear a worktree's label."""
    await workspace.store.accept(
        lambda state: [
            WorktreeUpdated(
                worktree=worktree_in(state, worktree_id).model_copy(update={"label": label})
            )
        ]
    )


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
