"""A worktree's life: made in the background, put away, brought back, removed for good."""

import asyncio
import re
import time
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path

from model.errors import (
    SpinneyError,
    branch_exists,
    project_not_found,
    worktree_name_exists,
    worktree_not_found,
    worktree_path_exists,
)
from model.events import (
    Event,
    WorktreeArchived,
    WorktreeCreated,
    WorktreeCreateFailed,
    WorktreeCreating,
    WorktreeDeleted,
    WorktreeUnarchived,
)
from model.git import refs, removal, repositories
from model.git import worktrees as git_worktrees
from model.git.words import random_name
from model.paths import Directories
from model.resources import Project, Worktree
from model.state import State
from model.store import Store

NAME_LIMIT = 100
"""Characters of a worktree's name; it is also a folder's."""


def project_in(state: State, project_id: str) -> Project:
    """The project (not a folder) of this id. Raises `not_found`."""
    project = state.projects.get(project_id)
    if project is None or project.is_folder:
        raise project_not_found(project_id)
    return project


def worktree_in(state: State, worktree_id: str) -> Worktree:
    """The worktree of this id. Raises `not_found`."""
    worktree = state.worktrees.get(worktree_id)
    if worktree is None:
        raise worktree_not_found(worktree_id)
    return worktree


def base_directory(project: Project, directories: Directories) -> Path:
    """Where the project's worktrees go."""
    if project.worktrees_dir:
        return Path(project.worktrees_dir).expanduser()
    return directories.worktrees_home / _folder_name(project.name)


async def announce(
    store: Store,
    directories: Directories,
    project_id: str,
    base_branch: str | None = None,
    name: str | None = None,
) -> Worktree:
    """Check what can be known at once and accept the worktree as it will be.

    Raises the interface's sentences for a taken name, path or branch.
    """
    project = project_in(store.state, project_id)
    branches = {branch.name for branch in await repositories.branches(Path(project.path))}
    if name is not None:
        _check_name(name)
    taken = {w.name for w in store.state.worktrees.values() if w.project_id == project_id}
    name = name or random_name(taken | branches)
    if base_branch is not None:
        refs.check_ref(base_branch)
    path = base_directory(project, directories) / _folder_name(name)
    occupied = await asyncio.to_thread(path.exists)
    worktree = Worktree(
        id=str(uuid.uuid4()),
        project_id=project_id,
        name=name,
        path=str(path),
        branch=name,
        created_at=time.time(),
        base_branch=base_branch,
        status="creating",
    )

    def accepted(state: State) -> list[Event]:
        others = [w for w in state.worktrees.values() if w.project_id == project_id]
        if any(other.name == name for other in others):
            raise worktree_name_exists(name)
        if name in branches:
            raise branch_exists(name)
        if occupied or any(other.path == worktree.path for other in others):
            raise worktree_path_exists(worktree.path)
        return [WorktreeCreating(worktree=worktree)]

    await store.accept(accepted)
    return worktree


async def create(store: Store, worktree: Worktree) -> None:
    """Make an announced worktree; ends in `worktree:created` or `worktree:create_error`."""
    project = project_in(store.state, worktree.project_id)
    base = worktree.base_branch or project.default_branch
    try:
        await git_worktrees.add_worktree(
            Path(project.path), Path(worktree.path), worktree.branch, base
        )
    except SpinneyError as error:
        store.record(
            WorktreeCreateFailed(
                id=worktree.id, project_id=worktree.project_id, error=error.message
            )
        )
        return
    store.record(WorktreeCreated(worktree=worktree.model_copy(update={"status": "ready"})))


async def recover(store: Store) -> None:
    """Finish or undo what was being made when Spinney was killed."""
    for worktree in list(store.state.worktrees.values()):
        if worktree.status != "creating":
            continue
        project = store.state.projects.get(worktree.project_id)
        made = project is not None and await _is_listed(project, worktree)
        if made:
            ready = worktree.model_copy(update={"status": "ready"})
            store.record(WorktreeCreated(worktree=ready))
        else:
            error = "Failed to create worktree: Spinney ended while it was being made"
            store.record(
                WorktreeCreateFailed(id=worktree.id, project_id=worktree.project_id, error=error)
            )


async def _is_listed(project: Project, worktree: Worktree) -> bool:
    try:
        listed = await git_worktrees.list_worktrees(Path(project.path))
    except SpinneyError:
        return False
    path = Path(worktree.path)
    complete = await asyncio.to_thread((path / ".git").exists)
    return complete and any(str(entry.path) == worktree.path for entry in listed)


async def archive(store: Store, worktree_id: str) -> None:
    """Put a worktree away; its files stay. Refused while one of its sessions works."""

    def accepted(state: State) -> list[Event]:
        worktree = worktree_in(state, worktree_id)
        refuse_while_running(state, worktree)
        if worktree.archived_at is not None:
            return []
        put_away = worktree.model_copy(update={"archived_at": time.time()})
        return [WorktreeArchived(worktree=put_away)]

    await store.accept(accepted)


async def unarchive(store: Store, worktree_id: str) -> Worktree:
    """Bring a worktree back."""

    def accepted(state: State) -> list[Event]:
        worktree = worktree_in(state, worktree_id)
        return [WorktreeUnarchived(worktree=worktree.model_copy(update={"archived_at": None}))]

    await store.accept(accepted)
    return store.state.worktrees[worktree_id]


async def remove(
    store: Store,
    directories: Directories,
    worktree_id: str,
    end_session: Callable[[str], Awaitable[None]],
    *,
    force: bool,
) -> None:
    """Remove directory, branch and sessions. Refused where work would be lost, unless forced."""
    worktree = worktree_in(store.state, worktree_id)
    refuse_while_running(store.state, worktree)
    project = project_in(store.state, worktree.project_id)
    if worktree.session_type == "worktree":
        await removal.remove_worktree(
            Path(project.path),
            Path(worktree.path),
            base_directory(project, directories),
            force=force,
        )
        await removal.delete_branch(Path(project.path), worktree.branch, force=force)
    for session in store.state.sessions_of(worktree_id, archived=True):
        await end_session(session.id)
    await store.accept(WorktreeDeleted(worktree_id=worktree_id, project_id=worktree.project_id))


def refuse_while_running(state: State, worktree: Worktree) -> None:
    """Raise `conflict` while a session of the worktree works or waits."""
    for session in state.sessions_of(worktree.id):
        if session.status in ("running", "waiting"):
            raise SpinneyError(
                f"The session '{session.name}' is still at work in '{worktree.name}'."
                " Stop it first.",
                "conflict",
            )


def _check_name(name: str) -> None:
    if len(name) > NAME_LIMIT:
        raise SpinneyError(f"Invalid field 'customName': longer than {NAME_LIMIT} characters")
    refs.check_branch_name(name)


def _folder_name(name: str) -> str:
    return re.sub(r"[^\w.\-]+", "-", name).strip("-.") or "project"
