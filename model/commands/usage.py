"""Implements `model.api.usage`."""

from typing import TYPE_CHECKING

from model.api import usage as api
from model.base.errors import SpinneyError
from model.chat.lookup import session_in
from model.commands.registry import implements
from model.domain.events.base import Event
from model.domain.events.projects import ProjectUpdated
from model.domain.events.sessions import SessionUpdated
from model.domain.usage import AccountLimits
from model.preferences.schema import MAX_BUDGET
from model.state import State
from model.store.usage_queries import UsageKey
from model.usage.limits import name_limits
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
    return [*name_limits(workspace.usage.limits.list(), workspace.catalog.label)]


@implements(api.list_budgets)
async def list_budgets(workspace: "Workspace", session_id: str | None = None) -> list[api.Budget]:
    if session_id is not None:
        session_in(workspace.store.state, session_id)
    return await workspace.budgets.read_all(session_id)


@implements(api.set_budget)
async def set_budget(
    workspace: "Workspace",
    usd: float | None,
    session_id: str | None = None,
    project_id: str | None = None,
) -> api.Budget | None:
    if (session_id is None) == (project_id is None):
        raise SpinneyError("Name either a session or a project.", "invalid_request")
    if usd is not None and not 0 <= usd <= MAX_BUDGET:
        raise SpinneyError(f"A budget is from 0 to {MAX_BUDGET:,} dollars.", "invalid_request")

    def make_events(state: State) -> list[Event]:
        if session_id is not None:
            session = session_in(state, session_id)
            return [SessionUpdated(session_id=session.id, updates={"budget_usd": usd})]
        project = require_project(state, project_id or "")
        return [ProjectUpdated(project=project.model_copy(update={"budget_usd": usd}))]

    await workspace.store.accept(make_events)
    wanted = session_id or project_id
    budgets = await workspace.budgets.read_all(session_id)
    return next((budget for budget in budgets if budget.id == wanted), None)
