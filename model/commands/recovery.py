"""Implements `model.api.recovery`."""

import asyncio
from typing import TYPE_CHECKING

from model.api import recovery as api
from model.commands.registry import implements
from model.domain.recovery import RecoveryFile, RecoveryPoint
from model.domain.sessions import Session
from model.domain.worktrees import Worktree
from model.worktrees import require_project

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace


@implements(api.list_recovery_points)
async def list_recovery_points(
    workspace: "Workspace",
    project_id: str | None = None,
    limit: int | None = None,
    offset: int = 0,
) -> list[RecoveryPoint]:
    if project_id is not None:
        require_project(workspace.store.state, project_id)
    found = await workspace.recovery_points.list(project_id)
    page = found[offset:] if limit is None else found[offset : offset + limit]
    return await asyncio.to_thread(lambda: [each.as_resource() for each in page])


@implements(api.list_recovery_files)
async def list_recovery_files(workspace: "Workspace", recovery_id: str) -> list[RecoveryFile]:
    return await workspace.restoring.list_files(recovery_id)


@implements(api.restore_worktree)
async def restore_worktree(
    workspace: "Workspace", recovery_id: str, name: str | None = None
) -> Worktree:
    return await workspace.restoring.restore_worktree(recovery_id, name)


@implements(api.restore_sessions)
async def restore_sessions(workspace: "Workspace", recovery_id: str) -> list[Session]:
    return await workspace.restoring_sessions.restore(recovery_id)


@implements(api.restore_files)
async def restore_files(workspace: "Workspace", recovery_id: str, paths: list[str]) -> None:
    worktree_id = await workspace.restoring.restore_files(recovery_id, paths)
    workspace.poller.refresh(worktree_id)


@implements(api.delete_recovery_point)
async def delete_recovery_point(workspace: "Workspace", recovery_id: str) -> None:
    await workspace.recovery_points.delete(recovery_id)
