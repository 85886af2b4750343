"""Implements `model.api.git`."""

import asyncio
import logging
import os
from collections.abc import Collection, Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from model.api import git as api
from model.base.errors import SpinneyError, project_directory_missing, worktree_not_found
from model.commands.registry import implements
from model.commands.secrets import open_gate
from model.domain.events.program import TaskCompleted
from model.domain.projects import Project
from model.domain.worktrees import Worktree
from model.git import commit, diff, merging, remotes, repositories, status, updating
from model.git.hosts import list_hosting_remotes
from model.git.secret_gate import make_gate
from model.git.snapshots import traces
from model.git.snapshots.chain import SnapshotNote, take_snapshot
from model.hosting.forges import find_forge
from model.worktrees import require_project, require_worktree

_log = logging.getLogger(__name__)

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace


@implements(api.fetch_worktrees_status)
async def fetch_worktrees_status(workspace: "Workspace", project_id: str) -> None:
    project = require_project(workspace.store.state, project_id)
    worktrees = workspace.store.state.worktrees_of(project_id)
    for worktree in worktrees:
        if worktree.pr_number is not None:
            workspace.poller.refresh_hosting(worktree.id)
    await workspace.poller.refresh_and_wait([worktree.id for worktree in worktrees])
    if not await asyncio.to_thread(Path(project.path).is_dir):
        raise project_directory_missing(project.path)


@implements(api.has_uncommitted_changes)
async def has_uncommitted_changes(workspace: "Workspace", worktree_id: str) -> bool:
    worktree = require_worktree(workspace.store.state, worktree_id)
    return await status.has_uncommitted_changes(Path(worktree.path))


@implements(api.get_git_diff)
async def get_git_diff(
    workspace: "Workspace",
    worktree_path: str,
    diff_type: Literal["working", "staged", "branch"],
    base_branch: str | None = None,
) -> str:
    path, project, worktree = await _find_root(workspace, worktree_path)
    base = (worktree.base_branch if worktree else None) or project.default_branch
    return await diff.diff(path, diff_type, base_branch or base)


@implements(api.commit_changes)
async def commit_changes(
    workspace: "Workspace",
    worktree_id: str,
    message: str,
    stage_all: bool = False,
    allowed_secrets: list[str] | None = None,
    allow_markers: bool = False,
) -> api.CommitResult:
    worktree = require_worktree(workspace.store.state, worktree_id)
    try:
        committing = _commit(
            workspace, worktree, message, stage_all, allowed_secrets or (), allow_markers
        )
        sha = await workspace.cancellable_tasks.run(worktree_id, "commit", committing)
    except SpinneyError as error:
        _report(workspace, "commit", worktree, ok=False, detail=error.message)
        raise
    _report(workspace, "commit", worktree, ok=True, detail=sha)
    return api.CommitResult(success=True, commit_sha=sha)


async def _commit(
    workspace: "Workspace",
    worktree: Worktree,
    message: str,
    stage_all: bool,
    allowed_secrets: Collection[str],
    allow_markers: bool,
) -> str:
    """Commit, and note on the commit where its lines come from if the preference says so."""
    root = Path(worktree.path)
    gate = open_gate(workspace, worktree.id, allowed_secrets)
    if not workspace.store.state.preferences.trace_notes:
        return await commit.commit(root, message, gate, stage_all, allow_markers=allow_markers)
    note = SnapshotNote("commit", worktree_id=worktree.id, worktree_name=worktree.name)
    snapshot = await take_snapshot(root, note)
    sha = await commit.commit(root, message, gate, stage_all, allow_markers=allow_markers)
    try:
        await traces.write_trace(root, sha, snapshot)
    except SpinneyError as error:
        # The commit is made; without a note its lines are explained by the commit alone.
        _log.warning("no note on commit %s: %s", sha, error.message)
    return sha


@implements(api.git_pull)
async def git_pull(
    workspace: "Workspace", worktree_path: str, base_branch: str, remote: str = "origin"
) -> api.ExchangeResult:
    path, project, worktree = await _find_root(workspace, worktree_path)
    await merging.refuse_while_unfinished(path)

    async def save_and_pull() -> tuple[bool, str]:
        points, detail = workspace.recovery_points, f"Pulled {remote}/{base_branch}"
        if worktree is None:
            await points.save_folder(project, "pull", detail)
        else:
            await points.save(worktree.id, "pull", detail)
        return await remotes.pull(path, remote, base_branch)

    return await _run_exchange(workspace, "pull", worktree, save_and_pull())


@implements(api.update_from_base)
async def update_from_base(workspace: "Workspace", worktree_id: str) -> api.ExchangeResult:
    worktree = require_worktree(workspace.store.state, worktree_id)
    project = require_project(workspace.store.state, worktree.project_id)
    base, path = worktree.base_branch or project.default_branch, Path(worktree.path)
    await merging.refuse_while_unfinished(path)

    async def save_and_update() -> tuple[bool, str]:
        await workspace.recovery_points.save(worktree.id, "pull", f"Updated from {base}")
        return await updating.update_from_base(path, base)

    return await _run_exchange(workspace, "pull", worktree, save_and_update())


@implements(api.git_push)
async def git_push(
    workspace: "Workspace",
    worktree_path: str,
    pr_number: int | None = None,
    remote: str = "origin",
    allowed_secrets: list[str] | None = None,
) -> api.ExchangeResult:
    path, project, worktree = await _find_root(workspace, worktree_path)
    to = None
    if pr_number is not None:
        remote, to = await _pull_request_head(path, pr_number, remote)
    gate = make_gate(workspace.store.state, project, allowed_secrets)
    return await _run_exchange(workspace, "push", worktree, remotes.push(path, remote, gate, to))


@implements(api.cancel_git)
async def cancel_git(workspace: "Workspace", worktree_id: str) -> None:
    worktree = require_worktree(workspace.store.state, worktree_id)
    await workspace.landing.trains.stop_at(worktree)
    await workspace.cancellable_tasks.cancel(worktree_id)


async def _run_exchange(
    workspace: "Workspace",
    task: str,
    worktree: Worktree | None,
    exchanging: Coroutine[Any, Any, tuple[bool, str]],
) -> api.ExchangeResult:
    try:
        success, output = await workspace.cancellable_tasks.run(
            worktree.id if worktree else "", task, exchanging
        )
    except SpinneyError as error:
        _report(workspace, task, worktree, ok=False, detail=error.message)
        raise
    _report(workspace, task, worktree, ok=success, detail=output)
    return api.ExchangeResult(success=success, output=output)


def _report(
    workspace: "Workspace", task: str, worktree: Worktree | None, *, ok: bool, detail: str
) -> None:
    worktree_id = worktree.id if worktree else None
    workspace.store.record(TaskCompleted(task=task, ok=ok, detail=detail, worktree_id=worktree_id))
    if worktree is None:
        return
    workspace.poller.refresh(worktree.id)
    if task == "push" and ok and worktree.pr_number is not None:
        workspace.poller.refresh_hosting(worktree.id)


async def _pull_request_head(path: Path, number: int, remote: str) -> tuple[str, str]:
    """The configured remote and the branch on it that a pull request comes from."""
    forge = await find_forge(path)
    head = await forge.fetch_head(path, number)
    if not head.repository:
        raise SpinneyError(
            f"The repository that {forge.pull_request_name} #{number} comes from no longer exists.",
            "not_found",
        )
    known = await repositories.list_remotes(path)
    repository = f"{head.owner}/{head.repository}".casefold()
    hosted = {
        remote.name: f"{remote.owner}/{remote.repo}".casefold()
        for remote in await list_hosting_remotes(path)
    }
    # Of a URL on an unknown host only the end can be compared: it may be in a subfolder there.
    matching = [
        found.name
        for found in known
        if (
            hosted[found.name] == repository
            if found.name in hosted
            else _is_url_of(found.url, repository)
        )
    ]
    # The URL may be that of a mirror: if no remote matches, use the one that was given.
    if not matching and not head.is_from_fork and remote in {found.name for found in known}:
        return remote, head.branch
    if not matching:
        raise SpinneyError(
            f"{forge.pull_request_name.capitalize()} #{number} comes from "
            f"{head.owner}/{head.repository}, which is not one of the repository's remotes. Add "
            "it with 'git remote add', then push again.",
            "conflict",
        )
    return (remote if remote in matching else matching[0]), head.branch


def _is_url_of(url: str, repository: str) -> bool:
    path = url.casefold().removesuffix("/").removesuffix(".git").replace(":", "/")
    return path.endswith("/" + repository)


async def _find_root(workspace: "Workspace", given: str) -> tuple[Path, Project, Worktree | None]:
    """The known worktree or project whose root is `given`; other directories are refused."""
    state = workspace.store.state
    roots: list[tuple[str, Project, Worktree | None]] = [
        *(
            (w.path, state.projects[w.project_id], w)
            for w in state.worktrees.values()
            if w.project_id in state.projects
        ),
        *((p.path, p, None) for p in state.projects.values() if p.path),
    ]
    paths = [given, *(path for path, _, _ in roots)]
    real, *known = await asyncio.to_thread(lambda: [_real_path(path) for path in paths])
    for known_path, (path, project, worktree) in zip(known, roots, strict=True):
        if known_path == real:
            return Path(path), project, worktree
    raise worktree_not_found(given)


def _real_path(path: str) -> str:
    try:
        return os.path.realpath(path)
    except ValueError:  # a NUL byte
        raise worktree_not_found(path) from None
