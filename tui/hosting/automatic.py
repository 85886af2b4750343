"""What a session does by itself about the pull request of its worktree."""

from typing import TYPE_CHECKING, Any

from model.base.plural import count
from model.base.text import clean_line

if TYPE_CHECKING:
    from model.domain.resources import Session
    from model.state import State


def find_automatic(state: "State", worktree_id: str) -> "Session | None":
    """Return the session that fixes checks and answers comments of a worktree by itself."""
    sessions = state.sessions_of(worktree_id)
    return next((session for session in sessions if _switch(session) is not None), None)


def describe_automatic(state: "State", worktree_id: str) -> str:
    """Return what it does, and how often it will, as a sentence; empty if there is none."""
    session = find_automatic(state, worktree_id)
    if session is None:
        return ""
    switch = _switch(session)
    name = clean_line(session.name) or "(no name)"
    if switch.used >= switch.limit:
        return (
            f"'{name}' has fixed checks and answered comments {switch.limit} times by itself, "
            "and now waits for you."
        )
    return (
        f"'{name}' fixes red checks and answers new comments by itself after each push, at most "
        f"{count(switch.limit, 'time')} ({switch.used} so far)."
    )


def _switch(session: "Session") -> Any:
    return getattr(session, "pull_request_loop", None)
