"""Implements `model.api.conflicts`."""

from typing import TYPE_CHECKING

from model.api import conflicts as api
from model.commands.registry import implements
from model.domain.conflicts import WorktreeConflict
from model.worktrees import require_project

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace


@implements(api.list_conflicts)
async def list_conflicts(workspace: "Workspace", project_id: str) -> list[WorktreeConflict]:
    require_project(workspace.store.state, project_id)
    await workspace.radar.settle(project_id)
    return workspace.radar.list_conflicts(project_id)
