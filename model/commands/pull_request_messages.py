"""Implements `model.api.pull_request_messages`."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from model.api import pull_request_messages as api
from model.base.errors import SpinneyError
from model.chat.lookup import session_in
from model.commands.registry import implements
from model.commands.session_choice import send_to_session
from model.domain.events.base import Event
from model.domain.events.sessions import SessionUpdated
from model.domain.messages import SessionMessage
from model.domain.sessions import PullRequestLoop, Session
from model.hosting.agent_messages import compose_comments, compose_failed_checks
from model.hosting.details import identify
from model.hosting.news import add_handled, list_failed, list_keys, list_open
from model.state import State
from model.worktrees import require_worktree

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace

MAX_LIMIT: Final = 20


@implements(api.fix_checks)
async def fix_checks(
    workspace: "Workspace", worktree_id: str, session_id: str | None = None
) -> SessionMessage:
    state = workspace.store.state
    worktree = require_worktree(state, worktree_id)
    details = await workspace.pull_requests.get(worktree, refresh=True)
    failed = list_failed(details)
    if not failed:
        reason = details.checks_note or f"No check of #{details.number} has failed."
        raise SpinneyError(reason, "conflict")
    project = state.projects.get(worktree.project_id)
    text = await compose_failed_checks(state.preferences, project, worktree, details, failed)
    sent = await send_to_session(
        workspace, worktree_id, text, session_id, "investigate_workflow_run"
    )
    await _note_sent(workspace, sent.session_id, list_keys(details, failed, ()))
    return sent


@implements(api.answer_comments)
async def answer_comments(
    workspace: "Workspace", worktree_id: str, session_id: str | None = None
) -> SessionMessage:
    worktree = require_worktree(workspace.store.state, worktree_id)
    details = await workspace.pull_requests.get(worktree, refresh=True)
    threads = list_open(details)
    if not threads:
        note = details.threads_note or details.conversation_note
        reason = note or f"All comments of #{details.number} are resolved or answered."
        raise SpinneyError(reason, "conflict")
    text = compose_comments(details, threads)
    sent = await send_to_session(workspace, worktree_id, text, session_id)
    await _note_sent(workspace, sent.session_id, list_keys(details, (), threads))
    return sent


@implements(api.set_pull_request_loop)
async def set_pull_request_loop(
    workspace: "Workspace", session_id: str, enabled: bool, limit: int | None = None
) -> Session:
    if limit is not None and not 1 <= limit <= MAX_LIMIT:
        raise SpinneyError(f"Invalid field 'limit': must be between 1 and {MAX_LIMIT}")

    def make_events(state: State) -> list[Event]:
        session = session_in(state, session_id)
        if not enabled:
            return [_switch(session, None)] if session.pull_request_loop else []
        identify(require_worktree(state, session.worktree_id))
        known = session.pull_request_loop or PullRequestLoop()
        loop = PullRequestLoop(limit=limit or known.limit, handled=known.handled, since=time.time())
        # Two sessions would answer the same comments.
        others = (
            other
            for other in state.sessions_of(session.worktree_id, archived=True)
            if other.id != session_id and other.pull_request_loop is not None
        )
        return [*(_switch(other, None) for other in others), _switch(session, loop)]

    await workspace.store.accept(make_events)
    return session_in(workspace.store.state, session_id)


def _switch(session: Session, loop: PullRequestLoop | None) -> SessionUpdated:
    value = None if loop is None else loop.model_dump(mode="json")
    return SessionUpdated(session_id=session.id, updates={"pull_request_loop": value})


async def _note_sent(workspace: "Workspace", session_id: str, keys: Sequence[str]) -> None:
    """Record what was sent by hand, so that the session's own switch does not send it again."""

    def make_events(state: State) -> list[Event]:
        session = state.sessions.get(session_id)
        if session is None or session.pull_request_loop is None:
            return []
        return [_switch(session, add_handled(session.pull_request_loop, keys))]

    await workspace.store.accept(make_events)
