"""Implements `model.api.history`."""

import asyncio
from collections.abc import Coroutine
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from model.api import history as api
from model.api.changes import ChangedFile, FileDiff
from model.api.git import CommitResult
from model.commands.changes import as_resource, locate
from model.commands.registry import implements
from model.commands.secrets import open_gate
from model.git import changes, log, rewriting

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace


@implements(api.list_commits)
async def list_commits(
    workspace: "Workspace", worktree_id: str, limit: int = 50, offset: int = 0
) -> list[api.Commit]:
    path, base, _ = locate(workspace, worktree_id)
    listed = await log.list_log(path, base, limit, offset)
    return [api.Commit.model_validate(asdict(commit)) for commit in listed]


@implements(api.list_commit_files)
async def list_commit_files(
    workspace: "Workspace", worktree_id: str, sha: str
) -> list[ChangedFile]:
    root, _, _ = locate(workspace, worktree_id)
    return [as_resource(file) for file in await changes.list_commit_files(root, sha)]


@implements(api.get_commit_file_diff)
async def get_commit_file_diff(
    workspace: "Workspace", worktree_id: str, sha: str, path: str
) -> FileDiff:
    root, _, _ = locate(workspace, worktree_id)
    patch, cut = await changes.read_commit_patch(root, sha, path)
    text = await asyncio.to_thread(patch.to_text)
    return FileDiff(path=path, text=text, digest=patch.digest, hunks=patch.hunk_names(cut=cut))


@implements(api.amend_commit)
async def amend_commit(
    workspace: "Workspace",
    worktree_id: str,
    message: str | None = None,
    stage_all: bool = False,
    force: bool = False,
    allowed_secrets: list[str] | None = None,
    allow_markers: bool = False,
) -> CommitResult:
    path, base, _ = locate(workspace, worktree_id)
    gate = open_gate(workspace, worktree_id, allowed_secrets)
    amending = rewriting.amend(
        path, base, message, gate, stage_all=stage_all, force=force, allow_markers=allow_markers
    )
    return await _rewrite(workspace, worktree_id, amending)


@implements(api.fixup_commit)
async def fixup_commit(
    workspace: "Workspace",
    worktree_id: str,
    sha: str,
    stage_all: bool = False,
    allowed_secrets: list[str] | None = None,
    allow_markers: bool = False,
) -> CommitResult:
    path, base, _ = locate(workspace, worktree_id)
    gate = open_gate(workspace, worktree_id, allowed_secrets)

    async def save_and_fix_up() -> str:
        await workspace.recovery_points.save(worktree_id, "rebase", f"Fixed up commit {sha[:10]}")
        return await rewriting.fix_up(
            path, base, sha, gate, stage_all=stage_all, allow_markers=allow_markers
        )

    return await _rewrite(workspace, worktree_id, save_and_fix_up())


async def _rewrite(
    workspace: "Workspace", worktree_id: str, rewriting: Coroutine[Any, Any, str]
) -> CommitResult:
    sha = await workspace.cancellable_tasks.run(worktree_id, "commit", rewriting)
    workspace.poller.refresh(worktree_id)
    return CommitResult(success=True, commit_sha=sha)
