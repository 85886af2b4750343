"""Announce a worktree: choose its name and branch, check them, and record it as `creating`."""

import asyncio
import os
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from model.base.errors import (
    SpinneyError,
    branch_exists,
    worktree_name_exists,
    worktree_path_exists,
)
from model.base.paths import Directories
from model.domain.events.base import Event
from model.domain.events.worktrees import WorktreeCreating
from model.domain.projects import Project
from model.domain.worktrees import IssueContext, PullRequestContext, Worktree
from model.git import refs, repositories
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
from model.worktrees.location import check_location
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
    if project.worktrees_dir:
        await asyncio.to_thread(check_location, directory, Path(project.path), directories)
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
        await check_base(store, project, base_branch)
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


async def check_base(store: Store, project: Project, base: str) -> None:
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


def _worktrees_of(state: State, project_id: str) -> list[Worktree]:
    return [w for w in state.worktrees.values() if w.project_id == project_id]
