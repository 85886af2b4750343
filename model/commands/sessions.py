"""Commands about sessions: making them, talking in them, reading them."""

import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

from model.base.errors import SpinneyError, session_not_found
from model.base.text import clean_line
from model.chat.chats import session_in
from model.chat.tool_outputs import ToolOutput
from model.commands.registry import command
from model.domain.events import (
    Event,
    SessionArchived,
    SessionCreated,
    SessionDeleted,
    SessionUpdated,
)
from model.domain.resources import (
    Decision,
    ExecutionMode,
    Message,
    MessagePage,
    Resource,
    SentMessage,
    Session,
    SessionWithMessages,
    ThinkingLevel,
    WorkingMode,
)
from model.preferences import profiles
from model.preferences.precedence import backend_for
from model.state import State
from model.worktrees import refuse_while_archived, worktree_in

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace

PAGE = 100
"""Messages of a page (interface 8)."""

PAGE_LIMIT = 1000

OUTPUT_PAGE = 1024 * 1024
"""Bytes of a tool's result in one reply."""

_BEYOND_ALL = 2**62
"""No conversation is longer, and SQLite takes no number above 2**63."""


@command
async def list_sessions(
    workspace: "Workspace", worktree_id: str, include_archived: bool = False
) -> list[Session]:
    """The worktree's sessions, lowest `order` first."""
    worktree_in(workspace.store.state, worktree_id)
    return workspace.store.state.sessions_of(worktree_id, archived=include_archived)


@command
async def create_session(
    workspace: "Workspace",
    worktree_id: str,
    name: str | None = None,
    execution_mode: ExecutionMode = "plan",
    model: str | None = None,
    thinking_level: ThinkingLevel | None = None,
    backend: str | None = None,
) -> Session:
    """Begin a chat. What is not given comes from the project, the preferences, the defaults."""
    if backend is not None:
        _check_backend(workspace, backend)
    model = model or await _usual_model(workspace, worktree_id, backend)

    def accepted(state: State) -> list[Event]:
        worktree = worktree_in(state, worktree_id)
        refuse_while_archived(worktree)
        project = state.projects[worktree.project_id]
        agent = backend_for(
            project, state.preferences, backend, catalog=workspace.catalog, demo=workspace.demo
        )
        others = state.sessions_of(worktree_id, archived=True)
        session = Session(
            id=session_id,
            worktree_id=worktree_id,
            name=clean_line(name or "") or f"Session {len(others) + 1}",
            named_by_user=bool(name),
            created_at=time.time(),
            updated_at=time.time(),
            execution_mode=execution_mode,
            model=model,
            thinking_level=thinking_level or state.preferences.thinking_level,
            backend=agent,
            order=max((other.order + 1 for other in others), default=0),
        )
        return [SessionCreated(session=session)]

    session_id = str(uuid.uuid4())
    await workspace.store.accept(accepted)
    return workspace.store.state.sessions[session_id]


@command
async def get_session(workspace: "Workspace", session_id: str) -> SessionWithMessages:
    """A session with its newest 100 messages."""
    page = await get_messages.function(workspace, session_id)
    session = session_in(workspace.store.state, session_id)
    return SessionWithMessages(**session.model_dump(), messages=page.messages)


@command
async def get_messages(
    workspace: "Workspace", session_id: str, limit: int = PAGE, offset: int = 0
) -> MessagePage:
    """A page of a conversation, counted from the newest message, oldest first."""
    known = _conversation(workspace.store.state, session_id)
    if not 0 < limit <= PAGE_LIMIT:
        raise SpinneyError(f"Invalid field 'limit': must be from 1 to {PAGE_LIMIT}")
    if offset < 0:
        raise SpinneyError("Invalid field 'offset': must not be negative")
    page = await workspace.store.messages(session_id, limit, min(offset, _BEYOND_ALL))
    while (now := _conversation(workspace.store.state, session_id)) != known:
        # Events have told more than was read; an answer must not fall behind them.
        known = now
        page = await workspace.store.messages(session_id, limit, min(offset, _BEYOND_ALL))
    streaming = workspace.store.state.streaming
    newest = [streaming.get(message.id, message) for message in page.messages]
    return page.model_copy(update={"messages": newest})


def _conversation(state: State, session_id: str) -> tuple[int, frozenset[str]]:
    """How many messages it has, and which of them are being written."""
    session = session_in(state, session_id)
    written = (m.id for m in state.streaming.values() if m.session_id == session_id)
    return session.message_count, frozenset(written)


@command
async def update_session(
    workspace: "Workspace",
    session_id: str,
    name: str | None = None,
    execution_mode: ExecutionMode | None = None,
    model: str | None = None,
    thinking_level: ThinkingLevel | None = None,
    backend: str | None = None,
) -> Session:
    """Change what is given; a running agent takes it over from its next turn on.

    A changed mode holds at once, unless the session tells a `turn_mode`.

    Another `backend` is handed a summary of the conversation with its first message; one that
    worked here before goes on with its own conversation, and is told what it missed.
    """
    if backend is not None:
        _check_backend(workspace, backend)
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
        updates["model"] = model or await _usual_model(workspace, session.worktree_id, backend)
        await workspace.chats.change_agent(session_id, backend, updates)
    elif updates:
        await _update(workspace, session_id, updates)
        await workspace.chats.configure(session_id)
    return session_in(workspace.store.state, session_id)


@command
async def archive_session(workspace: "Workspace", session_id: str) -> Session:
    """Put a session away; what runs in it is stopped first."""
    told = SessionArchived(session_id=session_id, archived_at=time.time())
    await workspace.chats.put_away(session_id, told)
    return session_in(workspace.store.state, session_id)


@command
async def unarchive_session(workspace: "Workspace", session_id: str) -> Session:
    """Bring an archived session back."""
    await _update(workspace, session_id, {"archived_at": None})
    return session_in(workspace.store.state, session_id)


@command
async def delete_session(workspace: "Workspace", session_id: str) -> None:
    """Delete a session and all its messages, for good."""
    await workspace.chats.put_away(session_id, SessionDeleted(session_id=session_id))


@command
async def reorder_sessions(
    workspace: "Workspace", worktree_id: str, session_ids: list[str]
) -> None:
    """Put the worktree's sessions in this order; those that are not named follow as they were."""

    def accepted(state: State) -> list[Event]:
        worktree_in(state, worktree_id)
        known = [session.id for session in state.sessions_of(worktree_id, archived=True)]
        strange = next((key for key in session_ids if key not in known), None)
        if strange is not None:
            raise session_not_found(strange)
        wanted = dict.fromkeys([*session_ids, *known])
        return [
            SessionUpdated(session_id=key, updates={"order": place})
            for place, key in enumerate(wanted)
        ]

    await workspace.store.accept(accepted)


@command
async def mark_session_read(workspace: "Workspace", session_id: str) -> None:
    """Note that a person has seen the newest message.

    Where they were away for long and want recaps, the session gets one (`recap`) some time later.
    """
    session = session_in(workspace.store.state, session_id)
    if session.unread:
        if workspace.recaps.is_wanted(session):
            workspace.run_in_background(workspace.recaps.write(session_id))
        await _update(workspace, session_id, {"unread": False})


@command
async def send_chat_message(
    workspace: "Workspace",
    session_id: str,
    message: str,
    files: list[str] | None = None,
    images: list[str] | None = None,
    message_id: uuid.UUID | None = None,
) -> SentMessage:
    """Send a message: `processing` when its run starts, `sent` when it waits behind one, or as the
    first of its session for the worktree's `setup` (`setup_hold`).

    While a plan or a question waits, the message discusses or answers it. A message after a stop
    runs at once; those that were waiting follow it. A worktree that is still being made takes none.

    `messageId` is a UUID of the client's making for the message. Whoever does not know whether it
    arrived sends it again with the same one: it is taken once, and this tells how it stands.
    """
    before = session_in(workspace.store.state, session_id)
    is_first = not workspace.store.state.queued.get(session_id)
    own_id = str(message_id) if message_id else None

    async def context() -> Path | None:
        await workspace.scripts.setup_known(before.worktree_id)
        now = session_in(workspace.store.state, session_id)
        return None if now.has_context else await workspace.contexts.file_of(now.worktree_id)

    sent = await workspace.chats.send(
        session_id, message, files or (), images or (), own_id, context
    )
    if is_first and workspace.naming.is_wanted(before, message):
        workspace.run_in_background(workspace.naming.name(session_id, message))
    if is_first and workspace.branch_naming.is_wanted(before, message):
        workspace.run_in_background(workspace.branch_naming.name(before.worktree_id, message))
    return sent


class AddedImage(Resource):
    """A picture that is kept for a message."""

    path: str


@command
async def add_image(workspace: "Workspace", session_id: str, data: str) -> AddedImage:
    """Keep a picture from another device, to be sent as one of the `images` of a message.

    `data` is a PNG, JPEG, GIF or WebP in base64, of at most 10 MB. A session keeps 200; they go
    with it.
    """
    session_in(workspace.store.state, session_id)
    return AddedImage(path=str(await workspace.pictures.keep(session_id, data)))


@command
async def stop_generation(workspace: "Workspace", session_id: str) -> Session:
    """Stop what runs; what had arrived is kept, and messages that wait go on waiting."""
    return await workspace.chats.stop(session_id)


@command
async def approve_plan(
    workspace: "Workspace",
    session_id: str,
    mode: WorkingMode,
    plan: str | None = None,
    request_id: str | None = None,
    fresh: bool = False,
) -> Session:
    """Carry out the proposed plan in `build` or `yolo` mode, with the text of `plan` in place of
    the proposed one, if given.

    With `requestId` (of the session's `request`) it is refused when a newer plan has replaced it.
    A plan that was stopped (`set_aside_plan`) is approved by its id, while nothing runs.
    With `fresh` it goes on in a new session of the same worktree, whose agent knows the plan alone;
    that one is the answer, and the old one is archived as `close_original_on_clear_context` says.
    """
    if fresh:
        return await workspace.chats.approve_afresh(session_id, mode, plan, request_id)
    return await workspace.chats.approve(session_id, mode, plan, request_id)


@command
async def answer_question(
    workspace: "Workspace",
    session_id: str,
    answer: str | dict[str, str],
    request_id: str | None = None,
) -> Session:
    """Answer the pending question: a text, or question text to answer text.

    With `requestId` (of the session's `request`) it is refused when other questions wait by now.
    """
    return await workspace.chats.answer(session_id, answer, request_id)


@command
async def answer_permission(
    workspace: "Workspace",
    session_id: str,
    request_id: str,
    decision: Decision,
    reason: str | None = None,
) -> Session:
    """Allow once, allow for the session what the request's `session_scope` says, or deny.

    With `deny` the agent reads the `reason` (at most 4,000 characters): what to do instead.
    """
    return await workspace.chats.permit(session_id, request_id, decision, reason or "")


@command
async def get_tool_output(
    workspace: "Workspace",
    session_id: str,
    tool_use_id: str,
    offset: int = 0,
    limit: int = OUTPUT_PAGE,
) -> ToolOutput:
    """Read on in a tool's long result, of which the conversation shows the ends: up to `limit`
    bytes from `offset` on, both within whole characters.

    What is kept ends with the session, after 16 MiB of one result, and where all results together
    are more than 1 GiB (the oldest go).
    """
    session_in(workspace.store.state, session_id)
    if offset < 0:
        raise SpinneyError("Invalid field 'offset': must not be negative")
    if not 4 <= limit <= OUTPUT_PAGE:
        raise SpinneyError(f"Invalid field 'limit': must be from 4 to {OUTPUT_PAGE}")
    return await workspace.outputs.read(session_id, tool_use_id, min(offset, _BEYOND_ALL), limit)


@command
async def list_queued_messages(workspace: "Workspace", session_id: str) -> list[Message]:
    """Messages that wait behind the run, oldest first."""
    session_in(workspace.store.state, session_id)
    return list(workspace.store.state.queued.get(session_id, ()))


@command
async def send_queued_messages(workspace: "Workspace", session_id: str) -> Session:
    """Send what still waits after a stop or a failure, one message after the other.

    What waits for the worktree's `setup` goes without it, in all of the worktree's sessions. Where
    something runs, or nothing waits, this does nothing.
    """
    session_in(workspace.store.state, session_id)
    return await workspace.chats.send_queued(session_id)


@command
async def remove_queued_message(workspace: "Workspace", session_id: str, message_id: str) -> None:
    """Take a waiting message back."""
    session_in(workspace.store.state, session_id)
    await workspace.chats.take_back(session_id, message_id)


async def _usual_model(workspace: "Workspace", worktree_id: str, backend: str | None) -> str:
    """The model of a session for which nobody names one."""
    state = workspace.store.state
    worktree = worktree_in(state, worktree_id)
    project = state.projects[worktree.project_id]
    agent = backend_for(
        project, state.preferences, backend, catalog=workspace.catalog, demo=workspace.demo
    )
    profile = profiles.name_for(state.preferences, project)
    return await workspace.models.for_new(agent, state.preferences, Path(worktree.path), profile)


def _check_backend(workspace: "Workspace", backend: str) -> None:
    known = [row.name for row in workspace.catalog.backend_rows(demo=workspace.demo)]
    if backend not in known:
        names = ", ".join(f"'{name}'" for name in known)
        raise SpinneyError(f"Invalid field 'backend': must be one of {names}")


async def _update(workspace: "Workspace", session_id: str, updates: dict[str, object]) -> None:
    def accepted(state: State) -> list[Event]:
        session_in(state, session_id)
        return [SessionUpdated(session_id=session_id, updates=updates)]

    await workspace.store.accept(accepted)
