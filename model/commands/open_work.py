"""The open issues and pull requests of all projects."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.domain.hosting import OpenIssue, OpenPullRequest, OpenWork, OpenWorkItem, OpenWorkProblem
from model.domain.projects import Project
from model.git.hosts import list_hosting_remotes
from model.git.repositories import list_remotes
from model.state import State, sort_projects
from model.worktrees.item_worktrees import add_worktrees

_CONCURRENCY: Final = 4
"""Projects that are read at once."""

Load = Callable[[Project], Awaitable[list[OpenIssue | OpenPullRequest]]]


async def collect_open_work(state: State, load: Load) -> OpenWork:
    """Collect the items that `load` returns, of each repository once, the latest changes first.

    A project whose items cannot be read is listed with the reason; one without a remote has none.
    """
    groups = await _group_by_repository(state)
    semaphore = asyncio.Semaphore(_CONCURRENCY)

    async def read(
        projects: list[Project],
    ) -> tuple[list[OpenWorkItem], OpenWorkProblem | None]:
        first, ids = projects[0], [project.id for project in projects]
        try:
            async with semaphore:
                found = await load(first)
        except SpinneyError as error:
            return [], OpenWorkProblem(project_id=first.id, message=error.message)
        items = add_worktrees(state, ids, found)
        return [_add_sessions(state, first.id, item) for item in items], None

    results = await asyncio.gather(*map(read, groups))
    items = [item for found, _ in results for item in found]
    items.sort(key=lambda found: found.item.updated_at or 0, reverse=True)
    return OpenWork(items=items, problems=[problem for _, problem in results if problem])


async def _group_by_repository(state: State) -> list[list[Project]]:
    """Group the projects by the repository at the hosting service, in the order of the tree."""
    projects = [each for each in sort_projects(state.projects.values()) if not each.is_folder]
    semaphore = asyncio.Semaphore(_CONCURRENCY)

    async def identify(project: Project) -> str | None:
        async with semaphore:
            return await _find_repository(project)

    names = await asyncio.gather(*map(identify, projects))
    groups: dict[str, list[Project]] = {}
    for project, name in zip(projects, names, strict=True):
        if name is not None:
            groups.setdefault(name, []).append(project)
    return list(groups.values())


async def _find_repository(project: Project) -> str | None:
    """Return what identifies a project's repository; `None` if it has no remote."""
    path = Path(project.path)
    try:
        remotes = await list_hosting_remotes(path)
        if not remotes:
            return project.id if await list_remotes(path) else None
    except SpinneyError:
        return project.id  # Its problem shows when its items are read.
    own = min(remotes, key=lambda remote: remote.name != "origin")
    return f"{own.host}/{own.owner}/{own.repo}".lower()


def _add_sessions(state: State, project_id: str, item: OpenIssue | OpenPullRequest) -> OpenWorkItem:
    sessions = [session for key in item.worktree_ids for session in state.sessions_of(key)]
    sessions.sort(key=lambda session: (not session.is_active, -session.updated_at))
    ids = [session.id for session in sessions]
    return OpenWorkItem(project_id=project_id, item=item, session_ids=ids)
