"""Look up sessions by id."""

from model.base.errors import session_not_found
from model.domain.resources import Session
from model.state import State


def session_in(state: State, session_id: str) -> Session:
    """Return the session with this id. Raises `not_found`."""
    session = state.sessions.get(session_id)
    if session is None:
        raise session_not_found(session_id)
    return session
