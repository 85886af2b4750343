"""Implements `model.api.changes`."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from model.api import changes as api
from model.base.text import make_visible
from model.commands.registry import implements
from model.domain.changes import Operation, Side
from model.domain.resources import Worktree
from model.git import changes, discarding, merging, staging
from model.worktrees import project_in, worktree_in
from model.writing.commit_message import commit_message

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace


@implements(api.list_changed_files)
async def list_changed_files(
    workspace: "Workspace", worktree_id: str, side: Side = "unstaged"
) -> api.Changes:
    path, base, _ = _locate(workspace, worktree_id)
    files = await changes.changed_files(path, side, base)
    operation = await merging.operation_of(path)
    return api.Changes(
        files=[_changed_file(file) for file in files],
        base=base,
        operation=operation,
        message=make_visible(await merging.prepared_message(path)) if operation else "",
    )


@implements(api.get_file_diff)
async def get_file_diff(
    workspace: "Workspace", worktree_id: str, path: str, side: Side = "unstaged"
) -> api.FileDiff:
    root, base, _ = _locate(workspace, worktree_id)
    file = await changes.changed_file(root, side, path, base)
    patch, cut = await changes.patch_of(root, side, file, base)
    text = await asyncio.to_thread(patch.shown)
    return api.FileDiff(path=path, text=text, digest=patch.digest, hunks=patch.names(cut=cut))


@implements(api.stage_changes)
async def stage_changes(
    workspace: "Workspace",
    worktree_id: str,
    path: str | None = None,
    hunk: str | None = None,
    seen: str | None = None,
) -> None:
    root, _, _ = _locate(workspace, worktree_id)
    await staging.stage(root, path, hunk, seen)
    workspace.poller.ask(worktree_id)


@implements(api.unstage_changes)
async def unstage_changes(
    workspace: "Workspace",
    worktree_id: str,
    path: str | None = None,
    hunk: str | None = None,
    seen: str | None = None,
) -> None:
    root, _, _ = _locate(workspace, worktree_id)
    await staging.unstage(root, path, hunk, seen)
    workspace.poller.ask(worktree_id)


@implements(api.discard_changes)
async def discard_changes(
    workspace: "Workspace",
    worktree_id: str,
    path: str,
    hunk: str | None = None,
    seen: str | None = None,
) -> api.DiscardedFile:
    root, _, _ = _locate(workspace, worktree_id)
    discarded = await discarding.discard(root, _discards(workspace, worktree_id), path, hunk, seen)
    workspace.poller.ask(worktree_id)
    return api.DiscardedFile(id=discarded.id, path=path)


@implements(api.undo_discard)
async def undo_discard(
    workspace: "Workspace", worktree_id: str, discard_id: str | None = None
) -> api.DiscardedFile:
    root, _, _ = _locate(workspace, worktree_id)
    restored = await discarding.undo(root, _discards(workspace, worktree_id), discard_id)
    workspace.poller.ask(worktree_id)
    return api.DiscardedFile(id=restored.id, path=changes.shown_name(restored.name))


@implements(api.abort_merge)
async def abort_merge(workspace: "Workspace", worktree_id: str) -> Operation:
    root, _, _ = _locate(workspace, worktree_id)
    operation = await merging.abort(root)
    workspace.poller.ask(worktree_id)
    return operation


@implements(api.write_commit_message)
async def write_commit_message(
    workspace: "Workspace", worktree_id: str, stage_all: bool = False
) -> api.CommitMessage:
    _, _, worktree = _locate(workspace, worktree_id)
    writing = commit_message(workspace.writer, worktree, stage_all)
    return api.CommitMessage(message=await workspace.slow_work.run(worktree_id, "message", writing))


def _locate(workspace: "Workspace", worktree_id: str) -> tuple[Path, str, Worktree]:
    """The worktree's path, the branch that it is compared with, and the worktree."""
    worktree = worktree_in(workspace.store.state, worktree_id)
    project = project_in(workspace.store.state, worktree.project_id)
    return Path(worktree.path), worktree.base_branch or project.default_branch, worktree


def _discards(workspace: "Workspace", worktree_id: str) -> Path:
    return workspace.directories.discarded / worktree_id


def _changed_file(file: changes.Changed) -> api.ChangedFile:
    return api.ChangedFile(
        path=changes.shown_name(file.name),
        old_path=changes.shown_name(file.old_name) if file.old_name else None,
        status=file.status,
        added=file.added,
        removed=file.removed,
        old_mode=file.old_mode,
        mode=file.mode,
        submodule=file.is_submodule,
    )
