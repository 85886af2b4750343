"""Find worktrees that were created outside Spinney, and adopt them as they are.

Their folder and branch belong to the user: they are not moved, renamed or deleted, and no script of
the repository runs when they are adopted or removed from Spinney.
"""

import asyncio
import os
import time
import uuid
from pathlib import Path

from model.base.errors import SpinneyError, worktree_path_exists
from model.base.text import clean_line
from model.domain.events import Event, WorktreeCreated
from model.domain.resources import Worktree
from model.domain.worktrees import OutsideWorktree
from model.git import worktrees as git_worktrees
from model.state import State
from model.store.store import Store
from model.worktrees import ports
from model.worktrees.lookup import next_order, require_project
from model.worktrees.naming import make_unique_name


async def list_outside_worktrees(state: State, project_id: str) -> list[OutsideWorktree]:
    """Return the project's worktrees from outside Spinney whose folder exists."""
    root = Path(require_project(state, project_id).path)
    listed = await git_worktrees.list_worktrees(root)
    known = await asyncio.to_thread(_known_paths, state)
    return [
        OutsideWorktree(path=str(entry.path), branch=entry.branch)
        for entry in listed
        if not (entry.is_main or entry.is_bare or entry.is_initializing or str(entry.path) in known)
        and await asyncio.to_thread(entry.path.is_dir)
    ]


async def adopt(store: Store, project_id: str, path: str) -> Worktree:
    """Add a worktree that was created outside Spinney, with its folder and branch as they are."""
    real = await asyncio.to_thread(os.path.realpath, path)
    candidates = await list_outside_worktrees(store.state, project_id)
    found = next((candidate for candidate in candidates if candidate.path == real), None)
    if found is None:
        raise SpinneyError(
            f"There is no worktree at {clean_line(path)} that was created outside Spinney and "
            "belongs to this project's repository.",
            "not_found",
        )
    if found.branch is None:
        raise SpinneyError(
            f"No branch is checked out in {clean_line(path)}. Check out a branch there, then adopt "
            "the worktree.",
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
    await store.accept(lambda state: _make_adoption_events(state, adopted))
    return store.state.worktrees[adopted.id]


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
