"""Implements `model.api.projects`."""

import asyncio
import contextlib
import os
import tempfile
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from model.api import projects as api
from model.api.command import UNCHANGED, Unchanged
from model.base.errors import SpinneyError, not_a_repository, project_exists
from model.base.paths import Directories
from model.base.text import clean_line
from model.commands.registry import implements
from model.domain.branches import Branch, Remote
from model.domain.events.base import Event
from model.domain.events.program import TaskCompleted
from model.domain.events.projects import ProjectAdded, ProjectRemoved, ProjectUpdated
from model.domain.hosting import HostingRemote, MergeMethod
from model.domain.projects import Project
from model.git import hosts, repositories
from model.projects import avatars
from model.projects.tree import next_order, require_folder, without_secrets
from model.scripts.config import read_branch_scripts
from model.state import State, sort_projects
from model.worktrees import refuse_while_running, require_project
from model.worktrees.branch_names import fill_template
from model.worktrees.location import check_location
from model.worktrees.naming import NAME_LIMIT

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace


@implements(api.list_projects)
async def list_projects(workspace: "Workspace") -> list[Project]:
    return [
        without_secrets(project)
        for project in sort_projects(workspace.store.state.projects.values())
    ]


@implements(api.add_project)
async def add_project(workspace: "Workspace", path: str, parent_id: str | None = None) -> Project:
    given = Path(path)
    if not given.is_absolute():
        raise not_a_repository(path)
    root = await repositories.find_root(given)
    branch = await repositories.find_default_branch(root)
    project = Project(
        id=str(uuid.uuid4()),
        name=root.name.removesuffix(".git") or root.name,
        path=str(root),
        default_branch=branch,
        added_at=time.time(),
        parent_id=parent_id,
        # Adding a repository trusts its present scripts, but not later versions.
        trusted_scripts=[script.hash for script in await read_branch_scripts(root, branch)],
    )

    def add(state: State) -> list[Event]:
        if any(other.path == project.path for other in state.projects.values()):
            raise project_exists(project.path)
        if parent_id is not None:
            require_folder(state, parent_id)
        order = next_order(state, parent_id)
        return [ProjectAdded(project=project.model_copy(update={"order": order}))]

    await workspace.store.accept(add)
    if not await repositories.has_commits(root):
        detail = (
            f"Added '{clean_line(project.name)}'. It has no commits yet; worktrees can be created "
            "once it has one: git commit --allow-empty -m Begin"
        )
        workspace.store.record(TaskCompleted(task="add_project", ok=False, detail=detail))
    return workspace.store.state.projects[project.id]


@implements(api.remove_project)
async def remove_project(workspace: "Workspace", project_id: str) -> None:
    project = require_project(workspace.store.state, project_id)
    worktrees = workspace.store.state.worktrees_of(project_id, archived=True)

    def remove(state: State) -> list[Event]:
        for worktree in worktrees:
            refuse_while_running(state, worktree)
        return [ProjectRemoved(project_id=project_id)]

    remove(workspace.store.state)
    for worktree in worktrees:
        await workspace.scripts.stop(worktree.id)
        for session in workspace.store.state.sessions_of(worktree.id, archived=True):
            await workspace.conversations.end_agent(session.id)
    await workspace.recovery_points.save_project(project_id)
    await workspace.store.accept(remove)  # A message may have arrived meanwhile.
    for worktree in worktrees:
        await workspace.scripts.forget(worktree.id)
    await workspace.landing.forget_project(project)
    await asyncio.to_thread(avatars.delete, workspace.directories, project.avatar_path)


@implements(api.update_project_settings)
async def update_project_settings(
    workspace: "Workspace",
    project_id: str,
    default_branch: str | None = None,
    custom_system_prompt: str | None = None,
    enabled_mcp_servers: list[str] | Unchanged | None = UNCHANGED,
    default_provider: str | None = None,
    worktrees_dir: str | None = None,
    default_backend: str | None = None,
    landing_method: MergeMethod | Literal[""] | None = None,
    branch_template: str | None = None,
    tracker_api_key: str | None = None,
    tracker_team_id: str | None = None,
) -> Project:
    project = require_project(workspace.store.state, project_id)
    known = [row.name for row in workspace.catalog.backend_rows(demo=workspace.demo)]
    if default_backend and default_backend not in known:
        names = ", ".join(repr(name) for name in known)
        raise SpinneyError(f"Invalid field 'defaultBackend': must be one of {names}")
    if worktrees_dir:
        worktrees_dir = await asyncio.to_thread(
            _check_worktrees_dir, worktrees_dir, project, workspace.directories
        )
    if branch_template:
        await fill_template(branch_template, project)
    texts = {
        "custom_system_prompt": custom_system_prompt,
        "default_provider": default_provider,
        "worktrees_dir": worktrees_dir,
        "default_backend": default_backend,
        "landing_method": landing_method,
        "branch_template": branch_template,
        "tracker_api_key": tracker_api_key and tracker_api_key.strip(),
        "tracker_team_id": tracker_team_id and tracker_team_id.strip(),
    }
    changes: dict[str, str | list[str] | None] = {
        key: value or None for key, value in texts.items() if value is not None
    }
    if enabled_mcp_servers is not UNCHANGED:
        changes["enabled_mcp_servers"] = enabled_mcp_servers
    if default_branch is not None:
        await _check_branch(project, default_branch)
        changes["default_branch"] = default_branch
    return await _update(workspace, project_id, changes)


@implements(api.get_project_branches)
async def get_project_branches(workspace: "Workspace", project_id: str) -> list[Branch]:
    project = require_project(workspace.store.state, project_id)
    return await repositories.list_branches(Path(project.path))


@implements(api.get_git_remotes)
async def get_git_remotes(workspace: "Workspace", repo_path: str) -> list[Remote]:
    return await repositories.list_remotes(await _repository_at(repo_path))


@implements(api.get_github_remotes)
async def get_github_remotes(workspace: "Workspace", repo_path: str) -> list[HostingRemote]:
    return await hosts.list_hosting_remotes(await _repository_at(repo_path))


@implements(api.set_project_avatar)
async def set_project_avatar(
    workspace: "Workspace", project_id: str, path: str | None = None, data: str | None = None
) -> api.Avatar:
    before = require_project(workspace.store.state, project_id)

    def save() -> str:
        picture = _read_picture(before, path, data)
        return avatars.save(workspace.directories, picture)

    relative = await asyncio.to_thread(save)
    try:
        await _update(workspace, project_id, {"avatar_path": relative})
    except BaseException:
        await asyncio.to_thread(avatars.delete, workspace.directories, relative)
        raise
    await asyncio.to_thread(avatars.delete, workspace.directories, before.avatar_path)
    return api.Avatar(avatar_path=relative)


@implements(api.remove_project_avatar)
async def remove_project_avatar(workspace: "Workspace", project_id: str) -> Project:
    before = require_project(workspace.store.state, project_id)
    project = await _update(workspace, project_id, {"avatar_path": None})
    await asyncio.to_thread(avatars.delete, workspace.directories, before.avatar_path)
    return project


async def _repository_at(path: str) -> Path:
    if not Path(path).is_absolute():
        raise not_a_repository(path)
    return await repositories.find_root(Path(path))


async def _check_branch(project: Project, name: str) -> None:
    names = {branch.name for branch in await repositories.list_branches(Path(project.path))}
    if name not in names:
        raise SpinneyError(f"Invalid field 'defaultBranch': no branch '{name}'")


def _check_worktrees_dir(given: str, project: Project, directories: Directories) -> str:
    """The absolute path of a directory for worktrees; creates a temporary one to prove that it is
    writable.
    """
    try:
        directory = Path(given).expanduser()
    except RuntimeError:  # `~name` of an unknown user
        raise SpinneyError("Invalid field 'worktreesDir': unknown user") from None
    if not directory.is_absolute():
        raise SpinneyError("Invalid field 'worktreesDir': must be an absolute path")
    try:
        with contextlib.suppress(FileNotFoundError, PermissionError):
            os.lstat(directory / ("x" * NAME_LIMIT))
        existing = next(p for p in (directory, *directory.parents) if os.path.lexists(p))
        # Some file systems (`/proc`) show only when it is tried that they take no directories.
        Path(tempfile.mkdtemp(prefix=".spinney-", dir=existing)).rmdir()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it contains a null character"
        raise SpinneyError(
            f"Invalid field 'worktreesDir': cannot create a directory there ({reason})"
        ) from None
    try:
        check_location(directory, Path(project.path), directories)
    except SpinneyError as error:
        raise SpinneyError(f"Invalid field 'worktreesDir': {error.message}") from None
    return str(directory)


async def _update(
    workspace: "Workspace", project_id: str, changes: Mapping[str, object]
) -> Project:
    def update(state: State) -> list[Event]:
        project = require_project(state, project_id)
        updated = project.model_copy(update=changes)
        return [] if updated == project else [ProjectUpdated(project=updated)]

    await workspace.store.accept(update)
    return without_secrets(workspace.store.state.projects[project_id])


def _read_picture(project: Project, path: str | None, data: str | None) -> bytes:
    """Reads files; blocks."""
    if path is not None:
        if not Path(path).is_absolute():
            raise SpinneyError("Invalid field 'path': must be an absolute path")
        return avatars.read_image(Path(path))
    if data is not None:
        return avatars.decode_image(data)
    logo = avatars.find_logo(Path(project.path))
    if logo is None:
        raise SpinneyError(
            f"No logo was found in {project.path}. Choose an image file.", "not_found"
        )
    return logo
