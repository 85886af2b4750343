"""Queued messages and pauses: what people do to what waits in a session."""

from model.base.errors import SpinneyError
from model.chat.conversations import Conversations
from model.chat.lookup import session_in
from model.domain.events.base import Event
from model.domain.events.messages import MessageQueued, MessageRemoved
from model.domain.events.worktrees import WorktreeUpdated
from model.domain.messages import Message, SentMessage
from model.domain.sessions import Session
from model.state import State
from model.store.store import Store


class Queues:
    """The queues of all sessions: run, steer, change and remove what waits in them."""

    def __init__(self, store: Store, conversations: Conversations) -> None:
        self._store = store
        self._conversations = conversations

    async def send_queued(self, session_id: str) -> Session:
        """Run the first message queued behind a stopped or failed run; the others follow it."""
        conversation = self._conversations.of(session_id)
        async with conversation.answer_lock:
            session = self._session(session_id)
            if session.archived_at is not None:
                raise SpinneyError("This session is archived. Bring it back first.", "conflict")
            worktree = self._store.state.worktrees[session.worktree_id]
            if worktree.status == "creating":
                raise SpinneyError(
                    f"'{worktree.name}' is still being created. Try again in a moment.", "conflict"
                )
            if worktree.setup_hold is not None:
                free = worktree.model_copy(update={"setup_hold": None})
                await self._store.accept(WorktreeUpdated(worktree=free))
                self.send_held_messages(worktree.id)
            if session.pause is not None:
                await conversation.queue.resume()
            else:
                conversation.queue.send_queued()
        return self._session(session_id)

    def send_held_messages(self, worktree_id: str) -> None:
        """Run the messages that were held for a worktree's setup, in each of its sessions."""
        for session in self._store.state.sessions_of(worktree_id):
            if session.message_count == 0 and self._store.state.queued.get(session.id):
                self._conversations.of(session.id).queue.send_queued()

    async def resume(self, session_id: str) -> Session:
        """Let a paused session go on; does nothing if it is not paused. Raises `conflict`."""
        async with self._conversations.of(session_id).answer_lock:
            session = self._session(session_id)
            if session.pause is not None:
                if session.archived_at is not None:
                    raise SpinneyError("This session is archived. Bring it back first.", "conflict")
                await self._conversations.of(session_id).queue.resume()
        return self._session(session_id)

    async def send_due(self, session_id: str, message_id: str) -> None:
        """Send a queued message whose time has come; during a turn it waits for its end."""
        conversation = self._conversations.of(session_id)
        async with conversation.answer_lock:
            await conversation.queue.send_due(message_id)

    async def set_send_time(
        self, session_id: str, message_id: str, send_at: float | None
    ) -> Message:
        """Change when a queued message is sent; `None`: when it is its turn.

        Raises `not_found` if it is no longer queued.
        """
        conversation = self._conversations.of(session_id)
        changed: list[Message] = []

        def make_events(state: State) -> list[Event]:
            queued = state.queued.get(session_id, ())
            message = next((one for one in queued if one.id == message_id), None)
            if message is None or message_id in conversation.queue.being_removed:
                raise SpinneyError("This message is no longer queued.", "not_found")
            changed[:] = [message.model_copy(update={"send_at": send_at})]
            return [MessageQueued(session_id=session_id, message=changed[0], status="sent")]

        async with conversation.answer_lock:
            await self._store.accept(make_events)
            if send_at is None:
                await conversation.queue.send_due(message_id)
        return changed[0]

    async def steer_queued(self, session_id: str, message_id: str) -> SentMessage:
        """Send a queued message into the running turn. Raises `not_found` and `conflict`."""

        def make_events(state: State) -> list[Event]:
            session = session_in(state, session_id)
            queued = state.queued.get(session_id, ())
            found = next((each for each in queued if each.id == message_id), None)
            if found is None:
                raise SpinneyError("This message is no longer queued.", "not_found")
            if session.status != "running" and session.waiting_for != "permission":
                raise SpinneyError(
                    "No turn is running that could read this message. Send the queued messages.",
                    "conflict",
                )
            message = found.model_copy(update={"steered": True, "send_at": None})
            return [MessageQueued(session_id=session_id, message=message, status="sent")]

        conversation = self._conversations.of(session_id)
        async with conversation.answer_lock:
            await self._store.accept(make_events)
            conversation.steering.deliver()
            conversation.queue.start_next_if_idle()
        return SentMessage(message_id=message_id, status="sent")

    async def remove_queued(self, session_id: str, message_id: str) -> None:
        """Remove a message from the queue."""
        queued = self._store.state.queued.get(session_id, ())
        if all(message.id != message_id for message in queued):
            raise SpinneyError("This message is no longer queued.", "not_found")
        conversation = self._conversations.of(session_id)
        being_removed = conversation.queue.being_removed
        being_removed.add(message_id)
        try:
            await conversation.steering.take_back(message_id)
            await self._store.accept(MessageRemoved(session_id=session_id, message_id=message_id))
        finally:
            being_removed.discard(message_id)

    def _session(self, session_id: str) -> Session:
        return session_in(self._store.state, session_id)
