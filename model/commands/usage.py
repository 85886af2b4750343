"""Implements `model.api.usage`."""

from typing import TYPE_CHECKING

from model.api import usage as api
from model.base.errors import SpinneyError
from model.chat.lookup import session_in
from model.commands.registry import implements
from model.domain.usage import AccountLimits
from model.store.usage_queries import UsageKey
from model.worktrees import require_project, require_worktree

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace


@implements(api.get_usage)
async def get_usage(
    workspace: "Workspace",
    by: api.UsageBy = "day",
    since: str | None = None,
    until: str | None = None,
    project_id: str | None = None,
    worktree_id: str | None = None,
    session_id: str | None = None,
) -> api.UsageReport:
    state, only = workspace.store.state, dict[UsageKey, str]()
    if project_id is not None:
        only["project_id"] = require_project(state, project_id).id
    if worktree_id is not None:
        only["worktree_id"] = require_worktree(state, worktree_id).id
    if session_id is not None:
        only["session_id"] = session_in(state, session_id).id
    elif by == "turn":
        raise SpinneyError(
            "Turns are listed of one session: say which one with sessionId.", "invalid_request"
        )
    return await workspace.usage_reports.make(by, since, until, only)


@implements(api.list_usage_limits)
async def list_usage_limits(workspace: "Workspace") -> list[AccountLimits]:
    return workspace.usage.limits.list()
