"""Rename worktrees with their branch and folder while sessions run in them.

The new name is saved in the worktree before git runs, so that the next start can recover an
interrupted renaming: it completes what git has done, and drops what it has not.
"""

import asyncio
import contextlib
import os
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from model.base.errors import (
    SpinneyError,
    branch_exists,
    worktree_name_exists,
    worktree_path_exists,
)
from model.domain.events.base import Event
from model.domain.events.worktrees import WorktreeRenamed, WorktreeUpdated
from model.domain.worktrees import Worktree
from model.git import repositories
from model.git import worktrees as git_worktrees
from model.git.submodules import has_filled_submodules
from model.state import State
from model.store.store import Store
from model.worktrees.branch_names import has_own_branch, name_branch
from model.worktrees.lookup import (
    refuse_while_archived,
    refuse_while_unsettled,
    require_project,
    require_worktree,
    to_folder_name,
)
from model.worktrees.naming import check_name


@dataclass(frozen=True, slots=True)
class _Renaming:
    """The changes in git for a new name."""

    root: Path
    branch: str
    new_branch: str
    path: Path
    new_path: Path
    """The same as `path` if the folder is not moved."""


async def rename(store: Store, worktree_id: str, new_name: str, *, in_use: bool) -> Worktree:
    """Rename a worktree and its branch, and move its folder if nothing depends on the path.

    The folder is not moved while a session works in it (`in_use`), nor if an agent has a
    conversation there: programs such as Claude Code store conversations by directory and would lose
    them. Nor is one with submodules, which git does not move. A branch that the user switched to is
    not renamed, since others may use it; neither is one that existed before, nor are branch and
    folder of an adopted worktree.
    """
    worktree = require_worktree(store.state, worktree_id)
    refuse_while_archived(worktree)
    refuse_while_unsettled(worktree)
    if new_name == worktree.name:
        return worktree
    check_name(new_name, "newName")
    is_external = worktree.adopted or worktree.keeps_branch or not has_own_branch(worktree)
    if worktree.session_type == "base" or is_external:
        await store.accept(lambda state: _make_rename_events(state, worktree_id, new_name, {}))
        return store.state.worktrees[worktree_id]
    path = Path(worktree.path)
    new_path = path.with_name(to_folder_name(new_name))
    keeps_path = (
        in_use
        or _is_path_pinned(store.state, worktree_id)
        or not await asyncio.to_thread(path.is_dir)
        or await asyncio.to_thread(has_filled_submodules, path)
    )
    await store.accept(lambda state: _make_begin_events(state, worktree_id, new_name, new_path))
    root = Path(require_project(store.state, worktree.project_id).path)
    new_branch = name_branch(worktree.branch_pattern, new_name)
    renaming = _Renaming(root, worktree.branch, new_branch, path, path if keeps_path else new_path)
    try:
        await _rename_in_git(renaming)
        try:
            changes = {"branch": new_branch, "path": str(renaming.new_path)}
            await store.accept(
                lambda state: _make_rename_events(state, worktree_id, new_name, changes)
            )
        except BaseException:
            with contextlib.suppress(SpinneyError):
                await _roll_back(renaming)
            raise
    except BaseException:
        await _clear_renaming(store, worktree_id)
        raise
    return store.state.worktrees[worktree_id]


async def recover(store: Store) -> None:
    """Complete or drop the renamings that a kill interrupted. Called once, at start."""
    for worktree in list(store.state.worktrees.values()):
        name = worktree.renaming_to
        if name is None:
            continue
        try:
            changes = await _find_completed_changes(store.state, worktree, name)
            if changes is not None:
                make_events = partial(
                    _make_rename_events, worktree_id=worktree.id, name=name, changes=changes
                )
                await store.accept(make_events)
                continue
        except SpinneyError:
            pass  # The state is unknown; the poller reads the actual one.
        await _clear_renaming(store, worktree.id)


async def _find_completed_changes(
    state: State, worktree: Worktree, name: str
) -> dict[str, str] | None:
    """Return the new branch and path if git has already renamed the branch, else `None`."""
    root, path = Path(require_project(state, worktree.project_id).path), Path(worktree.path)
    branch = name_branch(worktree.branch_pattern, name)
    if not await repositories.branch_exists(root, branch):
        return None
    if await repositories.branch_exists(root, worktree.branch):
        return None
    listed = {entry.path for entry in await git_worktrees.list_worktrees(root)}
    new_path = path.with_name(to_folder_name(name))
    is_moved = Path(await asyncio.to_thread(os.path.realpath, new_path)) in listed
    return {"branch": branch, "path": str(new_path if is_moved else path)}


def _is_path_pinned(state: State, worktree_id: str) -> bool:
    """Whether an agent is running there, or has a conversation stored by directory."""
    return any(
        session.is_active
        or session.resume_token
        or any(memory.resume_token for memory in session.memories.values())
        for session in state.sessions_of(worktree_id, archived=True)
    )


def _make_begin_events(state: State, worktree_id: str, name: str, path: Path) -> list[Event]:
    """Return the event that saves the new name. Raises if the name or its folder is taken."""
    worktree = require_worktree(state, worktree_id)
    refuse_while_unsettled(worktree)
    for other in state.worktrees.values():
        if other.id == worktree.id:
            continue
        if other.project_id == worktree.project_id and other.name == name:
            raise worktree_name_exists(name)
        if other.path == str(path):
            raise worktree_path_exists(str(path))
    return [WorktreeUpdated(worktree=worktree.model_copy(update={"renaming_to": name}))]


def _make_rename_events(
    state: State, worktree_id: str, name: str, changes: dict[str, str]
) -> list[Event]:
    """Return the rename event, and updates of worktrees that are based on the branch."""
    worktree = require_worktree(state, worktree_id).model_copy(update={"renaming_to": None})
    refuse_while_unsettled(worktree)
    if changes.get("path", worktree.path) != worktree.path and _is_path_pinned(state, worktree_id):
        raise SpinneyError(
            f"A session started in '{worktree.name}' meanwhile. Rename it again.", "conflict"
        )
    known = state.worktrees_of(worktree.project_id, archived=True)
    siblings = [other for other in known if other.id != worktree_id]
    if any(other.name == name for other in siblings):
        raise worktree_name_exists(name)
    renamed = worktree.model_copy(update={**changes, "name": name})
    return [
        WorktreeRenamed(worktree=renamed),
        *(
            WorktreeUpdated(worktree=other.model_copy(update={"base_branch": renamed.branch}))
            for other in siblings
            if other.base_branch == worktree.branch != renamed.branch
        ),
    ]


async def _clear_renaming(store: Store, worktree_id: str) -> None:
    def make_events(state: State) -> list[Event]:
        worktree = state.worktrees.get(worktree_id)
        if worktree is None or worktree.renaming_to is None:
            return []
        return [WorktreeUpdated(worktree=worktree.model_copy(update={"renaming_to": None}))]

    try:
        await store.accept(make_events)
    except SpinneyError:  # The disk is full, but the renaming must not appear to be in progress.
        store.record(*make_events(store.state))


async def _rename_in_git(renaming: _Renaming) -> None:
    root, branch, name = renaming.root, renaming.branch, renaming.new_branch
    is_moving = renaming.new_path != renaming.path
    if is_moving and await git_worktrees.path_exists(renaming.new_path):
        raise worktree_path_exists(str(renaming.new_path))
    if not await repositories.branch_exists(root, branch):
        raise SpinneyError(
            f"The branch '{branch}' no longer exists, so it cannot be renamed.", "conflict"
        )
    if await repositories.branch_exists(root, name):
        raise branch_exists(name)
    await git_worktrees.rename_branch(root, branch, name)
    if is_moving:
        try:
            await git_worktrees.move_worktree(root, renaming.path, renaming.new_path)
        except BaseException:
            with contextlib.suppress(SpinneyError):
                await git_worktrees.rename_branch(root, name, branch)
            raise


async def _roll_back(renaming: _Renaming) -> None:
    if renaming.new_path != renaming.path:
        await git_worktrees.move_worktree(renaming.root, renaming.new_path, renaming.path)
    await git_worktrees.rename_branch(renaming.root, renaming.new_branch, renaming.branch)
