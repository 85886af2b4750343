"""Implements `model.api.sessions`."""

import time
import uuid
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from model.api import sessions as api
from model.base.errors import SpinneyError, session_not_found
from model.base.text import clean_line
from model.chat.lookup import session_in
from model.chat.session_rows import SessionFilter, list_session_rows
from model.commands.new_sessions import (
    NewSession,
    check_backend,
    choose_agent,
    choose_default_model,
    make_session,
)
from model.commands.registry import implements
from model.domain.events.base import Event
from model.domain.events.sessions import (
    SessionArchived,
    SessionCreated,
    SessionDeleted,
    SessionUpdated,
)
from model.domain.messages import Message, MessagePage, SentMessage
from model.domain.modes import ExecutionMode, ThinkingLevel, WorkingMode
from model.domain.output import ToolOutput
from model.domain.requests import Decision
from model.domain.session_rows import ArchivedFilter, SessionList
from model.domain.sessions import Session, SessionStatus, SessionWithMessages
from model.limits.times import resolve_time
from model.preferences.schema import PromptKey
from model.state import State
from model.worktrees import refuse_while_archived, require_project, require_worktree

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace


_MAX_LIMIT = 1000
_MAX_SEARCH = 500
"""Characters of a search; each word is looked for in each session."""

_MAX_OFFSET = 2**62
"""Longer than any conversation; SQLite takes no number above 2**63."""


@implements(api.list_sessions)
async def list_sessions(
    workspace: "Workspace", worktree_id: str, include_archived: bool = False
) -> list[Session]:
    require_worktree(workspace.store.state, worktree_id)
    return workspace.store.state.sessions_of(worktree_id, archived=include_archived)


@implements(api.list_all_sessions)
async def list_all_sessions(
    workspace: "Workspace",
    project_id: str | None = None,
    worktree_id: str | None = None,
    status: list[SessionStatus] | None = None,
    backend: str | None = None,
    archived: ArchivedFilter = "exclude",
    search: str = "",
    limit: int = api.PAGE_SIZE,
    offset: int = 0,
) -> SessionList:
    state = workspace.store.state
    if project_id is not None:
        require_project(state, project_id)
    if worktree_id is not None:
        require_worktree(state, worktree_id)
    _check_page(limit, offset)
    if len(search) > _MAX_SEARCH:
        raise SpinneyError(f"Invalid field 'search': must have at most {_MAX_SEARCH} characters")
    words = search.casefold().split()
    wanted = SessionFilter(project_id, worktree_id, status, backend, archived, words)
    return list_session_rows(state, wanted, limit, offset)


@implements(api.create_session)
async def create_session(
    workspace: "Workspace",
    worktree_id: str,
    name: str | None = None,
    execution_mode: ExecutionMode = "plan",
    model: str | None = None,
    thinking_level: ThinkingLevel | None = None,
    backend: str | None = None,
    prompt: PromptKey | None = None,
) -> Session:
    worktree = require_worktree(workspace.store.state, worktree_id)
    project = workspace.store.state.projects[worktree.project_id]
    wanted = NewSession(name, execution_mode, model, thinking_level, backend, prompt)
    agent = await choose_agent(workspace, project, Path(worktree.path), wanted)

    def create(state: State) -> list[Event]:
        worktree = require_worktree(state, worktree_id)
        refuse_while_archived(worktree)
        session = make_session(workspace, state, worktree, session_id, wanted, agent)
        return [SessionCreated(session=session)]

    session_id = str(uuid.uuid4())
    await workspace.store.accept(create)
    return workspace.store.state.sessions[session_id]


@implements(api.get_session)
async def get_session(workspace: "Workspace", session_id: str) -> SessionWithMessages:
    page = await get_messages(workspace, session_id)
    session = session_in(workspace.store.state, session_id)
    # All parts are valid: to check them again takes longer than to read them.
    return SessionWithMessages.model_construct(**dict(session), messages=page.messages)


@implements(api.get_messages)
async def get_messages(
    workspace: "Workspace", session_id: str, limit: int = api.PAGE_SIZE, offset: int = 0
) -> MessagePage:
    before = _message_state(workspace.store.state, session_id)
    _check_page(limit, offset)
    page = await workspace.store.messages(session_id, limit, min(offset, _MAX_OFFSET))
    while (now := _message_state(workspace.store.state, session_id)) != before:
        # Events were published meanwhile; a response must not be older than they are.
        before = now
        page = await workspace.store.messages(session_id, limit, min(offset, _MAX_OFFSET))
    streaming = workspace.store.state.streaming
    newest = [streaming.get(message.id, message) for message in page.messages]
    return page.model_copy(update={"messages": newest})


def _check_page(limit: int, offset: int) -> None:
    if not 0 < limit <= _MAX_LIMIT:
        raise SpinneyError(f"Invalid field 'limit': must be from 1 to {_MAX_LIMIT}")
    if offset < 0:
        raise SpinneyError("Invalid field 'offset': must not be negative")


def _message_state(state: State, session_id: str) -> tuple[float, int, frozenset[str]]:
    """The last change, the number of messages, and the ids of those that are being streamed."""
    session = session_in(state, session_id)
    streamed = (m.id for m in state.streaming.values() if m.session_id == session_id)
    return session.updated_at, session.message_count, frozenset(streamed)


@implements(api.update_session)
async def update_session(
    workspace: "Workspace",
    session_id: str,
    name: str | None = None,
    execution_mode: ExecutionMode | None = None,
    model: str | None = None,
    thinking_level: ThinkingLevel | None = None,
    backend: str | None = None,
) -> Session:
    if backend is not None:
        check_backend(workspace, backend)
    given: dict[str, object] = {
        "name": clean_line(name) if name else None,
        "named_by_user": True if name else None,
        "execution_mode": execution_mode,
        "model": model,
        "thinking_level": thinking_level,
    }
    updates = {key: value for key, value in given.items() if value is not None}
    session = session_in(workspace.store.state, session_id)
    if model is not None and model != session.model:
        updates["answering_model"] = ""
    if backend is not None and backend != session.backend:
        worktree = require_worktree(workspace.store.state, session.worktree_id)
        project = workspace.store.state.projects[worktree.project_id]
        updates["model"] = model or await choose_default_model(
            workspace, project, Path(worktree.path), backend
        )
        await workspace.chats.change_agent(session_id, backend, updates)
    elif updates:
        await _update(workspace, session_id, updates)
        await workspace.conversations.configure(session_id)
    return session_in(workspace.store.state, session_id)


@implements(api.archive_session)
async def archive_session(workspace: "Workspace", session_id: str) -> Session:
    event = SessionArchived(session_id=session_id, archived_at=time.time())
    await workspace.chats.close_session(session_id, event)
    return session_in(workspace.store.state, session_id)


@implements(api.unarchive_session)
async def unarchive_session(workspace: "Workspace", session_id: str) -> Session:
    await _update(workspace, session_id, {"archived_at": None})
    return session_in(workspace.store.state, session_id)


@implements(api.delete_session)
async def delete_session(workspace: "Workspace", session_id: str) -> None:
    event = SessionDeleted(session_id=session_id)
    keep = partial(workspace.recovery_points.save_session, session_id)
    await workspace.chats.close_session(session_id, event, keep)


@implements(api.reorder_sessions)
async def reorder_sessions(
    workspace: "Workspace", worktree_id: str, session_ids: list[str]
) -> None:

    def reorder(state: State) -> list[Event]:
        require_worktree(state, worktree_id)
        known = [session.id for session in state.sessions_of(worktree_id, archived=True)]
        unknown = next((key for key in session_ids if key not in known), None)
        if unknown is not None:
            raise session_not_found(unknown)
        ordered = dict.fromkeys([*session_ids, *known])
        return [
            SessionUpdated(session_id=key, updates={"order": order})
            for order, key in enumerate(ordered)
        ]

    await workspace.store.accept(reorder)


@implements(api.mark_session_read)
async def mark_session_read(workspace: "Workspace", session_id: str) -> None:
    session = session_in(workspace.store.state, session_id)
    if session.unread:
        if workspace.recaps.is_wanted(session):
            workspace.run_in_background(workspace.recaps.write(session_id))
        await _update(workspace, session_id, {"unread": False})


@implements(api.send_chat_message)
async def send_chat_message(
    workspace: "Workspace",
    session_id: str,
    message: str,
    files: list[str] | None = None,
    images: list[str] | None = None,
    message_id: uuid.UUID | None = None,
    send_at: float | str | None = None,
    steer: bool = False,
) -> SentMessage:
    if steer and send_at is not None:
        raise SpinneyError("Give either 'steer' or 'sendAt': a message is sent now or later.")
    before = session_in(workspace.store.state, session_id)
    moment = resolve_time(workspace.store.state, before, send_at, workspace.usage.limits_of)
    is_first = not workspace.store.state.queued.get(session_id)
    client_id = str(message_id) if message_id else None
    sent = await deliver_message(
        workspace, session_id, message, files or (), images or (), client_id, moment, steer=steer
    )
    if is_first and workspace.naming.is_wanted(before, message):
        workspace.run_in_background(workspace.naming.name(session_id, message))
    if is_first and workspace.branch_naming.should_name(before, message):
        workspace.run_in_background(workspace.branch_naming.name(before.worktree_id, message))
    return sent


async def deliver_message(
    workspace: "Workspace",
    session_id: str,
    message: str,
    files: Sequence[str] = (),
    images: Sequence[str] = (),
    message_id: str | None = None,
    send_at: float | None = None,
    *,
    steer: bool = False,
) -> SentMessage:
    """Send a message with the context of its worktree; nothing is named after it."""
    worktree_id = session_in(workspace.store.state, session_id).worktree_id

    async def context() -> Path | None:
        await workspace.scripts.wait_until_setup_known(worktree_id)
        now = session_in(workspace.store.state, session_id)
        return None if now.has_context else await workspace.contexts.find_file(now.worktree_id)

    return await workspace.chats.send(
        session_id, message, files, images, message_id, context, send_at, steer=steer
    )


@implements(api.add_image)
async def add_image(workspace: "Workspace", session_id: str, data: str) -> api.AddedImage:
    session_in(workspace.store.state, session_id)
    upload = await workspace.uploads.save_image(session_id, data)
    return api.AddedImage(path=str(upload.path))


@implements(api.stop_generation)
async def stop_generation(workspace: "Workspace", session_id: str) -> Session:
    return await workspace.chats.stop(session_id)


@implements(api.approve_plan)
async def approve_plan(
    workspace: "Workspace",
    session_id: str,
    mode: WorkingMode,
    plan: str | None = None,
    request_id: str | None = None,
    fresh: bool = False,
) -> Session:
    if fresh:
        return await workspace.decisions.approve_in_new_session(session_id, mode, plan, request_id)
    return await workspace.decisions.approve(session_id, mode, plan, request_id)


@implements(api.answer_question)
async def answer_question(
    workspace: "Workspace",
    session_id: str,
    answer: str | dict[str, str],
    request_id: str | None = None,
) -> Session:
    return await workspace.decisions.answer(session_id, answer, request_id)


@implements(api.answer_permission)
async def answer_permission(
    workspace: "Workspace",
    session_id: str,
    request_id: str,
    decision: Decision,
    reason: str | None = None,
) -> Session:
    return await workspace.decisions.permit(session_id, request_id, decision, reason or "")


@implements(api.get_tool_output)
async def get_tool_output(
    workspace: "Workspace",
    session_id: str,
    tool_use_id: str,
    offset: int = 0,
    limit: int = api.OUTPUT_LIMIT,
) -> ToolOutput:
    session_in(workspace.store.state, session_id)
    if offset < 0:
        raise SpinneyError("Invalid field 'offset': must not be negative")
    if not 4 <= limit <= api.OUTPUT_LIMIT:
        raise SpinneyError(f"Invalid field 'limit': must be from 4 to {api.OUTPUT_LIMIT}")
    return await workspace.outputs.read(session_id, tool_use_id, min(offset, _MAX_OFFSET), limit)


@implements(api.list_queued_messages)
async def list_queued_messages(workspace: "Workspace", session_id: str) -> list[Message]:
    session_in(workspace.store.state, session_id)
    return list(workspace.store.state.queued.get(session_id, ()))


@implements(api.send_queued_messages)
async def send_queued_messages(workspace: "Workspace", session_id: str) -> Session:
    session_in(workspace.store.state, session_id)
    return await workspace.queues.send_queued(session_id)


@implements(api.steer_queued_message)
async def steer_queued_message(
    workspace: "Workspace", session_id: str, message_id: str
) -> SentMessage:
    session_in(workspace.store.state, session_id)
    return await workspace.queues.steer_queued(session_id, message_id)


@implements(api.remove_queued_message)
async def remove_queued_message(workspace: "Workspace", session_id: str, message_id: str) -> None:
    session_in(workspace.store.state, session_id)
    await workspace.queues.remove_queued(session_id, message_id)


async def _update(workspace: "Workspace", session_id: str, updates: dict[str, object]) -> None:
    def update(state: State) -> list[Event]:
        session_in(state, session_id)
        return [SessionUpdated(session_id=session_id, updates=updates)]

    await workspace.store.accept(update)
