"""Worktrees renamed, ordered, put away and brought back, and the project's own directory opened."""

import asyncio
import contextlib
import os
import time
import uuid
from pathlib import Path

from model.errors import (
    SpinneyError,
    branch_exists,
    worktree_failed,
    worktree_name_exists,
    worktree_path_exists,
)
from model.events import (
    Event,
    WorktreeArchived,
    WorktreeCreated,
    WorktreeRenamed,
    WorktreeUnarchived,
    WorktreeUpdated,
)
from model.git import repositories
from model.git import worktrees as git_worktrees
from model.git.run import looks_bare
from model.resources import Worktree
from model.state import State
from model.store import Store
from model.worktrees.lookup import (
    folder_name,
    project_in,
    refuse_while_running,
    refuse_while_unsettled,
    worktree_in,
)
from model.worktrees.naming import check_name


async def rename(store: Store, worktree_id: str, new_name: str, *, in_use: bool) -> Worktree:
    """Rename a worktree and its branch, and move its folder where nothing holds on to it.

    The folder stays while something works in it (`in_use`, a session) and as long as an agent has
    a conversation there: programs such as Claude Code keep those by the directory, so that a moved
    one would have forgotten everything. A branch that a person switched to keeps its name: it may
    be anybody's.
    """
    worktree = worktree_in(store.state, worktree_id)
    refuse_while_unsettled(worktree)
    if new_name == worktree.name:
        return worktree
    check_name(new_name, "newName")
    if worktree.session_type == "base" or worktree.branch != worktree.name:
        await store.accept(lambda state: _renamed(state, worktree_id, new_name, {}))
        return store.state.worktrees[worktree_id]
    project = project_in(store.state, worktree.project_id)
    root, path = Path(project.path), Path(worktree.path)
    new_path = path.with_name(folder_name(new_name))
    _refuse_taken(store.state, worktree, new_name, new_path)
    moves = not in_use and not _is_held(store.state, worktree_id)
    moves = moves and new_path != path and await asyncio.to_thread(path.is_dir)
    if moves and await asyncio.to_thread(os.path.lexists, new_path):
        raise worktree_path_exists(str(new_path))
    changes: dict[str, object] = {"branch": new_name}
    if moves:
        changes["path"] = str(new_path)
    await _rename_in_git(root, worktree, new_name, new_path if moves else None)
    try:
        await store.accept(lambda state: _renamed(state, worktree_id, new_name, changes))
    except BaseException:
        with contextlib.suppress(SpinneyError):
            await _take_back_renaming(root, worktree, new_name, new_path if moves else None)
        raise
    return store.state.worktrees[worktree_id]


async def reorder(store: Store, project_id: str, worktree_ids: list[str]) -> None:
    """Put the project's worktrees in this order; those not named follow as they were."""

    def accepted(state: State) -> list[Event]:
        project_in(state, project_id)
        known = state.worktrees_of(project_id, archived=True)
        wanted = [worktree_in(state, key) for key in dict.fromkeys(worktree_ids)]
        for worktree in wanted:
            if worktree.project_id != project_id:
                raise SpinneyError(
                    f"Invalid field 'worktreeIds': {worktree.id} is of another project"
                )
        named = {worktree.id for worktree in wanted}
        ordered = [*wanted, *(worktree for worktree in known if worktree.id not in named)]
        return [
            WorktreeUpdated(worktree=worktree.model_copy(update={"order": place}))
            for place, worktree in enumerate(ordered)
            if worktree.order != place
        ]

    await store.accept(accepted)


async def archive(store: Store, worktree_id: str) -> None:
    """Put a worktree away; its files stay. Refused while one of its sessions works."""

    def accepted(state: State) -> list[Event]:
        worktree = worktree_in(state, worktree_id)
        refuse_while_unsettled(worktree)
        refuse_while_running(state, worktree)
        if worktree.archived_at is not None:
            return []
        put_away = worktree.model_copy(
            update={"archived_at": time.time(), "archive_when_idle": False}
        )
        return [WorktreeArchived(worktree=put_away)]

    await store.accept(accepted)


async def unarchive(store: Store, worktree_id: str) -> Worktree:
    """Bring a worktree back."""

    def accepted(state: State) -> list[Event]:
        worktree = worktree_in(state, worktree_id)
        refuse_while_unsettled(worktree)
        if worktree.archived_at is None:
            return []
        return [WorktreeUnarchived(worktree=worktree.model_copy(update={"archived_at": None}))]

    await store.accept(accepted)
    return store.state.worktrees[worktree_id]


async def recreate(store: Store, worktree_id: str) -> Worktree:
    """Check a worktree's branch out again whose directory was removed by hand."""
    worktree = worktree_in(store.state, worktree_id)
    refuse_while_unsettled(worktree)
    project = project_in(store.state, worktree.project_id)
    root, path = Path(project.path), Path(worktree.path)
    if worktree.session_type == "base":
        raise SpinneyError(
            f"The repository itself is gone: {path}. Put it back where it was.", "conflict"
        )
    if not await asyncio.to_thread(path.is_dir):
        if await repositories.branch_exists(root, worktree.branch):
            await git_worktrees.check_out(root, path, worktree.branch)
        else:
            base = worktree.base_branch or project.default_branch
            await git_worktrees.add_worktree(root, path, worktree.branch, base)
    await store.accept(
        lambda state: [
            WorktreeUpdated(
                worktree=worktree_in(state, worktree_id).model_copy(update={"status": "ready"})
            )
        ]
    )
    return store.state.worktrees[worktree_id]


async def open_base(store: Store, project_id: str) -> Worktree:
    """The project's own directory as a place for sessions; made when it is first asked for."""
    project = project_in(store.state, project_id)
    root = Path(project.path)
    if await asyncio.to_thread(looks_bare, root):
        raise worktree_failed(f"{root} is a bare repository: it has no working directory")
    branch = await repositories.current_branch(root) or project.default_branch
    new_id = str(uuid.uuid4())

    def accepted(state: State) -> list[Event]:
        known = _base_of(state, project_id)
        if known is not None:
            if known.archived_at is None:
                return []
            return [WorktreeUnarchived(worktree=known.model_copy(update={"archived_at": None}))]
        base = Worktree(
            id=new_id,
            project_id=project_in(state, project_id).id,
            name=project.name,
            path=project.path,
            branch=branch,
            created_at=time.time(),
            session_type="base",
        )
        return [WorktreeCreated(worktree=base)]

    await store.accept(accepted)
    found = _base_of(store.state, project_id)
    if found is None:
        raise worktree_failed("the project was removed meanwhile")
    return found


def _base_of(state: State, project_id: str) -> Worktree | None:
    found = state.worktrees_of(project_id, archived=True)
    return next((worktree for worktree in found if worktree.session_type == "base"), None)


def _is_held(state: State, worktree_id: str) -> bool:
    """Whether an agent works there, or has a conversation that it keeps by the directory."""
    return any(
        session.status in ("running", "waiting") or session.resume_token
        for session in state.sessions_of(worktree_id, archived=True)
    )


def _refuse_taken(state: State, worktree: Worktree, name: str, path: Path) -> None:
    for other in state.worktrees.values():
        if other.id == worktree.id:
            continue
        if other.project_id == worktree.project_id and other.name == name:
            raise worktree_name_exists(name)
        if other.path == str(path):
            raise worktree_path_exists(str(path))


def _renamed(state: State, worktree_id: str, name: str, changes: dict[str, object]) -> list[Event]:
    """The renaming, and that worktrees made from the branch know its new name."""
    worktree = worktree_in(state, worktree_id)
    refuse_while_unsettled(worktree)
    if "path" in changes and _is_held(state, worktree_id):
        raise SpinneyError(
            f"A session began to work in '{worktree.name}' meanwhile. Rename it again.", "conflict"
        )
    siblings = [w for w in state.worktrees_of(worktree.project_id, archived=True) if w != worktree]
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


async def _rename_in_git(root: Path, worktree: Worktree, name: str, path: Path | None) -> None:
    if not await repositories.branch_exists(root, worktree.branch):
        raise SpinneyError(
            f"There is no branch “{worktree.branch}” any more, so it can't be renamed.", "conflict"
        )
    if await repositories.branch_exists(root, name):
        raise branch_exists(name)
    await git_worktrees.rename_branch(root, worktree.branch, name)
    if path is not None:
        try:
            await git_worktrees.move_worktree(root, Path(worktree.path), path)
        except BaseException:
            with contextlib.suppress(SpinneyError):
                await git_worktrees.rename_branch(root, name, worktree.branch)
            raise


async def _take_back_renaming(root: Path, worktree: Worktree, name: str, path: Path | None) -> None:
    if path is not None:
        await git_worktrees.move_worktree(root, path, Path(worktree.path))
    await git_worktrees.rename_branch(root, name, worktree.branch)
