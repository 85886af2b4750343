"""Implements `model.api.landing`."""

from typing import TYPE_CHECKING

from model.api import landing as api
from model.commands.registry import implements
from model.domain.landing import CheckResult, LandingDesk

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace


@implements(api.get_landing_desk)
async def get_landing_desk(workspace: "Workspace", project_id: str) -> LandingDesk:
    return await workspace.landing.desk.read(project_id, None)


@implements(api.get_check_result)
async def get_check_result(workspace: "Workspace", worktree_id: str) -> CheckResult:
    return await workspace.landing.checks.read(worktree_id)
