"""Look up projects and worktrees by id, find their directories, and check their status."""

import re
from pathlib import Path

from model.base.errors import SpinneyError, project_not_found, worktree_not_found
from model.base.paths import Directories
from model.domain.projects import Project
from model.domain.worktrees import Worktree
from model.state import State


def require_project(state: State, project_id: str) -> Project:
    """Return the project (not a folder) with this id. Raises `not_found`."""
    project = state.projects.get(project_id)
    if project is None or project.is_folder:
        raise project_not_found(project_id)
    return project


def require_worktree(state: State, worktree_id: str) -> Worktree:
    """Return the worktree with this id. Raises `not_found`."""
    worktree = state.worktrees.get(worktree_id)
    if worktree is None:
        raise worktree_not_found(worktree_id)
    return worktree


def next_order(state: State, project_id: str) -> float:
    """Return the `order` of a new last worktree of a project."""
    others = state.worktrees_of(project_id, archived=True)
    return max((other.order + 1 for other in others), default=0)


def worktrees_directory(project: Project, directories: Directories) -> Path:
    """Return the directory of new worktrees; `worktrees_dir` is relative to the repository."""
    if project.worktrees_dir:
        return Path(project.path) / Path(project.worktrees_dir).expanduser()
    return directories.worktrees_home / to_folder_name(project.name)


def to_folder_name(name: str) -> str:
    """Return a single folder name for any name: `feature/x` becomes `feature-x`."""
    return re.sub(r"[^\w.\-]+", "-", name).strip("-.") or "project"


def refuse_while_running(state: State, worktree: Worktree) -> None:
    """Raise `conflict` while a session of the worktree is running, waiting or paused."""
    for session in state.sessions_of(worktree.id, archived=True):
        if session.is_unfinished:
            state_now = "paused" if session.status == "paused" else "still running"
            raise SpinneyError(
                f"The session '{session.name}' is {state_now} in '{worktree.name}'. Stop it first.",
                "conflict",
            )


def refuse_while_unsettled(worktree: Worktree) -> None:
    """Raise `conflict` while the worktree is being created, renamed or removed."""
    operation = {"creating": "created", "removing": "removed"}.get(worktree.status)
    if worktree.renaming_to is not None:
        operation = "renamed"
    if operation:
        raise SpinneyError(
            f"'{worktree.name}' is being {operation}. Try again in a moment.", "conflict"
        )


def refuse_while_archived(worktree: Worktree) -> None:
    """Raise `conflict` for an archived worktree."""
    if worktree.archived_at is not None:
        raise SpinneyError(f"'{worktree.name}' is archived. Unarchive it first.", "conflict")
