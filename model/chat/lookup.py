"""Look up sessions by id, and the requests of theirs that wait for an answer."""

from model.base.errors import SpinneyError, session_not_found
from model.domain.requests import Request
from model.domain.sessions import Session
from model.state import State


def session_in(state: State, session_id: str) -> Session:
    """Return the session with this id. Raises `not_found`."""
    session = state.sessions.get(session_id)
    if session is None:
        raise session_not_found(session_id)
    return session


def pending_request(
    session: Session, kind: str | None = None, request_id: str | None = None
) -> Request:
    """Return the request that waits for an answer. Raises `conflict` if it is another or none."""
    request = session.request
    if request is None or kind not in (None, request.kind):
        raise SpinneyError(f"No {kind or 'request'} is waiting for an answer.", "conflict")
    if request_id not in (None, request.id):
        raise SpinneyError(f"This {request.kind} was replaced by a newer one.", "conflict")
    return request


def approvable_plan(session: Session, request_id: str | None) -> Request:
    """Return the plan that may be approved: the waiting one, or the one set aside by id.

    Raises `conflict`.
    """
    set_aside = session.set_aside_plan
    if set_aside is None or set_aside.id != request_id:
        return pending_request(session, "plan", request_id)
    if session.is_active:
        raise SpinneyError(
            "The session is still running. Approve the plan when it is done.", "conflict"
        )
    return set_aside
