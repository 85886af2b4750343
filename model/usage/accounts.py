"""The account that a session's agent works with: its program and provider profile."""

from model.domain.sessions import Session
from model.preferences import profiles
from model.state import State


def account_of(state: State, session: Session) -> str:
    """Return the id of the session's account, such as `backend_a` or `backend_a:work`."""
    worktree = state.worktrees.get(session.worktree_id)
    project = state.projects.get(worktree.project_id) if worktree else None
    profile = profiles.resolve_name(state.preferences, project, session.prompt or "")
    return make_account_id(session.backend, profile)


def make_account_id(backend: str, profile: str) -> str:
    """Return the id of an account; `profile` is empty for the program's own."""
    return f"{backend}:{profile}" if profile else backend
