"""Worktrees that were made outside Spinney: found, and taken up as they are.

Their folder and branch stay a person's own: they are not moved, renamed or deleted, and no script
of the repository is run for having taken them up or for letting them go.
"""

import asyncio
import os
import time
import uuid
from pathlib import Path

from model.base.errors import SpinneyError, worktree_path_exists
from model.base.text import clean_line
from model.domain.events import Event, WorktreeCreated
from model.domain.resources import Resource, Worktree
from model.git import worktrees as git_worktrees
from model.state import State
from model.store.store import Store
from model.worktrees.lookup import project_in
from model.worktrees.naming import free_name


class OutsideWorktree(Resource):
    """A worktree of a project's repository that Spinney has not made and does not show."""

    path: str
    branch: str | None
    """Null where no branch is checked out: such a one cannot be adopted."""


async def outside(state: State, project_id: str) -> list[OutsideWorktree]:
    """Those of the project's repository whose folder is there."""
    root = Path(project_in(state, project_id).path)
    listed = await git_worktrees.list_worktrees(root)
    known = await asyncio.to_thread(_known, state)
    return [
        OutsideWorktree(path=str(entry.path), branch=entry.branch)
        for entry in listed
        if not (entry.is_main or entry.is_bare or entry.is_initializing or str(entry.path) in known)
        and await asyncio.to_thread(entry.path.is_dir)
    ]


async def adopt(store: Store, project_id: str, path: str) -> Worktree:
    """Show a worktree that was made outside, with its folder and branch as they are."""
    real = await asyncio.to_thread(os.path.realpath, path)
    offered = await outside(store.state, project_id)
    found = next((one for one in offered if one.path == real), None)
    if found is None:
        raise SpinneyError(
            f"There is no worktree at {clean_line(path)} that was made outside Spinney and is of "
            "this project's repository.",
            "not_found",
        )
    if found.branch is None:
        raise SpinneyError(
            f"No branch is checked out in {clean_line(path)}. Check one out there, then adopt it.",
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
    await store.accept(lambda state: _accepted(state, adopted))
    return store.state.worktrees[adopted.id]


def _accepted(state: State, adopted: Worktree) -> list[Event]:
    others = state.worktrees_of(project_in(state, adopted.project_id).id, archived=True)
    if any(other.path == adopted.path for other in state.worktrees.values()):
        raise worktree_path_exists(adopted.path)
    name = free_name(adopted.name, {other.name for other in others})
    last = max((other.order for other in others), default=0)
    order = last + 1 if last else 0
    return [WorktreeCreated(worktree=adopted.model_copy(update={"name": name, "order": order}))]


def _known(state: State) -> set[str]:
    places = [worktree.path for worktree in state.worktrees.values()]
    places += [project.path for project in state.projects.values()]
    return {os.path.realpath(place) for place in places if place}
