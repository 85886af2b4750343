"""Sessions as wholes: send, stop, close, rewind, copy, and change their agents.

A message is in the store before the agent receives it.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from model.backends.base import Backend
from model.base.errors import SpinneyError
from model.chat.conversations import Conversations
from model.chat.handover import build_agent_change
from model.chat.lookup import pending_request, session_in
from model.chat.rewinding import (
    ConversationPoint,
    Rewinding,
    RewoundConversation,
    require_idle,
)
from model.chat.tool_outputs import ToolOutputs
from model.chat.user_messages import (
    find_sent,
    make_checked_message,
    make_resolved_events,
)
from model.domain.events.base import Event
from model.domain.events.sessions import SessionUpdated
from model.domain.foreign_sessions import ResumeCommand
from model.domain.messages import SentMessage
from model.domain.sessions import Session
from model.limits.pauses import end_pause, move_pause
from model.state import State
from model.store.store import Store


class Chats:
    """What people do in the conversations of all sessions."""

    def __init__(
        self,
        store: Store,
        conversations: Conversations,
        backends: Mapping[str, Backend],
        outputs: ToolOutputs,
    ) -> None:
        self._store = store
        self._conversations = conversations
        self._rewinding = Rewinding(store, backends)
        self._outputs = outputs

    async def send(
        self,
        session_id: str,
        text: str,
        files: Iterable[str] = (),
        images: Iterable[str] = (),
        message_id: str | None = None,
        context: Callable[[], Awaitable[Path | None]] | None = None,
        send_at: float | None = None,
        *,
        steer: bool = False,
    ) -> SentMessage:
        """Accept a user message: run it at once, or queue it behind the current run.

        With `send_at`, in seconds since 1970, it is queued until then. With `steer`, one that is
        queued behind a turn is sent into it, if the agent can read it there. Relative paths are
        resolved against the session's worktree. If `message_id` was accepted before, return that
        message's status and send nothing. `context` is called in message order; the file it returns
        is attached unless the message is one of the agent's own commands.
        """
        conversation = self._conversations.of(session_id)
        async with conversation.answer_lock:
            sent = await find_sent(self._store, session_id, message_id) if message_id else None
            if sent is not None:
                return sent
            file = await context() if context is not None else None
            worktree = self._store.state.worktrees[self._session(session_id).worktree_id]
            if worktree.status == "creating" and worktree.setup_hold is None:
                # If the creation fails, the session is removed too: the client keeps the text.
                raise SpinneyError(
                    f"'{worktree.name}' is still being created. Try again in a moment.", "conflict"
                )
            root, attached = Path(worktree.path), (list(files), list(images))
            message = await asyncio.to_thread(
                make_checked_message, session_id, root, text, *attached, message_id, send_at
            )
            is_asked = conversation.has_open_request and send_at is None
            if is_asked and pending_request(self._session(session_id)).kind != "permission":
                await conversation.answers.discuss(message)
                return SentMessage(message_id=message.id, status="processing")
            if file is not None and not text.lstrip().startswith("/"):
                message = message.model_copy(update={"context": str(file)})
            return await self._conversations.accept(message.model_copy(update={"steered": steer}))

    async def stop(self, session_id: str) -> Session:
        """Stop a running, waiting or paused session; does nothing if it is idle."""
        session = self._session(session_id)
        if session.status == "paused":
            await self._store.accept(partial(_end_pause, session_id))
            session = self._session(session_id)
        if (
            session.waiting_for is not None
            and not self._conversations.of(session_id).has_open_request
        ):
            updates: dict[str, object] = {"status": "idle"}
            if session.request is not None and session.request.kind == "plan":
                updates["set_aside_plan"] = session.request.model_dump(mode="json")
            await self._store.accept(*make_resolved_events(session_id, **updates))
        elif session.is_active:
            await self._conversations.of(session_id).stop()
        return self._session(session_id)

    async def close_session(
        self, session_id: str, event: Event, keep: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        """End the session's agent and accept `event`, after which the session takes no messages.

        A message that is being accepted comes first, and its run is stopped. `keep` is awaited
        between the two, and raises if the event must not be accepted.
        """
        conversation = self._conversations.of(session_id)
        async with conversation.answer_lock:
            self._session(session_id)  # Another client may have deleted it meanwhile.
            await conversation.stop()
            await conversation.close()
            if keep is not None:
                await keep()
            await self._store.accept(partial(_end_pause, session_id), event)
            self._conversations.forget(session_id)

    async def change_agent(
        self, session_id: str, backend: str, updates: Mapping[str, object]
    ) -> None:
        """Switch the session to another agent and apply the other `updates`.

        A message that is being accepted comes first. Raises `conflict` if the session is active
        then.
        """
        async with self._conversations.of(session_id).answer_lock:
            session = self._session(session_id)
            if session.is_active:
                raise SpinneyError("Stop the session before it changes its agent.", "conflict")
            await self._conversations.end_agent(session_id)
            await self._store.accept(partial(_change_agent, session_id, backend, updates))

    async def rewind(self, session_id: str, *, keep: ConversationPoint) -> RewoundConversation:
        """Take back the messages after a point; the next one continues from there.

        The result brings them back. Raises `conflict` during a turn.
        """
        async with self._without_agent(session_id):
            return await self._rewinding.rewind(session_id, keep)

    async def restore(self, session_id: str, rewound: RewoundConversation) -> Session:
        """Bring back what was taken back. Raises `conflict` if something was said since."""
        async with self._without_agent(session_id):
            await self._rewinding.restore(session_id, rewound)
        return self._session(session_id)

    async def fork(
        self,
        session_id: str,
        point: ConversationPoint | None,
        worktree_id: str,
        name: str | None = None,
    ) -> Session:
        """Create a session in a worktree with a copy of this one's conversation, up to `point`.

        Without a point all of it is copied; raises `conflict` during a turn then. The session
        itself stays as it is.
        """
        async with self._conversations.of(session_id).answer_lock:
            fork = await self._rewinding.fork(session_id, point, worktree_id, name)
            await self._outputs.share(session_id, fork.id)
            return fork

    async def hand_over(self, session_id: str) -> ResumeCommand:
        """End the session's agent and return the command that goes on in its own screen.

        Raises `conflict` during a turn, and if its own screen cannot continue the conversation.
        """
        session = self._session(session_id)
        self._conversations.elsewhere.find_reader(session)
        end_idle = partial(self._conversations.end_idle_agents, session.backend)
        async with self._without_agent(session_id):
            return await self._conversations.elsewhere.hand_over(
                self._session(session_id), end_idle
            )

    @asynccontextmanager
    async def _without_agent(self, session_id: str) -> AsyncIterator[None]:
        """End the agent of an idle session; messages that are sent meanwhile come after this."""
        conversation = self._conversations.of(session_id)
        async with conversation.answer_lock:
            require_idle(self._store.state, session_id)
            await conversation.close()
            yield

    def _session(self, session_id: str) -> Session:
        return session_in(self._store.state, session_id)


def _end_pause(session_id: str, state: State) -> list[Event]:
    session = session_in(state, session_id)
    return [end_pause(session, is_stopped=True)] if session.pause is not None else []


def _change_agent(
    session_id: str, backend: str, updates: Mapping[str, object], state: State
) -> list[Event]:
    session = session_in(state, session_id)
    changes = {**updates, **build_agent_change(session, backend)}
    changed = session.model_copy(update={"backend": backend, "prompt": None})
    pause = move_pause(session, changed, state, time.time())
    changes["pause"] = pause.model_dump(mode="json") if pause else None
    return [SessionUpdated(session_id=session_id, updates=changes)]
