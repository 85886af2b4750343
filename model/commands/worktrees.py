"""Commands about worktrees: making, putting away, bringing back, removing."""

from typing import TYPE_CHECKING

from model import worktrees
from model.commands.registry import command
from model.events import WorktreeUpdated
from model.resources import Label, Worktree
from model.worktrees import project_in, worktree_in

if TYPE_CHECKING:
    from model.workspace import Workspace


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
