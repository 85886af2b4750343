"""What a session does by itself about the pull request of its worktree."""

from typing import TYPE_CHECKING

from model.base.plural import count
from model.base.text import clean_line

if TYPE_CHECKING:
    from model.domain.sessions import Session
    from model.state import State


def find_automatic(state: "State", worktree_id: str) -> "Session | None":
    """Return the session that fixes checks and answers comments of a worktree by itself."""
    sessions = state.sessions_of(worktree_id)
    return next((each for each in sessions if each.pull_request_loop is not None), None)


def describe_automatic(state: "State", worktree_id: str) -> str:
    """Return what it does, and how often it will, as a sentence; empty if there is none."""
    session = find_automatic(state, worktree_id)
    if session is None or (switch := session.pull_request_loop) is None:
        return ""
    name, often = clean_line(session.name) or "(no name)", count(switch.limit, "time")
    if switch.waits:
        return f"'{name}' fixed checks or answered comments {often} by itself, and waits for you."
    return (
        f"'{name}' fixes red checks and answers new comments by itself after each push, at most "
        f"{often} ({switch.used} so far)."
    )
