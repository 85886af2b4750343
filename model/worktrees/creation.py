"""Create worktrees in the background, and complete or undo interrupted creations at start."""

import asyncio
import contextlib
import os
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from model.base.cancellation import CancellableTasks
from model.base.errors import (
    SpinneyError,
    branch_exists,
    worktree_creation_failed,
    worktree_name_exists,
    worktree_not_found,
    worktree_path_exists,
)
from model.base.paths import Directories
from model.domain.events.base import Event
from model.domain.events.program import TaskCompleted
from model.domain.events.worktrees import WorktreeCreated, WorktreeCreateFailed, WorktreeCreating
from model.domain.projects import Project
from model.domain.worktrees import IssueContext, PullRequestContext, Worktree
from model.git import fetching, refs, removal, repositories
from model.git import worktrees as git_worktrees
from model.state import State
from model.store.store import Change, Store
from model.worktrees import ports
from model.worktrees.branch_names import (
    SLUG,
    fill_template,
    find_branch_in_the_way,
    name_branch,
    taken_names,
)
from model.worktrees.included_files import copy_included, report_problems
from model.worktrees.lookup import (
    next_order,
    require_project,
    to_folder_name,
    worktrees_directory,
)
from model.worktrees.naming import (
    NAME_LIMIT,
    check_name,
    make_free_name,
    make_random_name,
    make_unique_name,
    name_for_issue,
    name_for_pull_request,
)

Begin = Callable[[Worktree], Awaitable[Sequence[Change]]]
"""Returns what is accepted together with a new worktree, such as its first session."""


@dataclass(frozen=True, slots=True)
class WorkOrigin:
    """What a worktree is created from by `start_work`."""

    item: str
    """Its kind and id, as in `Worktree.started_from`."""
    suggested_name: str
    """A valid name, which may be taken."""


async def announce(
    store: Store,
    directories: Directories,
    project_id: str,
    base_branch: str | None = None,
    name: str | None = None,
    *,
    branch: str | None = None,
    issue: IssueContext | None = None,
    pull_request: PullRequestContext | None = None,
    origin: WorkOrigin | None = None,
    begin: Begin | None = None,
) -> Worktree:
    """Check everything that can be checked quickly, and record the worktree as `creating`.

    With `branch` it checks out that existing one. With `origin` its name is made unique. What
    `begin` returns is accepted together with the worktree, or neither is. With `origin` or `begin`
    the first messages of its sessions are held until it is ready. Raises the errors of the
    interface for a name, path or branch that already exists.
    """
    project = require_project(store.state, project_id)
    branches = {branch.name for branch in await repositories.list_branches(Path(project.path))}
    if not branches:
        raise git_worktrees.no_commits_error()  # Immediately: scripts may miss an event.
    directory = worktrees_directory(project, directories)
    pattern = await _choose_pattern(store.state, project, branch, pull_request)
    taken = taken_names(pattern, branches)
    taken |= {worktree.name for worktree in _worktrees_of(store.state, project_id)}
    is_chosen = name is not None or branch is not None
    if branch is not None:
        branch = await _find_existing_branch(project, branch, branches)
        name = name or _name_for_branch(branch, store.state, project_id)
    if name is None:
        name = await asyncio.to_thread(
            _generate_name, directory, taken, issue, pull_request, origin
        )
    check_name(name)
    if pull_request is not None:
        base_branch = refs.check_ref(pull_request.base_ref_name)
    elif base_branch is not None:
        await _check_base(store, project, base_branch)
    worktree = Worktree(
        id=str(uuid.uuid4()),
        project_id=project_id,
        name=name,
        path=str(directory / to_folder_name(name)),
        branch=branch or name_branch(pattern, name),
        branch_pattern=pattern,
        created_at=time.time(),
        base_branch=base_branch,
        issue_number=issue.number if issue else None,
        pr_number=pull_request.number if pull_request else None,
        started_from=origin.item if origin else None,
        setup_hold="running" if origin or begin else None,
        status="creating",
        named_by_user=is_chosen,
        keeps_branch=branch is not None,
    )
    worktree, is_occupied = await asyncio.to_thread(_look_around, store.state, worktree)
    more = await begin(worktree) if begin else ()
    await store.accept(
        lambda state: _make_announcement_events(state, worktree, branches, is_occupied), *more
    )
    return store.state.worktrees[worktree.id]


def _look_around(state: State, worktree: Worktree) -> tuple[Worktree, bool]:
    """Return the worktree with free ports, and whether something is at its path already."""
    return ports.with_port(state, worktree), os.path.lexists(worktree.path)


async def _choose_pattern(
    state: State, project: Project, branch: str | None, pull_request: PullRequestContext | None
) -> str | None:
    """Return what the new branch is named by; `None` if it is named like the worktree."""
    template = project.branch_template or state.preferences.branch_template
    # The branch of a pull request has the name of its head, so that pushes update it.
    if template == SLUG or branch is not None or pull_request is not None:
        return None
    return await fill_template(template, project)


async def _check_base(store: Store, project: Project, base: str) -> None:
    """Raise if `base` does not exist, unless it is a remote branch that can still be fetched."""
    refs.check_ref(base)
    root = Path(project.path)
    if base == project.default_branch:
        return  # Without commits git does not know the name, but a worktree can start there.
    if store.state.preferences.auto_pull_base_branch:
        names = [remote.name for remote in await repositories.list_remotes(root)]
        if any(base.startswith(f"{name}/") for name in names):
            return
    try:
        await repositories.resolve_base(root, base)
    except SpinneyError as error:
        if error.error_type == "not_found":
            why = f"there is no branch or commit '{base}'"
            raise SpinneyError(f"Invalid field 'baseBranch': {why}") from None
        raise


async def _find_existing_branch(project: Project, branch: str, branches: set[str]) -> str:
    """The local name of an existing branch that is not checked out anywhere."""
    refs.check_ref(branch)
    root = Path(project.path)
    remotes = [f"{remote.name}/" for remote in await repositories.list_remotes(root)]
    remote = next((prefix for prefix in remotes if branch.startswith(prefix)), "")
    if branch not in branches:
        raise SpinneyError(f"Invalid field 'branch': there is no branch '{branch}'")
    local = branch.removeprefix(remote)
    for listed in await git_worktrees.list_worktrees(root):
        if listed.branch == local:
            raise SpinneyError(
                f"The branch '{local}' is checked out in {listed.path}. Work there, or start a new "
                "branch from it.",
                "conflict",
            )
    return local


def _name_for_branch(branch: str, state: State, project_id: str) -> str:
    """The branch's own name, or with a number if another worktree has it or it is too long."""
    taken = {worktree.name for worktree in _worktrees_of(state, project_id)}
    return make_unique_name(branch[:NAME_LIMIT].rstrip("./-"), taken)


def _generate_name(
    directory: Path,
    taken: set[str],
    issue: IssueContext | None,
    pull_request: PullRequestContext | None,
    origin: WorkOrigin | None,
) -> str:
    if origin is not None:
        return make_free_name(origin.suggested_name, taken, directory)
    if pull_request is not None:
        return name_for_pull_request(pull_request, taken)
    if issue is not None:
        return name_for_issue(issue)
    return make_random_name(taken, directory)


def _make_announcement_events(
    state: State, worktree: Worktree, branches: set[str], is_occupied: bool
) -> list[Event]:
    """Return the event that adds the worktree at the end. Raises if name or path is taken."""
    others = _worktrees_of(state, require_project(state, worktree.project_id).id)
    if any(other.name == worktree.name for other in others):
        raise worktree_name_exists(worktree.name)
    if worktree.branch in branches and not worktree.keeps_branch:
        raise branch_exists(worktree.branch)
    obstacle = find_branch_in_the_way(worktree.branch, branches)
    if obstacle is not None and not worktree.keeps_branch:
        raise SpinneyError(
            f"The branch '{worktree.branch}' cannot exist beside the branch '{obstacle}'. Choose "
            "another name.",
            "conflict",
        )
    if is_occupied or any(other.path == worktree.path for other in state.worktrees.values()):
        raise worktree_path_exists(worktree.path)
    order = next_order(state, worktree.project_id)
    placed = ports.with_port(state, worktree).model_copy(update={"order": order})
    return [WorktreeCreating(worktree=placed)]


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
    changed = asyncio.Event()
    stop_listening = store.bus.listen(changed.set)
    reader = store.bus.reader()
    reason = ""
    try:
        while True:
            events = (published.event for published in reader.take()[0])
            failures = (e for e in events if isinstance(e, WorktreeCreateFailed))
            reason = next((e.error for e in failures if e.id == worktree_id), reason)
            worktree = store.state.worktrees.get(worktree_id)
            if worktree is None:
                raise SpinneyError(reason or worktree_not_found(worktree_id).message, "git_error")
            if worktree.status != "creating":
                return worktree
            await changed.wait()
            changed.clear()
    finally:
        stop_listening()
        reader.close()


async def recover(store: Store) -> list[Worktree]:
    """Complete or undo the creations that a kill interrupted; return the completed worktrees."""
    finished = []
    for worktree in list(store.state.worktrees.values()):
        if worktree.status != "creating" or worktree.restored_from is not None:
            continue
        project = store.state.projects.get(worktree.project_id)
        if project is not None and await _is_complete(Path(project.path), worktree):
            root, path = Path(project.path), Path(worktree.path)
            await copy_included(store, worktree.id, root, path)  # What the kill left to copy.
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
        await copy_included(store, worktree.id, Path(project.path), Path(worktree.path))
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
    await removal.remove_worktree(root, path, path.parent, force=True)
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


def _worktrees_of(state: State, project_id: str) -> list[Worktree]:
    return [w for w in state.worktrees.values() if w.project_id == project_id]
