"""Commands about projects: the repositories that Spinney shows."""

import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

from model.commands.registry import command
from model.errors import SpinneyError, not_a_repository, project_exists, project_not_found
from model.events import Event, ProjectAdded, ProjectRemoved, ProjectUpdated
from model.git import repositories
from model.resources import Branch, Project, Remote
from model.scripts.config import scripts_of_branch
from model.state import State
from model.worktrees import project_in, refuse_while_running

if TYPE_CHECKING:
    from model.workspace import Workspace


@command
async def list_projects(workspace: "Workspace") -> list[Project]:
    """All projects and folders, highest `order` first."""
    projects = workspace.store.state.projects.values()
    return sorted(projects, key=lambda project: (-project.order, project.added_at))


@command
async def add_project(workspace: "Workspace", path: str, parent_id: str | None = None) -> Project:
    """Add a git repository; a path inside one adds its root."""
    given = Path(path)
    if not given.is_absolute():
        raise not_a_repository(path)
    root = await repositories.find_root(given)
    branch = await repositories.default_branch(root)
    project = Project(
        id=str(uuid.uuid4()),
        name=root.name,
        path=str(root),
        default_branch=branch,
        added_at=time.time(),
        parent_id=parent_id,
        # Whoever adds a repository has decided to trust it as it stands; not what comes later.
        trusted_scripts=[script.hash for script in await scripts_of_branch(root, branch)],
    )

    def accepted(state: State) -> list[Event]:
        if any(other.path == project.path for other in state.projects.values()):
            raise project_exists(project.path)
        if parent_id is not None and not _is_folder(state, parent_id):
            raise project_not_found(parent_id)
        return [ProjectAdded(project=project)]

    await workspace.store.accept(accepted)
    return project


@command
async def remove_project(workspace: "Workspace", project_id: str) -> None:
    """Show a project no more, with its worktrees and sessions; no file is deleted."""
    project_in(workspace.store.state, project_id)
    for worktree in workspace.store.state.worktrees_of(project_id, archived=True):
        refuse_while_running(workspace.store.state, worktree)
        for session in workspace.store.state.sessions_of(worktree.id, archived=True):
            await workspace.chats.end(session.id)
    await workspace.store.accept(ProjectRemoved(project_id=project_id))


@command
async def update_project_settings(
    workspace: "Workspace",
    project_id: str,
    default_branch: str | None = None,
    custom_system_prompt: str | None = None,
    enabled_mcp_servers: list[str] | None = None,
    default_provider: str | None = None,
    worktrees_dir: str | None = None,
) -> Project:
    """Change what is given of a project's settings."""
    given = {
        "default_branch": default_branch,
        "custom_system_prompt": custom_system_prompt,
        "enabled_mcp_servers": enabled_mcp_servers,
        "default_provider": default_provider,
        "worktrees_dir": worktrees_dir,
    }
    changes = {key: value for key, value in given.items() if value is not None}
    known = project_in(workspace.store.state, project_id)
    if default_branch is not None:
        names = {branch.name for branch in await repositories.branches(Path(known.path))}
        if default_branch not in names:
            raise SpinneyError(f"Invalid field 'defaultBranch': no branch '{default_branch}'")

    def accepted(state: State) -> list[Event]:
        changed = project_in(state, project_id).model_copy(update=changes)
        return [ProjectUpdated(project=changed)]

    await workspace.store.accept(accepted)
    return workspace.store.state.projects[project_id]


@command
async def get_project_branches(workspace: "Workspace", project_id: str) -> list[Branch]:
    """The repository's branches; those of remotes as `origin/name`."""
    project = project_in(workspace.store.state, project_id)
    return await repositories.branches(Path(project.path))


@command
async def get_git_remotes(workspace: "Workspace", repo_path: str) -> list[Remote]:
    """The remotes of a repository, without credentials."""
    return await repositories.remotes(await repositories.find_root(Path(repo_path)))


def _is_folder(state: State, project_id: str) -> bool:
    folder = state.projects.get(project_id)
    return folder is not None and folder.is_folder
