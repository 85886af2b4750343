"""Implements `model.api.changes`."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from model.api import changes as api
from model.api.git import CommitResult
from model.base.text import make_visible
from model.commands.registry import implements
from model.commands.secrets import open_gate
from model.domain.changes import ConflictChoice, Operation, Side
from model.domain.recovery import SnapshotReason
from model.domain.worktrees import Worktree
from model.git import changes, conflicts, discarding, merging, staging
from model.worktrees import require_project, require_worktree
from model.writing.commit_message import generate_commit_message

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace


@implements(api.list_changed_files)
async def list_changed_files(
    workspace: "Workspace", worktree_id: str, side: Side = "unstaged"
) -> api.Changes:
    path, base, _ = locate(workspace, worktree_id)
    files = await changes.list_changed_files(path, side, base)
    operation = await merging.find_operation(path)
    return api.Changes(
        files=[as_resource(file) for file in files],
        base=base,
        operation=operation,
        message=make_visible(await merging.read_prepared_message(path)) if operation else "",
        can_undo=await asyncio.to_thread(discarding.has_any, _discards(workspace, worktree_id)),
    )


@implements(api.get_file_diff)
async def get_file_diff(
    workspace: "Workspace", worktree_id: str, path: str, side: Side = "unstaged"
) -> api.FileDiff:
    root, base, _ = locate(workspace, worktree_id)
    file = await changes.find_changed_file(root, side, path, base)
    patch, cut = await changes.read_patch(root, side, file, base)
    text = await asyncio.to_thread(patch.to_text)
    return api.FileDiff(path=path, text=text, digest=patch.digest, hunks=patch.hunk_names(cut=cut))


@implements(api.stage_changes)
async def stage_changes(
    workspace: "Workspace",
    worktree_id: str,
    path: str | None = None,
    hunk: str | None = None,
    seen: str | None = None,
) -> None:
    root, _, _ = locate(workspace, worktree_id)
    await staging.stage(root, path, hunk, seen)
    workspace.poller.refresh(worktree_id)


@implements(api.unstage_changes)
async def unstage_changes(
    workspace: "Workspace",
    worktree_id: str,
    path: str | None = None,
    hunk: str | None = None,
    seen: str | None = None,
) -> None:
    root, _, _ = locate(workspace, worktree_id)
    await staging.unstage(root, path, hunk, seen)
    workspace.poller.refresh(worktree_id)


@implements(api.discard_changes)
async def discard_changes(
    workspace: "Workspace",
    worktree_id: str,
    path: str,
    hunk: str | None = None,
    seen: str | None = None,
) -> api.DiscardedFile:
    root, _, _ = locate(workspace, worktree_id)
    await workspace.recovery_points.save(worktree_id, "discard", f"Discarded {path}")
    discarded = await discarding.discard(root, _discards(workspace, worktree_id), path, hunk, seen)
    workspace.poller.refresh(worktree_id)
    return api.DiscardedFile(id=discarded.id, path=path)


@implements(api.undo_discard)
async def undo_discard(
    workspace: "Workspace", worktree_id: str, discard_id: str | None = None
) -> api.DiscardedFile:
    root, _, _ = locate(workspace, worktree_id)
    restored = await discarding.undo(root, _discards(workspace, worktree_id), discard_id)
    workspace.poller.refresh(worktree_id)
    return api.DiscardedFile(
        id=restored.id,
        path=changes.to_display_name(restored.name),
        conflicted=restored.has_conflict,
    )


@implements(api.abort_merge)
async def abort_merge(workspace: "Workspace", worktree_id: str) -> Operation:
    root, _, _ = locate(workspace, worktree_id)
    running = await merging.find_operation(root)
    if running is not None:
        await workspace.recovery_points.save(worktree_id, "abort", f"Aborted a {running}")
    operation = await merging.abort(root)
    workspace.poller.refresh(worktree_id)
    return operation


@implements(api.resolve_conflict)
async def resolve_conflict(
    workspace: "Workspace", worktree_id: str, path: str, choice: ConflictChoice
) -> api.DiscardedFile:
    root, _, _ = locate(workspace, worktree_id)
    discards = _discards(workspace, worktree_id)
    await workspace.recovery_points.save(worktree_id, "merge", f"Resolved {path}")
    replaced = await conflicts.resolve(root, discards, path, choice)
    workspace.poller.refresh(worktree_id)
    return api.DiscardedFile(id=replaced.id, path=path)


@implements(api.continue_operation)
async def continue_operation(
    workspace: "Workspace",
    worktree_id: str,
    allowed_secrets: list[str] | None = None,
    allow_markers: bool = False,
) -> CommitResult:
    root, _, _ = locate(workspace, worktree_id)
    gate = open_gate(workspace, worktree_id, allowed_secrets)
    operation = await merging.find_operation(root)

    async def save_and_continue() -> str:
        reason: SnapshotReason = "rebase" if operation == "rebase" else "merge"
        await workspace.recovery_points.save(worktree_id, reason, f"Continued a {operation}")
        return await conflicts.continue_operation(root, gate, allow_markers=allow_markers)

    sha = await workspace.cancellable_tasks.run(worktree_id, "commit", save_and_continue())
    workspace.poller.refresh(worktree_id)
    return CommitResult(success=True, commit_sha=sha)


@implements(api.write_commit_message)
async def write_commit_message(
    workspace: "Workspace", worktree_id: str, stage_all: bool = False
) -> api.CommitMessage:
    _, _, worktree = locate(workspace, worktree_id)
    writing = generate_commit_message(workspace.writer, worktree, stage_all)
    return api.CommitMessage(
        message=await workspace.cancellable_tasks.run(worktree_id, "message", writing)
    )


def locate(workspace: "Workspace", worktree_id: str) -> tuple[Path, str, Worktree]:
    """Return the worktree's path, the branch that it is compared with, and the worktree."""
    worktree = require_worktree(workspace.store.state, worktree_id)
    project = require_project(workspace.store.state, worktree.project_id)
    return Path(worktree.path), worktree.base_branch or project.default_branch, worktree


def _discards(workspace: "Workspace", worktree_id: str) -> Path:
    return workspace.directories.discarded / worktree_id


def as_resource(file: changes.ChangedFile) -> api.ChangedFile:
    """Return a changed file as clients get it."""
    return api.ChangedFile(
        path=changes.to_display_name(file.name),
        old_path=changes.to_display_name(file.old_name) if file.old_name else None,
        status=file.status,
        added=file.added,
        removed=file.removed,
        old_mode=file.old_mode,
        mode=file.mode,
        submodule=file.is_submodule,
        deleted_by=file.deleted_by,
    )
