"""Worktrees made: announced at once, created behind, undone or finished after a crash."""

import asyncio
import contextlib
import os
import time
import uuid
from collections.abc import Callable
from functools import partial
from pathlib import Path

from model.base.cancellation import SlowWork
from model.base.errors import (
    SpinneyError,
    branch_exists,
    worktree_failed,
    worktree_name_exists,
    worktree_path_exists,
)
from model.base.paths import Directories
from model.domain.events import (
    Event,
    TaskCompleted,
    WorktreeCreated,
    WorktreeCreateFailed,
    WorktreeCreating,
)
from model.domain.resources import Project, Worktree
from model.git import fetching, refs, removal, repositories
from model.git import worktrees as git_worktrees
from model.state import State
from model.store.store import Store
from model.worktrees.lookup import base_directory, folder_name, project_in
from model.worktrees.naming import (
    IssueContext,
    PullRequestContext,
    check_name,
    free_random_name,
    name_for_issue,
    name_for_pull_request,
)


async def announce(
    store: Store,
    directories: Directories,
    project_id: str,
    base_branch: str | None = None,
    name: str | None = None,
    *,
    issue: IssueContext | None = None,
    pull_request: PullRequestContext | None = None,
) -> Worktree:
    """Check what can be known at once and accept the worktree as it will be.

    Raises the interface's sentences for a taken name, path or branch.
    """
    project = project_in(store.state, project_id)
    branches = {branch.name for branch in await repositories.branches(Path(project.path))}
    if not branches:
        raise git_worktrees.no_commits_error()  # At once: scripts may miss an event.
    directory = base_directory(project, directories)
    taken = branches | {worktree.name for worktree in _of(store.state, project_id)}
    is_chosen = name is not None
    if name is None:
        name = await asyncio.to_thread(_chosen_name, directory, taken, issue, pull_request)
    check_name(name)
    if pull_request is not None:
        base_branch = refs.check_ref(pull_request.base_ref_name)
    elif base_branch is not None:
        await _check_base(store, project, base_branch)
    worktree = Worktree(
        id=str(uuid.uuid4()),
        project_id=project_id,
        name=name,
        path=str(directory / folder_name(name)),
        branch=name,
        created_at=time.time(),
        base_branch=base_branch,
        issue_number=issue.number if issue else None,
        pr_number=pull_request.number if pull_request else None,
        status="creating",
        named_by_user=is_chosen,
    )
    occupied = await asyncio.to_thread(os.path.lexists, worktree.path)
    await store.accept(lambda state: _announced(state, worktree, branches, occupied))
    return store.state.worktrees[worktree.id]


async def _check_base(store: Store, project: Project, base: str) -> None:
    """Raise for what nothing is called, unless pulling may still bring it."""
    refs.check_ref(base)
    root = Path(project.path)
    if base == project.default_branch:
        return  # Without a commit yet it is no name for git, and one can begin there all the same.
    if store.state.preferences.auto_pull_base_branch:
        names = [remote.name for remote in await repositories.remotes(root)]
        if any(base.startswith(f"{name}/") for name in names):
            return
    try:
        await repositories.resolve_base(root, base)
    except SpinneyError as error:
        if error.error_type == "not_found":
            why = f"there is no branch or commit '{base}'"
            raise SpinneyError(f"Invalid field 'baseBranch': {why}") from None
        raise


def _chosen_name(
    directory: Path,
    taken: set[str],
    issue: IssueContext | None,
    pull_request: PullRequestContext | None,
) -> str:
    if pull_request is not None:
        return name_for_pull_request(pull_request, taken)
    if issue is not None:
        return name_for_issue(issue)
    return free_random_name(taken, directory)


def _announced(state: State, worktree: Worktree, branches: set[str], occupied: bool) -> list[Event]:
    """The worktree at the end of the project's order, unless something of it is taken."""
    others = _of(state, project_in(state, worktree.project_id).id)
    if any(other.name == worktree.name for other in others):
        raise worktree_name_exists(worktree.name)
    if worktree.branch in branches:
        raise branch_exists(worktree.branch)
    if occupied or any(other.path == worktree.path for other in state.worktrees.values()):
        raise worktree_path_exists(worktree.path)
    last = max((other.order for other in others), default=0)
    placed = worktree.model_copy(update={"order": last + 1 if last else 0})
    return [WorktreeCreating(worktree=placed)]


async def create(
    store: Store,
    slow_work: SlowWork,
    worktree: Worktree,
    pull_request: PullRequestContext | None = None,
) -> bool:
    """Make an announced worktree; ends in `worktree:created` (true) or `worktree:create_error`."""
    try:
        project = project_in(store.state, worktree.project_id)
        work = _make(store, project, worktree, pull_request)
        note = await slow_work.run(worktree.id, "creation", work)
    except SpinneyError as error:
        await _tell_failure(store, worktree, error)
        return False
    await _in_turn(store, lambda state: _ready(state, worktree.id))
    if worktree.id not in store.state.worktrees:
        # The project was removed meanwhile: nobody would ever see what was made.
        with contextlib.suppress(SpinneyError):
            await _unmake(Path(project.path), worktree)
        return False
    if note is not None:
        detail = f"'{worktree.name}' starts from what was here already: {note}"
        store.record(
            TaskCompleted(task="pull_base", ok=False, detail=detail, worktree_id=worktree.id)
        )
    return True


async def recover(store: Store) -> list[Worktree]:
    """Finish or undo what was being made when Spinney was killed; gives what was finished."""
    finished = []
    for worktree in list(store.state.worktrees.values()):
        if worktree.status != "creating":
            continue
        project = store.state.projects.get(worktree.project_id)
        if project is not None and await _is_whole(Path(project.path), worktree):
            await _in_turn(store, partial(_ready, worktree_id=worktree.id))
            if worktree.id in store.state.worktrees:
                finished.append(store.state.worktrees[worktree.id])
            continue
        if project is not None:
            with contextlib.suppress(SpinneyError):
                await git_worktrees.remove_incomplete(Path(project.path), Path(worktree.path))
                await removal.delete_branch(Path(project.path), worktree.branch)
        await _tell_failure(
            store, worktree, worktree_failed("Spinney ended while it was being made")
        )
    return finished


async def _make(
    store: Store, project: Project, worktree: Worktree, pull_request: PullRequestContext | None
) -> str | None:
    """Make it; why what it starts from could not be fetched, if so."""
    root = Path(project.path)
    base = worktree.base_branch or project.default_branch
    note = None
    if pull_request is not None:
        base, note = await fetching.fetch_pull_request_head(
            root, pull_request.number, pull_request.head_ref_name
        )
    elif store.state.preferences.auto_pull_base_branch:
        note = await fetching.fetch_base(root, base)
    await git_worktrees.add_worktree(
        root, Path(worktree.path), worktree.branch, base, hooks=pull_request is None
    )
    return note


async def _unmake(root: Path, worktree: Worktree) -> None:
    path = Path(worktree.path)
    await removal.remove_worktree(root, path, path.parent)
    await removal.delete_branch(root, worktree.branch)


async def _is_whole(root: Path, worktree: Worktree) -> bool:
    try:
        listed = await git_worktrees.list_worktrees(root)
    except SpinneyError:
        return False
    path = Path(worktree.path)
    if not await asyncio.to_thread((path / ".git").exists):
        return False
    real = Path(await asyncio.to_thread(os.path.realpath, path))
    return any(entry.path == real and not entry.is_initializing for entry in listed)


async def _tell_failure(store: Store, worktree: Worktree, error: SpinneyError) -> None:
    # The sentences about taken names and paths are the interface's own; the rest is a reason.
    known = error.error_type == "conflict" or error.message.startswith("Failed to create worktree")
    told = error if known else worktree_failed(error.message)
    failed = WorktreeCreateFailed(
        id=worktree.id, project_id=worktree.project_id, error=told.message
    )
    await _in_turn(store, lambda _: [failed])


def _ready(state: State, worktree_id: str) -> list[Event]:
    worktree = state.worktrees.get(worktree_id)
    if worktree is None:
        return []
    return [WorktreeCreated(worktree=worktree.model_copy(update={"status": "ready"}))]


async def _in_turn(store: Store, change: Callable[[State], list[Event]]) -> None:
    """Tell what became of a worktree after what people ask just now: its project may go."""
    try:
        await store.accept(change)
    except SpinneyError:  # The disk is full, and git has done its work all the same.
        store.record(*change(store.state))


def _of(state: State, project_id: str) -> list[Worktree]:
    return [w for w in state.worktrees.values() if w.project_id == project_id]
