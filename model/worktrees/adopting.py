"""Find worktrees that were created outside Spinney, and adopt them as they are.

Their folder and branch belong to the user: they are not moved, renamed or deleted, and no script of
the repository runs when they are adopted or removed from Spinney.
"""

import asyncio
import os
import time
import uuid
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError, worktree_path_exists
from model.base.git_layout import find_git_directories
from model.base.text import clean_line
from model.domain.events.base import Event
from model.domain.events.projects import ProjectUpdated
from model.domain.events.worktrees import WorktreeCreated
from model.domain.projects import Project
from model.domain.worktrees import OutsideWorktree, Worktree
from model.git import worktrees as git_worktrees
from model.state import State
from model.store.store import Store
from model.worktrees import ports
from model.worktrees.lookup import next_order, require_project
from model.worktrees.naming import make_unique_name

_INTERVAL: Final = 10.0
"""Seconds between two looks at the repositories: a few files each, and git only after a change."""
_MAX_PATH: Final = 4096
_MAX_IGNORED: Final = 500
"""Paths that are kept; the oldest are offered again."""


class OutsideWorktrees:
    """Finds the worktrees of projects that were created outside Spinney. Used on the core's loop.

    `data` is Spinney's own directory: worktrees in it are its own, such as those of trains.
    """

    def __init__(self, store: Store, data: Path) -> None:
        self._store = store
        self._data = data
        self._seen: dict[str, object] = {}
        """What was seen of a project's repository when its worktrees were last listed."""

    async def list(self, project_id: str) -> list[OutsideWorktree]:
        """Return the project's worktrees from outside Spinney whose folder exists."""
        project = require_project(self._store.state, project_id)
        listed = await git_worktrees.list_worktrees(Path(project.path))
        known = await asyncio.to_thread(_known_paths, self._store.state)
        data = Path(await asyncio.to_thread(os.path.realpath, self._data))
        return [
            OutsideWorktree(
                path=str(entry.path),
                branch=entry.branch,
                ignored=str(entry.path) in project.ignored_worktrees,
            )
            for entry in listed
            if not (entry.is_main or entry.is_bare or entry.is_initializing)
            and str(entry.path) not in known
            and data not in entry.path.parents
            and await asyncio.to_thread(entry.path.is_dir)
        ]

    async def adopt(self, project_id: str, path: str) -> Worktree:
        """Add a worktree that was created outside Spinney, as it is."""
        found = await self._require(project_id, path)
        if found.branch is None:
            raise SpinneyError(
                f"No branch is checked out in {clean_line(path)}. Check out a branch there, then "
                "adopt the worktree.",
                "conflict",
            )
        adopted = Worktree(
            id=str(uuid.uuid4()),
            project_id=project_id,
            name=clean_line(found.branch),
            path=found.path,
            branch=found.branch,
            created_at=time.time(),
            adopted=True,
            named_by_user=True,
        )
        await self._store.accept(
            lambda state: _make_adoption_events(state, adopted),
            lambda state: _make_ignore_events(state, project_id, found.path, ignored=False),
        )
        await self.update_count(project_id)
        return self._store.state.worktrees[adopted.id]

    async def ignore(self, project_id: str, path: str, *, ignored: bool) -> None:
        """Offer a worktree no more, or again."""
        found = await self._require(project_id, path)
        await self._store.accept(
            lambda state: _make_ignore_events(state, project_id, found.path, ignored=ignored)
        )
        await self.update_count(project_id)

    async def update_count(self, project_id: str) -> None:
        """Publish how many worktrees of a project are offered, if that has changed."""
        offered = [each for each in await self.list(project_id) if not each.ignored]
        project = self._store.state.projects.get(project_id)
        if project is not None and project.outside_worktrees != len(offered):
            updated = project.model_copy(update={"outside_worktrees": len(offered)})
            self._store.record(ProjectUpdated(project=updated))

    async def run(self) -> None:
        """Look for new ones until canceled. Lists only repositories in which something changed."""
        while True:
            projects = [each for each in self._store.state.projects.values() if not each.is_folder]
            seen = await asyncio.to_thread(_look_at, projects, self._store.state)
            changed = [key for key, facts in seen.items() if self._seen.get(key) != facts]
            self._seen = seen
            for project_id in changed:
                with suppress(SpinneyError):  # The repository is gone or damaged.
                    await self.update_count(project_id)
            await asyncio.sleep(_INTERVAL)

    async def _require(self, project_id: str, path: str) -> OutsideWorktree:
        real = await asyncio.to_thread(os.path.realpath, path)
        candidates = await self.list(project_id)
        found = next((candidate for candidate in candidates if candidate.path == real), None)
        if found is None:
            raise SpinneyError(
                f"There is no worktree at {clean_line(path)} that was created outside Spinney and "
                "belongs to this project's repository.",
                "not_found",
            )
        return found


def _look_at(projects: Sequence[Project], state: State) -> dict[str, object]:
    """Return, for each project, what changes with the worktrees that it offers. Blocks."""
    of_project: dict[str, set[str]] = {}
    for worktree in state.worktrees.values():
        of_project.setdefault(worktree.project_id, set()).add(worktree.path)
    seen: dict[str, object] = {}
    for project in projects:
        directories = find_git_directories(Path(project.path))
        entries = _read_entries(directories.common_dir) if directories is not None else []
        seen[project.id] = (entries, of_project.get(project.id))
    return seen


def _read_entries(common: Path) -> list[tuple[str, bool]]:
    """Return the names by which a repository knows its worktrees, and whether they exist."""
    found = []
    with suppress(OSError):  # There are none.
        for entry in (common / "worktrees").iterdir():
            with suppress(OSError):  # It is being removed.
                marker = os.fsdecode((entry / "gitdir").read_bytes()[:_MAX_PATH]).rstrip("\n")
                found.append((entry.name, os.path.lexists(marker)))
    return sorted(found)


def _make_ignore_events(state: State, project_id: str, path: str, *, ignored: bool) -> list[Event]:
    project = require_project(state, project_id)
    others = [each for each in project.ignored_worktrees if each != path]
    paths = [*others, path][-_MAX_IGNORED:] if ignored else others
    if paths == project.ignored_worktrees:
        return []
    return [ProjectUpdated(project=project.model_copy(update={"ignored_worktrees": paths}))]


def _make_adoption_events(state: State, adopted: Worktree) -> list[Event]:
    others = state.worktrees_of(require_project(state, adopted.project_id).id, archived=True)
    if any(other.path == adopted.path for other in state.worktrees.values()):
        raise worktree_path_exists(adopted.path)
    name = make_unique_name(adopted.name, {other.name for other in others})
    order = next_order(state, adopted.project_id)
    placed = ports.with_port(state, adopted)
    return [WorktreeCreated(worktree=placed.model_copy(update={"name": name, "order": order}))]


def _known_paths(state: State) -> set[str]:
    paths = [worktree.path for worktree in state.worktrees.values()]
    paths += [project.path for project in state.projects.values()]
    return {os.path.realpath(path) for path in paths if path}
