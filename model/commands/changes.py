"""Commands about what a worktree changes: listed, read, staged, discarded; a merge given up."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from model.base.text import make_visible
from model.commands.registry import command
from model.domain.resources import Resource, Worktree
from model.git import changes, discarding, merging, staging
from model.worktrees import project_in, worktree_in
from model.writing.commit_message import commit_message

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace


class ChangedFile(Resource):
    """A file that differs. Lines are null for binary files."""

    path: str
    old_path: str | None
    """Where it was, if it was renamed or copied."""
    status: changes.FileStatus
    added: int | None
    removed: int | None
    old_mode: str
    """Git's, six digits; empty for files that git does not track."""
    mode: str
    submodule: bool


class Changes(Resource):
    """What `list_changed_files` gives."""

    files: list[ChangedFile]
    base: str
    """The branch that the worktree is compared with."""
    operation: merging.Operation | None
    """What stopped in the middle, mostly because of a conflict."""
    message: str = ""
    """What git would have the commit say that ends it."""


class FileDiff(Resource):
    """What `get_file_diff` gives."""

    path: str
    text: str
    """Unified; `␍` is a carriage return that only some lines end with."""
    digest: str
    """Names this difference."""
    hunks: list[str]
    """The name of each hunk, in order; empty for one that was cut off."""


class DiscardedFile(Resource):
    """What was discarded, or brought back."""

    id: str
    path: str


class CommitMessage(Resource):
    """What `write_commit_message` gives."""

    message: str


@command
async def list_changed_files(
    workspace: "Workspace", worktree_id: str, side: changes.Side = "unstaged"
) -> Changes:
    """Files that differ: `unstaged`, `staged`, or on the `branch` since it left its base."""
    path, base, _ = _place(workspace, worktree_id)
    files = await changes.changed_files(path, side, base)
    operation = await merging.operation_of(path)
    return Changes(
        files=[_shown(file) for file in files],
        base=base,
        operation=operation,
        message=make_visible(await merging.prepared_message(path)) if operation else "",
    )


@command
async def get_file_diff(
    workspace: "Workspace", worktree_id: str, path: str, side: changes.Side = "unstaged"
) -> FileDiff:
    """The difference of one file, with names by which its hunks can be staged or discarded."""
    root, base, _ = _place(workspace, worktree_id)
    file = await changes.changed_file(root, side, path, base)
    patch, cut = await changes.patch_of(root, side, file, base)
    text = await asyncio.to_thread(patch.shown)
    return FileDiff(path=path, text=text, digest=patch.digest, hunks=patch.names(cut=cut))


@command
async def stage_changes(
    workspace: "Workspace",
    worktree_id: str,
    path: str | None = None,
    hunk: str | None = None,
    seen: str | None = None,
) -> None:
    """Stage a file, one `hunk` of it, or (without `path`) everything.

    `seen` is the digest of the difference that was looked at; another one is refused.
    """
    root, _, _ = _place(workspace, worktree_id)
    await staging.stage(root, path, hunk, seen)
    workspace.poller.ask(worktree_id)


@command
async def unstage_changes(
    workspace: "Workspace",
    worktree_id: str,
    path: str | None = None,
    hunk: str | None = None,
    seen: str | None = None,
) -> None:
    """Take a file, one `hunk` of it, or (without `path`) everything out of the next commit."""
    root, _, _ = _place(workspace, worktree_id)
    await staging.unstage(root, path, hunk, seen)
    workspace.poller.ask(worktree_id)


@command
async def discard_changes(
    workspace: "Workspace",
    worktree_id: str,
    path: str,
    hunk: str | None = None,
    seen: str | None = None,
) -> DiscardedFile:
    """Take back what is not staged of a file, or one `hunk` of that; `undo_discard` restores it."""
    root, _, _ = _place(workspace, worktree_id)
    done = await discarding.discard(root, _kept(workspace, worktree_id), path, hunk, seen)
    workspace.poller.ask(worktree_id)
    return DiscardedFile(id=done.id, path=path)


@command
async def undo_discard(
    workspace: "Workspace", worktree_id: str, discard_id: str | None = None
) -> DiscardedFile:
    """Bring back, byte for byte, what was discarded: last, or (`discardId`) at that time."""
    root, _, _ = _place(workspace, worktree_id)
    done = await discarding.undo(root, _kept(workspace, worktree_id), discard_id)
    workspace.poller.ask(worktree_id)
    return DiscardedFile(id=done.id, path=changes.shown_name(done.name))


@command
async def abort_merge(workspace: "Workspace", worktree_id: str) -> merging.Operation:
    """Give up the merge, rebase, cherry-pick or revert that stopped; tells which one it was."""
    root, _, _ = _place(workspace, worktree_id)
    done = await merging.abort(root)
    workspace.poller.ask(worktree_id)
    return done


@command
async def write_commit_message(
    workspace: "Workspace", worktree_id: str, stage_all: bool = False
) -> CommitMessage:
    """Let the agent of the prompt `commit_message` write what the next commit would say."""
    _, _, worktree = _place(workspace, worktree_id)
    writing = commit_message(workspace.writer, worktree, stage_all)
    return CommitMessage(message=await workspace.slow_work.run(worktree_id, "message", writing))


def _place(workspace: "Workspace", worktree_id: str) -> tuple[Path, str, Worktree]:
    """The worktree's root, the branch that it is compared with, and itself."""
    worktree = worktree_in(workspace.store.state, worktree_id)
    project = project_in(workspace.store.state, worktree.project_id)
    return Path(worktree.path), worktree.base_branch or project.default_branch, worktree


def _kept(workspace: "Workspace", worktree_id: str) -> Path:
    return workspace.directories.discarded / worktree_id


def _shown(file: changes.Changed) -> ChangedFile:
    return ChangedFile(
        path=changes.shown_name(file.name),
        old_path=changes.shown_name(file.old_name) if file.old_name else None,
        status=file.status,
        added=file.added,
        removed=file.removed,
        old_mode=file.old_mode,
        mode=file.mode,
        submodule=file.is_submodule,
    )
