"""Implements `model.api.limits`."""

from typing import TYPE_CHECKING

from model.api import limits as api
from model.base.errors import SpinneyError
from model.chat.lookup import session_in
from model.commands.registry import implements
from model.domain.events.base import Event
from model.domain.messages import Message
from model.domain.sessions import Session
from model.limits.pauses import update_pause
from model.limits.times import is_reset, resolve_time
from model.state import State

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace


@implements(api.resume_session)
async def resume_session(workspace: "Workspace", session_id: str) -> Session:
    return await workspace.queues.resume(session_id)


@implements(api.set_resume_time)
async def set_resume_time(
    workspace: "Workspace",
    at: float | str | None,
    session_id: str | None = None,
    account: str | None = None,
) -> list[Session]:
    if (session_id is None) == (account is None):
        raise SpinneyError("Give either a session or an account.")
    changed: list[str] = []

    def make_events(state: State) -> list[Event]:
        paused = _find_paused(state, session_id, account)
        changed[:] = [session.id for session in paused]
        times = [
            (session, resolve_time(state, session, at, workspace.usage.limits_of))
            for session in paused
        ]
        return [
            update_pause(
                session, until=until, is_time_chosen=until is not None and not is_reset(at)
            )
            for session, until in times
        ]

    await workspace.store.accept(make_events)
    sessions = workspace.store.state.sessions
    return [sessions[key] for key in changed if key in sessions]


@implements(api.set_send_time)
async def set_send_time(
    workspace: "Workspace", session_id: str, message_id: str, at: float | str | None
) -> Message:
    state = workspace.store.state
    session = session_in(state, session_id)
    send_at = resolve_time(state, session, at, workspace.usage.limits_of)
    return await workspace.queues.set_send_time(session_id, message_id, send_at)


def _find_paused(state: State, session_id: str | None, account: str | None) -> list[Session]:
    if session_id is not None:
        session = session_in(state, session_id)
        if session.pause is None:
            raise SpinneyError("This session is not paused.", "conflict")
        return [session]
    found = [
        session
        for session in state.sessions.values()
        if session.pause is not None
        and session.pause.account == account
        and session.archived_at is None
    ]
    if not found:
        raise SpinneyError("No session of this account is paused.", "not_found")
    return found
