"""Implements `model.api.hosting`."""

from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

from model.api import hosting as api
from model.base.errors import SpinneyError
from model.commands.open_work import collect_open_work
from model.commands.registry import implements
from model.commands.sessions import create_session
from model.commands.worktrees import create_prepared
from model.domain.hosting import (
    Advisory,
    ItemState,
    OpenIssue,
    OpenPullRequest,
    OpenWork,
    SecurityAlert,
    TrackerIssue,
    TrackerTeam,
    WorkflowRun,
    WorkItem,
    WorkKind,
)
from model.domain.modes import ExecutionMode
from model.domain.projects import Project
from model.domain.sessions import Session
from model.domain.worktrees import Worktree
from model.hosting.forge import Forge, ItemQuery, ItemText
from model.hosting.forges import find_forge
from model.preferences.prompts import describe_place, write_prompt
from model.worktrees import require_project
from model.worktrees.announcing import Begin, announce
from model.worktrees.item_context import format_item
from model.worktrees.item_worktrees import add_worktrees
from model.worktrees.starting_work import (
    PROMPTS,
    WorkPlan,
    collect_values,
    make_session_name,
    plan_work,
)

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace

T = TypeVar("T", bound=WorkItem)

_MAX_PAGE = 100
_MAX_SEARCH = 500
"""Characters of a search."""
_ATTEMPTS = 5
"""Names that are tried for a worktree while others take the same ones."""


@implements(api.list_issues)
async def list_issues(
    workspace: "Workspace",
    project_id: str,
    search: str = "",
    state: ItemState = "open",
    labels: list[str] | None = None,
    assignee: str = "",
    page: int = 1,
    refresh: bool = False,
) -> list[OpenIssue]:
    query = make_query(search, state, labels, assignee, page)
    return await _list(
        workspace, project_id, "issue", query, refresh,
        lambda forge, path: forge.list_issues(path, query),
    )  # fmt: skip


@implements(api.list_pull_requests)
async def list_pull_requests(
    workspace: "Workspace",
    project_id: str,
    search: str = "",
    state: ItemState = "open",
    labels: list[str] | None = None,
    assignee: str = "",
    page: int = 1,
    refresh: bool = False,
) -> list[OpenPullRequest]:
    query = make_query(search, state, labels, assignee, page)
    return await _list(
        workspace, project_id, "pull_request", query, refresh,
        lambda forge, path: forge.list_pull_requests(path, query),
    )  # fmt: skip


@implements(api.list_workflow_runs)
async def list_workflow_runs(
    workspace: "Workspace",
    project_id: str,
    state: Literal["failed", "all"] = "failed",
    branch: str = "",
    page: int = 1,
    refresh: bool = False,
) -> list[WorkflowRun]:
    _check_page(page)
    return await _list(
        workspace, project_id, "workflow_run", (state, branch, page), refresh,
        lambda forge, path: forge.list_workflow_runs(
            path, failed=state == "failed", branch=branch, page=page
        ),
    )  # fmt: skip


@implements(api.list_security_alerts)
async def list_security_alerts(
    workspace: "Workspace",
    project_id: str,
    state: ItemState = "open",
    page: int = 1,
    refresh: bool = False,
) -> list[SecurityAlert]:
    _check_page(page)
    return await _list(
        workspace, project_id, "security_alert", (state, page), refresh,
        lambda forge, path: forge.list_security_alerts(path, state, page),
    )  # fmt: skip


@implements(api.list_advisories)
async def list_advisories(
    workspace: "Workspace",
    project_id: str,
    state: ItemState = "open",
    page: int = 1,
    refresh: bool = False,
) -> list[Advisory]:
    _check_page(page)
    return await _list(
        workspace, project_id, "advisory", (state, page), refresh,
        lambda forge, path: forge.list_advisories(path, state, page),
    )  # fmt: skip


@implements(api.list_tracker_issues)
async def list_tracker_issues(
    workspace: "Workspace",
    project_id: str,
    search: str = "",
    state: ItemState = "open",
    labels: list[str] | None = None,
    assignee: str = "",
    page: int = 1,
    refresh: bool = False,
) -> list[TrackerIssue]:
    query = make_query(search, state, labels, assignee, page)
    project = require_project(workspace.store.state, project_id)
    api_key, team = _tracker_key(workspace, project), project.tracker_team_id
    found = await workspace.lists.get(
        ("tracker_issue", api_key, team, query),
        partial(workspace.tracker.list_issues, api_key, team, query),
        refresh=refresh,
    )
    return add_worktrees(workspace.store.state, [project_id], found)


@implements(api.list_tracker_teams)
async def list_tracker_teams(workspace: "Workspace", project_id: str) -> list[TrackerTeam]:
    project = require_project(workspace.store.state, project_id)
    return await workspace.tracker.list_teams(_tracker_key(workspace, project))


@implements(api.list_open_work)
async def list_open_work(
    workspace: "Workspace",
    search: str = "",
    kinds: list[WorkKind] | None = None,
    refresh: bool = False,
) -> OpenWork:
    wanted = kinds or ["issue", "pull_request"]
    if not {"issue", "pull_request"}.issuperset(wanted):
        raise SpinneyError("Invalid field 'kinds': may contain issue and pull_request only")

    async def load(project: Project) -> list[OpenIssue | OpenPullRequest]:
        found: list[OpenIssue | OpenPullRequest] = []
        if "issue" in wanted:
            found += await list_issues(workspace, project.id, search, refresh=refresh)
        if "pull_request" in wanted:
            found += await list_pull_requests(workspace, project.id, search, refresh=refresh)
        return found

    return await collect_open_work(workspace.store.state, load)


@implements(api.get_work_text)
async def get_work_text(
    workspace: "Workspace", project_id: str, kind: WorkKind, item_id: str
) -> str:
    project = require_project(workspace.store.state, project_id)
    return format_item(kind, item_id, await fetch_text(workspace, project, kind, item_id))


@implements(api.start_work)
async def start_work(
    workspace: "Workspace",
    project_id: str,
    kind: WorkKind,
    item_id: str,
    investigate: bool = True,
    mode: ExecutionMode | None = None,
    name: str | None = None,
) -> api.StartedWork:
    project = require_project(workspace.store.state, project_id)
    text = await fetch_text(workspace, project, kind, item_id)
    plan = await plan_work(project, kind, item_id, text)
    worktree = await announce_work(workspace, project, plan, name)
    try:
        await workspace.contexts.write(worktree.id, kind, item_id, text)
        session = (
            await _investigate(workspace, worktree, kind, item_id, text, mode or "plan")
            if investigate
            else None
        )
    finally:
        workspace.run_in_background(create_prepared(workspace, worktree, plan.pull_request))
    return api.StartedWork(worktree=worktree, session=session)


def make_query(
    search: str, state: ItemState, labels: list[str] | None, assignee: str, page: int
) -> ItemQuery:
    """Return what a client wants of a list. Raises `SpinneyError` for an invalid page or search."""
    _check_page(page)
    if len(search) > _MAX_SEARCH:
        raise SpinneyError(f"Invalid field 'search': must have at most {_MAX_SEARCH} characters")
    return ItemQuery(search, state, tuple(labels or ()), assignee, page)


def _check_page(page: int) -> None:
    if not 1 <= page <= _MAX_PAGE:
        raise SpinneyError(f"Invalid field 'page': must be from 1 to {_MAX_PAGE}")


async def _list(
    workspace: "Workspace",
    project_id: str,
    kind: WorkKind,
    key: object,
    refresh: bool,
    load: Callable[[Forge, Path], Awaitable[list[T]]],
) -> list[T]:
    """Return a list of the project's hosting service, with the worktrees of each item."""
    path = Path(require_project(workspace.store.state, project_id).path)

    async def load_from_forge() -> list[T]:
        return await load(await _find_forge(path, kind), path)

    found = await workspace.lists.get((path, kind, key), load_from_forge, refresh=refresh)
    return add_worktrees(workspace.store.state, [project_id], found)


async def _find_forge(path: Path, kind: WorkKind) -> Forge:
    forge = await find_forge(path)
    if kind in forge.unsupported.kinds:
        raise SpinneyError(forge.unsupported.reason, "conflict")
    return forge


async def fetch_text(
    workspace: "Workspace", project: Project, kind: WorkKind, item_id: str
) -> ItemText:
    """Return the text of an item from the hosting service or the issue tracker."""
    if kind == "tracker_issue":
        return await workspace.tracker.fetch_text(_tracker_key(workspace, project), item_id)
    path = Path(project.path)
    return await (await _find_forge(path, kind)).fetch_text(path, kind, item_id)


def _tracker_key(workspace: "Workspace", project: Project) -> str | None:
    return project.tracker_api_key or workspace.store.state.preferences.tracker_api_key


async def announce_work(
    workspace: "Workspace",
    project: Project,
    plan: WorkPlan,
    name: str | None,
    begin: Begin | None = None,
) -> Worktree:
    """Record the new worktree; a suggested name may be taken meanwhile by another one."""
    for attempt in range(_ATTEMPTS):
        try:
            return await announce(
                workspace.store,
                workspace.directories,
                project.id,
                plan.base_branch,
                name,
                issue=plan.issue,
                pull_request=plan.pull_request,
                origin=plan.origin,
                begin=begin,
            )
        except SpinneyError as error:
            if name or error.error_type != "conflict" or attempt == _ATTEMPTS - 1:
                raise
    raise AssertionError


async def _investigate(
    workspace: "Workspace",
    worktree: Worktree,
    kind: WorkKind,
    item_id: str,
    text: ItemText,
    mode: ExecutionMode,
) -> Session:
    """Create a session with the prompt of this kind, which is sent once the worktree is ready."""
    state = workspace.store.state
    prompt = PROMPTS[kind]
    place = describe_place(state.projects.get(worktree.project_id), worktree)
    message = write_prompt(prompt, state.preferences, collect_values(item_id, text, place))
    session = await create_session(
        workspace, worktree.id, make_session_name(kind, item_id, text), mode, prompt=prompt
    )
    context = partial(workspace.contexts.find_file, worktree.id)
    await workspace.chats.send(session.id, message, context=context)
    return workspace.store.state.sessions[session.id]
