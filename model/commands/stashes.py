"""Implements `model.api.stashes`."""

from dataclasses import asdict
from typing import TYPE_CHECKING

from model.api import stashes as api
from model.api.git import ExchangeResult
from model.commands.changes import locate
from model.commands.registry import implements
from model.git import stashes

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace


@implements(api.list_stashes)
async def list_stashes(workspace: "Workspace", worktree_id: str) -> list[api.Stash]:
    path, _, _ = locate(workspace, worktree_id)
    return [api.Stash.model_validate(asdict(each)) for each in await stashes.list_stashes(path)]


@implements(api.stash_changes)
async def stash_changes(workspace: "Workspace", worktree_id: str, message: str = "") -> api.Stash:
    path, _, _ = locate(workspace, worktree_id)
    made = await stashes.stash(path, message)
    workspace.poller.refresh(worktree_id)
    return api.Stash.model_validate(asdict(made))


@implements(api.apply_stash)
async def apply_stash(
    workspace: "Workspace", worktree_id: str, stash_id: str, drop: bool = True
) -> ExchangeResult:
    path, _, _ = locate(workspace, worktree_id)
    await workspace.recovery_points.save(worktree_id, "stash", "Applied a stash")
    success, output = await stashes.apply_stash(path, stash_id, drop=drop)
    workspace.poller.refresh(worktree_id)
    return ExchangeResult(success=success, output=output)


@implements(api.drop_stash)
async def drop_stash(workspace: "Workspace", worktree_id: str, stash_id: str) -> None:
    path, _, _ = locate(workspace, worktree_id)
    await workspace.recovery_points.save_stash(worktree_id, stash_id)
    await stashes.drop_stash(path, stash_id)


@implements(api.restore_stash)
async def restore_stash(workspace: "Workspace", worktree_id: str, stash_id: str) -> None:
    path, _, _ = locate(workspace, worktree_id)
    await stashes.restore_stash(path, stash_id)
