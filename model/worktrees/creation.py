"""Create announced worktrees in git, and complete or undo interrupted creations at start."""

import asyncio
import contextlib
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from model.base.cancellation import CancellableTasks
from model.base.errors import (
    SpinneyError,
    worktree_creation_failed,
    worktree_not_found,
)
from model.domain.events.base import Event
from model.domain.events.program import TaskCompleted
from model.domain.events.worktrees import WorktreeCreated, WorktreeCreateFailed
from model.domain.projects import Project
from model.domain.worktrees import PullRequestContext, Worktree
from model.git import fetching, removal
from model.git import worktrees as git_worktrees
from model.state import State
from model.store.store import Store
from model.worktrees.included_files import report_problems
from model.worktrees.lookup import (
    require_project,
)
from model.worktrees.new_files import add_files


async def create(
    store: Store,
    slow_work: CancellableTasks,
    worktree: Worktree,
    pull_request: PullRequestContext | None = None,
    *,
    branch: str | None = None,
    copy_files: bool = True,
) -> bool:
    """Create a worktree in git; publishes `worktree:created` (true) or `worktree:create_error`.

    `branch` is the existing one that was asked for, such as `origin/main`.
    With `copy_files` it gets the ignored files of the repository that `.worktreeinclude` names.
    """
    try:
        project = require_project(store.state, worktree.project_id)
        make = _create_with_files if copy_files else _create_in_git
        work = make(store, project, worktree, pull_request, branch)
        warning = await slow_work.run(worktree.id, "creation", work)
    except SpinneyError as error:
        await _report_failure(store, worktree, error)
        return False
    await _publish(store, lambda state: _make_ready_events(state, worktree.id))
    if worktree.id not in store.state.worktrees:
        # The project was removed meanwhile, so no one would see the worktree.
        with contextlib.suppress(SpinneyError):
            await _remove_from_git(Path(project.path), worktree)
        return False
    report_problems(store, worktree.id)
    if warning is not None:
        detail = f"'{worktree.name}' starts from the local commits: {warning}"
        store.record(
            TaskCompleted(task="pull_base", ok=False, detail=detail, worktree_id=worktree.id)
        )
    return True


async def wait_until_created(store: Store, worktree_id: str) -> Worktree:
    """Return the worktree once it is created. Raises `SpinneyError` if that fails."""
    reason = ""
    with store.bus.follow() as news:
        while True:
            entries, _ = await news.next()
            events = (published.event for published in entries)
            failures = (e for e in events if isinstance(e, WorktreeCreateFailed))
            reason = next((e.error for e in failures if e.id == worktree_id), reason)
            worktree = store.state.worktrees.get(worktree_id)
            if worktree is None:
                raise SpinneyError(reason or worktree_not_found(worktree_id).message, "git_error")
            if worktree.status != "creating":
                return worktree


async def recover(store: Store) -> list[Worktree]:
    """Complete or undo the creations that a kill interrupted; return the completed worktrees."""
    finished = []
    for worktree in list(store.state.worktrees.values()):
        if worktree.status != "creating" or worktree.restored_from is not None:
            continue
        project = store.state.projects.get(worktree.project_id)
        if project is not None and await _is_complete(Path(project.path), worktree):
            root, path = Path(project.path), Path(worktree.path)
            await add_files(store, worktree.id, root, path)  # What the kill left to copy.
            await _publish(store, partial(_make_ready_events, worktree_id=worktree.id))
            if worktree.id in store.state.worktrees:
                finished.append(store.state.worktrees[worktree.id])
            continue
        if project is not None:
            with contextlib.suppress(SpinneyError):
                await git_worktrees.remove_incomplete(Path(project.path), Path(worktree.path))
                if not worktree.keeps_branch:
                    await removal.delete_branch(Path(project.path), worktree.branch)
        await _report_failure(
            store, worktree, worktree_creation_failed("Spinney was stopped during its creation")
        )
    return finished


async def _create_with_files(
    store: Store,
    project: Project,
    worktree: Worktree,
    pull_request: PullRequestContext | None,
    branch: str | None,
) -> str | None:
    """Create the worktree, and copy ignored files into it; return what `_create_in_git` does."""
    warning = await _create_in_git(store, project, worktree, pull_request, branch)
    try:
        await add_files(store, worktree.id, Path(project.path), Path(worktree.path))
    except BaseException:
        with contextlib.suppress(SpinneyError):
            await _remove_from_git(Path(project.path), worktree)
        raise
    return warning


async def _create_in_git(
    store: Store,
    project: Project,
    worktree: Worktree,
    pull_request: PullRequestContext | None,
    branch: str | None,
) -> str | None:
    """Create the worktree; return why its starting point could not be fetched, if so."""
    root = Path(project.path)
    base = worktree.base_branch or project.default_branch
    warning = None
    if worktree.keeps_branch:
        await git_worktrees.check_out_existing(root, Path(worktree.path), worktree.branch, branch)
        return None
    if pull_request is not None:
        base, warning = await fetching.fetch_pull_request_head(
            root, pull_request.number, pull_request.head_ref_name
        )
    elif store.state.preferences.auto_pull_base_branch:
        warning = await fetching.fetch_base(root, base)
    await git_worktrees.add_worktree(
        root, Path(worktree.path), worktree.branch, base, hooks=pull_request is None
    )
    return warning


async def _remove_from_git(root: Path, worktree: Worktree) -> None:
    path = Path(worktree.path)
    await removal.remove_worktree(root, path, path.parent)
    if not worktree.keeps_branch:
        await removal.delete_branch(root, worktree.branch)


async def _is_complete(root: Path, worktree: Worktree) -> bool:
    try:
        listed = await git_worktrees.list_worktrees(root)
    except SpinneyError:
        return False
    path = Path(worktree.path)
    if not await asyncio.to_thread((path / ".git").exists):
        return False
    real = Path(await asyncio.to_thread(os.path.realpath, path))
    return any(entry.path == real and not entry.is_initializing for entry in listed)


async def _report_failure(store: Store, worktree: Worktree, error: SpinneyError) -> None:
    # The interface defines the messages for taken names and paths; others become the reason.
    has_full_message = error.error_type == "conflict" or error.message.startswith(
        "Failed to create worktree"
    )
    reported = error if has_full_message else worktree_creation_failed(error.message)
    failed = WorktreeCreateFailed(
        id=worktree.id, project_id=worktree.project_id, error=reported.message
    )
    await _publish(store, lambda _: [failed])


def _make_ready_events(state: State, worktree_id: str) -> list[Event]:
    worktree = state.worktrees.get(worktree_id)
    if worktree is None:
        return []
    return [WorktreeCreated(worktree=worktree.model_copy(update={"status": "ready"}))]


async def _publish(store: Store, make_events: Callable[[State], list[Event]]) -> None:
    """Publish the outcome once pending commands are done; the project may have been removed."""
    try:
        await store.accept(make_events)
    except SpinneyError:  # The disk is full, but git has done its work.
        store.record(*make_events(store.state))
