"""Worktrees renamed, with branch and folder, while sessions run in them.

The new name is noted in the worktree before git is asked, so that the next start can tell what a
kill interrupted: it finishes what git has done, and forgets what it has not.
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
from model.domain.events import Event, WorktreeRenamed, WorktreeUpdated
from model.domain.resources import Worktree
from model.git import repositories
from model.git import worktrees as git_worktrees
from model.state import State
from model.store.store import Store
from model.worktrees.lookup import (
    folder_name,
    project_in,
    refuse_while_archived,
    refuse_while_unsettled,
    worktree_in,
)
from model.worktrees.naming import check_name


@dataclass(frozen=True, slots=True)
class _Renaming:
    """What git does for a new name."""

    root: Path
    branch: str
    new_branch: str
    path: Path
    new_path: Path
    """The same where the folder stays."""


async def rename(store: Store, worktree_id: str, new_name: str, *, in_use: bool) -> Worktree:
    """Rename a worktree and its branch, and move its folder where nothing holds on to it.

    The folder stays while something works in it (`in_use`, a session) and as long as an agent has
    a conversation there: programs such as Claude Code keep those by the directory, so that a moved
    one would have forgotten everything. A branch that a person switched to keeps its name: it may
    be anybody's. So do branch and folder of a worktree that was adopted.
    """
    worktree = worktree_in(store.state, worktree_id)
    refuse_while_archived(worktree)
    refuse_while_unsettled(worktree)
    if new_name == worktree.name:
        return worktree
    check_name(new_name, "newName")
    theirs = worktree.adopted or worktree.branch != worktree.name
    if worktree.session_type == "base" or theirs:
        await store.accept(lambda state: _renamed(state, worktree_id, new_name, {}))
        return store.state.worktrees[worktree_id]
    path = Path(worktree.path)
    new_path = path.with_name(folder_name(new_name))
    stays = in_use or _is_held(store.state, worktree_id) or not await asyncio.to_thread(path.is_dir)
    await store.accept(lambda state: _begun(state, worktree_id, new_name, new_path))
    root = Path(project_in(store.state, worktree.project_id).path)
    renaming = _Renaming(root, worktree.branch, new_name, path, path if stays else new_path)
    try:
        await _rename_in_git(renaming)
        try:
            changes = {"branch": new_name, "path": str(renaming.new_path)}
            await store.accept(lambda state: _renamed(state, worktree_id, new_name, changes))
        except BaseException:
            with contextlib.suppress(SpinneyError):
                await _take_back(renaming)
            raise
    except BaseException:
        await _give_up(store, worktree_id)
        raise
    return store.state.worktrees[worktree_id]


async def recover(store: Store) -> None:
    """Finish or forget the renamings that a kill interrupted. Called once, at start."""
    for worktree in list(store.state.worktrees.values()):
        name = worktree.renaming_to
        if name is None:
            continue
        try:
            changes = await _done_by_git(store.state, worktree, name)
            if changes is not None:
                done = partial(_renamed, worktree_id=worktree.id, name=name, changes=changes)
                await store.accept(done)
                continue
        except SpinneyError:
            pass  # Nobody can say; the poller sees what stands there.
        await _give_up(store, worktree.id)


async def _done_by_git(state: State, worktree: Worktree, name: str) -> dict[str, str] | None:
    """Branch and path by now, if git had renamed the branch already."""
    root, path = Path(project_in(state, worktree.project_id).path), Path(worktree.path)
    if not await repositories.branch_exists(root, name):
        return None
    if await repositories.branch_exists(root, worktree.branch):
        return None
    listed = {entry.path for entry in await git_worktrees.list_worktrees(root)}
    new_path = path.with_name(folder_name(name))
    moved = Path(await asyncio.to_thread(os.path.realpath, new_path)) in listed
    return {"branch": name, "path": str(new_path if moved else path)}


def _is_held(state: State, worktree_id: str) -> bool:
    """Whether an agent works there, or has a conversation that it keeps by the directory."""
    return any(
        session.is_active
        or session.resume_token
        or any(memory.resume_token for memory in session.memories.values())
        for session in state.sessions_of(worktree_id, archived=True)
    )


def _begun(state: State, worktree_id: str, name: str, path: Path) -> list[Event]:
    """The note of the new name, unless that or its folder is taken."""
    worktree = worktree_in(state, worktree_id)
    refuse_while_unsettled(worktree)
    for other in state.worktrees.values():
        if other.id == worktree.id:
            continue
        if other.project_id == worktree.project_id and other.name == name:
            raise worktree_name_exists(name)
        if other.path == str(path):
            raise worktree_path_exists(str(path))
    return [WorktreeUpdated(worktree=worktree.model_copy(update={"renaming_to": name}))]


def _renamed(state: State, worktree_id: str, name: str, changes: dict[str, str]) -> list[Event]:
    """The renaming, and that worktrees made from the branch know its new name."""
    worktree = worktree_in(state, worktree_id).model_copy(update={"renaming_to": None})
    refuse_while_unsettled(worktree)
    if changes.get("path", worktree.path) != worktree.path and _is_held(state, worktree_id):
        raise SpinneyError(
            f"A session began to work in '{worktree.name}' meanwhile. Rename it again.", "conflict"
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


async def _give_up(store: Store, worktree_id: str) -> None:
    def forgotten(state: State) -> list[Event]:
        worktree = state.worktrees.get(worktree_id)
        if worktree is None or worktree.renaming_to is None:
            return []
        return [WorktreeUpdated(worktree=worktree.model_copy(update={"renaming_to": None}))]

    try:
        await store.accept(forgotten)
    except SpinneyError:  # The disk is full; nothing may be noted as under way for all that.
        store.record(*forgotten(store.state))


async def _rename_in_git(renaming: _Renaming) -> None:
    root, branch, name = renaming.root, renaming.branch, renaming.new_branch
    moves = renaming.new_path != renaming.path
    if moves and await git_worktrees.path_exists(renaming.new_path):
        raise worktree_path_exists(str(renaming.new_path))
    if not await repositories.branch_exists(root, branch):
        raise SpinneyError(
            f"There is no branch “{branch}” any more, so it can't be renamed.", "conflict"
        )
    if await repositories.branch_exists(root, name):
        raise branch_exists(name)
    await git_worktrees.rename_branch(root, branch, name)
    if moves:
        try:
            await git_worktrees.move_worktree(root, renaming.path, renaming.new_path)
        except BaseException:
            with contextlib.suppress(SpinneyError):
                await git_worktrees.rename_branch(root, name, branch)
            raise


async def _take_back(renaming: _Renaming) -> None:
    if renaming.new_path != renaming.path:
        await git_worktrees.move_worktree(renaming.root, renaming.new_path, renaming.path)
    await git_worktrees.rename_branch(renaming.root, renaming.new_branch, renaming.branch)
