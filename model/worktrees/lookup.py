"""Projects and worktrees found by id, where they lie, and whether they may be touched now."""

import re
from pathlib import Path

from model.base.errors import SpinneyError, project_not_found, worktree_not_found
from model.base.paths import Directories
from model.domain.resources import Project, Worktree
from model.state import State


def project_in(state: State, project_id: str) -> Project:
    """The project (not a folder) of this id. Raises `not_found`."""
    project = state.projects.get(project_id)
    if project is None or project.is_folder:
        raise project_not_found(project_id)
    return project


def worktree_in(state: State, worktree_id: str) -> Worktree:
    """The worktree of this id. Raises `not_found`."""
    worktree = state.worktrees.get(worktree_id)
    if worktree is None:
        raise worktree_not_found(worktree_id)
    return worktree


def base_directory(project: Project, directories: Directories) -> Path:
    """Where the project's worktrees go; a relative `worktrees_dir` starts at the repository."""
    if project.worktrees_dir:
        return Path(project.path) / Path(project.worktrees_dir).expanduser()
    return directories.worktrees_home / folder_name(project.name)


def folder_name(name: str) -> str:
    """The one folder that stands for a name, whatever is in it: `feature/x` is `feature-x`."""
    return re.sub(r"[^\w.\-]+", "-", name).strip("-.") or "project"


def refuse_while_running(state: State, worktree: Worktree) -> None:
    """Raise `conflict` while a session of the worktree works or waits."""
    for session in state.sessions_of(worktree.id, archived=True):
        if session.is_active:
            raise SpinneyError(
                f"The session '{session.name}' is still at work in '{worktree.name}'."
                " Stop it first.",
                "conflict",
            )


def refuse_while_unsettled(worktree: Worktree) -> None:
    """Raise `conflict` while the worktree is being made, renamed or removed."""
    doing = {"creating": "made", "removing": "removed"}.get(worktree.status)
    if worktree.renaming_to is not None:
        doing = "renamed"
    if doing:
        raise SpinneyError(
            f"'{worktree.name}' is just being {doing}. Try again in a moment.", "conflict"
        )


def refuse_while_archived(worktree: Worktree) -> None:
    """Raise `conflict` for an archived worktree."""
    if worktree.archived_at is not None:
        raise SpinneyError(f"'{worktree.name}' is archived. Bring it back first.", "conflict")
