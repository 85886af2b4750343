"""What the screen refers to: projects, worktrees and sessions, with lookups of their parents."""

from collections.abc import Container, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pathlib import Path

    from model.domain.projects import Project
    from model.domain.sessions import Session
    from model.domain.worktrees import Worktree
    from model.state import State

Kind = Literal["root", "project", "worktree", "session"]
SideContent = Literal["changes", "session", "hidden"]
"""What the side pane shows: the open worktree's changes, a second session, or nothing."""
SIDE_CONTENTS: tuple[SideContent, ...] = ("changes", "session", "hidden")
"""In the order in which one key shows them."""


@dataclass(frozen=True, slots=True)
class Place:
    """The kind and id of a row of the tree."""

    kind: Kind
    id: str


ROOT = Place("root", "")


def get_worktree(place: Place | None, state: "State") -> "Worktree | None":
    """The worktree of a place, if it is a worktree or a session."""
    if place is None:
        return None
    if place.kind == "session":
        session = state.sessions.get(place.id)
        return state.worktrees.get(session.worktree_id) if session is not None else None
    return state.worktrees.get(place.id)


def get_project(place: Place | None, state: "State") -> "Project | None":
    """The project of a place."""
    if place is None:
        return None
    worktree = get_worktree(place, state)
    return state.projects.get(worktree.project_id if worktree is not None else place.id)


def is_shown(place: Place, state: "State") -> bool:
    """Whether the place exists and is not archived."""
    match place.kind:
        case "session":
            session = state.sessions.get(place.id)
            return session is not None and session.archived_at is None
        case "worktree":
            worktree = state.worktrees.get(place.id)
            return worktree is not None and worktree.archived_at is None
        case "project":
            return place.id in state.projects
        case "root":
            return True


def list_shown_sessions(state: "State", project_id: str | None = None) -> "list[Session]":
    """The sessions of a project, or of all projects, that are not archived; newest first."""
    sessions = [
        session
        for session in state.sessions.values()
        if session.archived_at is None
        and (worktree := state.worktrees.get(session.worktree_id)) is not None
        and worktree.archived_at is None
        and project_id in (None, worktree.project_id)
    ]
    return sorted(sessions, key=lambda session: -session.updated_at)


def find_last_session(recent: Iterable[str], here: str, listed: Container[str]) -> str | None:
    """The session that was open before the one that is open here, if it is in the tree.

    `recent`: the ids of sessions, the one opened last first; `listed`: those in the tree.
    """
    return next((key for key in recent if key != here and key in listed), None)


def find_nearest_shown(place: Place, state: "State", before: "State") -> Place | None:
    """The place, or its nearest ancestor, that is still shown.

    `before` is a state in which the place existed.
    """
    if is_shown(place, state):
        return place
    if place.kind == "session":
        session = state.sessions.get(place.id) or before.sessions.get(place.id)
        parent = Place("worktree", session.worktree_id) if session is not None else None
    elif place.kind == "worktree":
        worktree = state.worktrees.get(place.id) or before.worktrees.get(place.id)
        parent = Place("project", worktree.project_id) if worktree is not None else None
    else:
        parent = None
    return find_nearest_shown(parent, state, before) if parent is not None else None


def find_project_id(state: "State", path: "Path | None") -> str | None:
    """The id of the project at this path."""
    if path is None:
        return None
    return next((p.id for p in state.projects.values() if p.path == str(path)), None)
