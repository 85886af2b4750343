"""Implements `model.api.worktrees`."""

import time
from pathlib import Path
from typing import TYPE_CHECKING

from model.api import worktrees as api
from model.base.errors import SpinneyError
from model.commands.registry import implements
from model.domain.events.base import Event
from model.domain.events.worktrees import WorktreeUpdated
from model.domain.hosting import WorkKind
from model.domain.worktrees import (
    IncludedFiles,
    IssueContext,
    Label,
    OutsideWorktree,
    PullRequestContext,
    Worktree,
)
from model.hosting.forge import ItemText
from model.hosting.forges import find_forge
from model.state import State
from model.worktrees import (
    archiving,
    creation,
    renaming,
    require_project,
    require_worktree,
)
from model.worktrees.announcing import announce
from model.worktrees.included_files import describe_included

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace


@implements(api.list_worktrees)
async def list_worktrees(
    workspace: "Workspace", project_id: str, include_archived: bool = False
) -> list[Worktree]:
    require_project(workspace.store.state, project_id)
    return workspace.store.state.worktrees_of(project_id, archived=include_archived)


@implements(api.get_worktree)
async def get_worktree(workspace: "Workspace", worktree_id: str) -> Worktree:
    return require_worktree(workspace.store.state, worktree_id)


@implements(api.create_worktree)
async def create_worktree(
    workspace: "Workspace",
    project_id: str,
    base_branch: str | None = None,
    custom_name: str | None = None,
    issue_context: IssueContext | None = None,
    pr_context: PullRequestContext | None = None,
    branch: str | None = None,
) -> Worktree:
    if branch is not None and (base_branch or pr_context):
        raise SpinneyError("Give either 'branch', or what a new branch starts from.")
    worktree = await announce(
        workspace.store,
        workspace.directories,
        project_id,
        base_branch,
        custom_name,
        branch=branch,
        issue=issue_context,
        pull_request=pr_context,
    )
    workspace.run_in_background(_create(workspace, worktree, issue_context, pr_context, branch))
    return worktree


@implements(api.open_base_worktree)
async def open_base_worktree(workspace: "Workspace", project_id: str) -> Worktree:
    return await archiving.open_base(workspace.store, project_id)


@implements(api.recreate_worktree)
async def recreate_worktree(workspace: "Workspace", worktree_id: str) -> Worktree:
    status = require_worktree(workspace.store.state, worktree_id).status
    if status == "missing":
        await workspace.recovery_points.save_missing(worktree_id)
    worktree = await archiving.recreate(workspace.store, worktree_id)
    if status == "missing":
        workspace.run_in_background(workspace.scripts.run_setup(worktree_id))
    return worktree


@implements(api.list_outside_worktrees)
async def list_outside_worktrees(
    workspace: "Workspace", project_id: str, include_ignored: bool = False
) -> list[OutsideWorktree]:
    found = await workspace.outside_worktrees.list(project_id)
    return [each for each in found if include_ignored or not each.ignored]


@implements(api.ignore_outside_worktree)
async def ignore_outside_worktree(
    workspace: "Workspace", project_id: str, path: str, ignored: bool = True
) -> None:
    await workspace.outside_worktrees.ignore(project_id, path, ignored=ignored)


@implements(api.get_included_files)
async def get_included_files(workspace: "Workspace", project_id: str) -> IncludedFiles:
    return await describe_included(Path(require_project(workspace.store.state, project_id).path))


@implements(api.adopt_worktree)
async def adopt_worktree(workspace: "Workspace", project_id: str, path: str) -> Worktree:
    return await workspace.outside_worktrees.adopt(project_id, path)


@implements(api.rename_worktree)
async def rename_worktree(workspace: "Workspace", worktree_id: str, new_name: str) -> Worktree:
    in_use = workspace.scripts.is_running(worktree_id)
    async with workspace.undoer.lock(worktree_id):  # An undo writes to the present folder.
        return await renaming.rename(workspace.store, worktree_id, new_name, in_use=in_use)


@implements(api.set_worktree_base)
async def set_worktree_base(
    workspace: "Workspace", worktree_id: str, base_branch: str, move_commits: bool = False
) -> Worktree:
    try:
        changing = workspace.landing.stacks.set_base(
            worktree_id, base_branch, move_commits=move_commits
        )
        return await workspace.cancellable_tasks.run(worktree_id, "rebase", changing)
    finally:
        workspace.poller.refresh(worktree_id)


@implements(api.reorder_worktrees)
async def reorder_worktrees(
    workspace: "Workspace", project_id: str, worktree_ids: list[str]
) -> None:
    await archiving.reorder(workspace.store, project_id, worktree_ids)


@implements(api.archive_worktree)
async def archive_worktree(workspace: "Workspace", worktree_id: str) -> None:
    await archiving.archive(workspace.store, worktree_id)
    await workspace.scripts.stop(worktree_id)


@implements(api.delete_worktree)
async def delete_worktree(workspace: "Workspace", worktree_id: str) -> None:
    await archive_worktree(workspace, worktree_id)


@implements(api.unarchive_worktree)
async def unarchive_worktree(workspace: "Workspace", worktree_id: str) -> Worktree:
    return await archiving.unarchive(workspace.store, worktree_id)


@implements(api.get_removal_losses)
async def get_removal_losses(workspace: "Workspace", worktree_id: str) -> api.RemovalLosses:
    losses = await workspace.removals.find_losses(worktree_id)
    state = workspace.store.state
    sessions = state.sessions_of(worktree_id, archived=True)
    return api.RemovalLosses(
        files=losses.files,
        commits=losses.commits,
        besides=losses.besides,
        sessions=len(sessions),
        running=[s.name for s in sessions if s.is_active],
        inside_at_work=losses.at_work,
    )


@implements(api.remove_worktree)
async def remove_worktree(
    workspace: "Workspace", worktree_id: str, force: bool = False, for_good: bool = False
) -> None:
    is_archiving = workspace.store.state.preferences.removal_behavior == "archive"
    if is_archiving and not for_good:
        await archive_worktree(workspace, worktree_id)
        return
    await workspace.removals.remove(worktree_id, force=force)


@implements(api.mark_worktree_opened)
async def mark_worktree_opened(workspace: "Workspace", worktree_id: str) -> None:
    worktree = require_worktree(workspace.store.state, worktree_id)
    opened = worktree.model_copy(update={"last_opened_at": time.time()})
    workspace.store.record(WorktreeUpdated(worktree=opened))


@implements(api.update_worktree_label)
async def update_worktree_label(
    workspace: "Workspace", worktree_id: str, label: Label | None
) -> None:

    def update(state: State) -> list[Event]:
        worktree = require_worktree(state, worktree_id)
        labeled = worktree.model_copy(update={"label": label})
        return [] if labeled == worktree else [WorktreeUpdated(worktree=labeled)]

    await workspace.store.accept(update)


async def _create(
    workspace: "Workspace",
    worktree: Worktree,
    issue: IssueContext | None,
    pull_request: PullRequestContext | None,
    branch: str | None,
) -> None:
    root = Path(require_project(workspace.store.state, worktree.project_id).path)
    if (item := issue or pull_request) is not None:
        workspace.run_in_background(_save_context(workspace, worktree.id, root, item))
    await create_prepared(workspace, worktree, pull_request, branch)


async def _save_context(
    workspace: "Workspace", worktree_id: str, root: Path, item: IssueContext | PullRequestContext
) -> None:
    """Save the text of what the worktree is created from: the given one if there is no other."""
    body = item.body if isinstance(item, IssueContext) else None
    kind: WorkKind = "issue" if isinstance(item, IssueContext) else "pull_request"
    given = ItemText(title=item.title, body=body or "")

    async def fetch() -> ItemText:
        forge = await find_forge(root)
        return await forge.fetch_text(root, kind, str(item.number))

    await workspace.contexts.fetch(worktree_id, kind, str(item.number), given, fetch)


async def create_prepared(
    workspace: "Workspace",
    worktree: Worktree,
    pull_request: PullRequestContext | None,
    branch: str | None = None,
) -> None:
    """Create an announced worktree and run its setup; `branch` is the existing one, if given."""
    with workspace.scripts.expecting_setup(worktree.id):
        if await creation.create(
            workspace.store, workspace.cancellable_tasks, worktree, pull_request, branch=branch
        ):
            await workspace.scripts.run_setup(worktree.id)
