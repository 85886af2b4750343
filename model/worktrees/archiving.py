"""Reorder, archive, restore and recreate worktrees, and open the project's own directory."""

import asyncio
import time
import uuid
from pathlib import Path

from model.base.errors import SpinneyError, worktree_creation_failed
from model.base.git_layout import is_bare_repository
from model.domain.events.base import Event
from model.domain.events.worktrees import (
    WorktreeArchived,
    WorktreeCreated,
    WorktreeUnarchived,
    WorktreeUpdated,
)
from model.domain.worktrees import Worktree
from model.git import repositories
from model.git import worktrees as git_worktrees
from model.state import State
from model.store.store import Store
from model.worktrees import ports
from model.worktrees.included_files import report_problems
from model.worktrees.lookup import (
    next_order,
    refuse_while_running,
    refuse_while_unsettled,
    require_project,
    require_worktree,
)
from model.worktrees.new_files import add_files


async def reorder(store: Store, project_id: str, worktree_ids: list[str]) -> None:
    """Put the project's worktrees in this order; unlisted ones follow in their present order."""

    def make_events(state: State) -> list[Event]:
        require_project(state, project_id)
        known = state.worktrees_of(project_id, archived=True)
        requested = [require_worktree(state, key) for key in dict.fromkeys(worktree_ids)]
        for worktree in requested:
            if worktree.project_id != project_id:
                raise SpinneyError(
                    f"Invalid field 'worktreeIds': {worktree.id} belongs to another project"
                )
        listed = {worktree.id for worktree in requested}
        ordered = [*requested, *(worktree for worktree in known if worktree.id not in listed)]
        return [
            WorktreeUpdated(worktree=worktree.model_copy(update={"order": position}))
            for position, worktree in enumerate(ordered)
            if worktree.order != position
        ]

    await store.accept(make_events)


async def archive(store: Store, worktree_id: str) -> None:
    """Archive a worktree; its files stay. Refused while one of its sessions is running."""

    def make_events(state: State) -> list[Event]:
        worktree = require_worktree(state, worktree_id)
        refuse_while_unsettled(worktree)
        refuse_while_running(state, worktree)
        if worktree.archived_at is not None:
            return []
        archived = worktree.model_copy(
            update={"archived_at": time.time(), "archive_when_idle": False}
        )
        return [WorktreeArchived(worktree=archived)]

    await store.accept(make_events)


async def unarchive(store: Store, worktree_id: str) -> Worktree:
    """Restore an archived worktree."""

    def make_events(state: State) -> list[Event]:
        worktree = require_worktree(state, worktree_id)
        refuse_while_unsettled(worktree)
        if worktree.archived_at is None:
            return []
        return [WorktreeUnarchived(worktree=worktree.model_copy(update={"archived_at": None}))]

    await store.accept(make_events)
    return store.state.worktrees[worktree_id]


async def recreate(store: Store, worktree_id: str) -> Worktree:
    """Check out a worktree's branch again after its directory was removed by hand."""
    worktree = require_worktree(store.state, worktree_id)
    refuse_while_unsettled(worktree)
    project = require_project(store.state, worktree.project_id)
    root, path = Path(project.path), Path(worktree.path)
    if worktree.session_type == "base":
        raise SpinneyError(
            f"The repository itself is missing: {path}. Move it back there.", "conflict"
        )
    if not await asyncio.to_thread(path.is_dir):
        if await repositories.branch_exists(root, worktree.branch):
            await git_worktrees.check_out(root, path, worktree.branch)
        else:
            base = worktree.base_branch or project.default_branch
            await git_worktrees.add_worktree(root, path, worktree.branch, base)
        await add_files(store, worktree_id, root, path)
    await store.accept(
        lambda state: [
            WorktreeUpdated(
                worktree=require_worktree(state, worktree_id).model_copy(update={"status": "ready"})
            )
        ]
    )
    report_problems(store, worktree_id)
    return store.state.worktrees[worktree_id]


async def open_base(store: Store, project_id: str) -> Worktree:
    """Return the worktree for the project's own directory; created on first use."""
    project = require_project(store.state, project_id)
    root = Path(project.path)
    if await asyncio.to_thread(is_bare_repository, root):
        raise worktree_creation_failed(f"{root} is a bare repository: it has no working directory")
    branch = await repositories.get_current_branch(root) or project.default_branch
    new_id = str(uuid.uuid4())

    def make_events(state: State) -> list[Event]:
        known = _find_base(state, project_id)
        if known is not None:
            if known.archived_at is None:
                return []
            return [WorktreeUnarchived(worktree=known.model_copy(update={"archived_at": None}))]
        base = Worktree(
            id=new_id,
            project_id=require_project(state, project_id).id,
            name=project.name,
            path=project.path,
            branch=branch,
            created_at=time.time(),
            session_type="base",
            order=next_order(state, project_id),
        )
        return [WorktreeCreated(worktree=ports.with_port(state, base))]

    await store.accept(make_events)
    found = _find_base(store.state, project_id)
    if found is None:
        raise worktree_creation_failed("the project was removed meanwhile")
    return found


def _find_base(state: State, project_id: str) -> Worktree | None:
    found = state.worktrees_of(project_id, archived=True)
    return next((worktree for worktree in found if worktree.session_type == "base"), None)
