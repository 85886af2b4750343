"""An agent's messages in the store: at most one is open, and each is closed exactly once."""

import time
import uuid
from typing import Final

from model.backends import agent_events
from model.base.errors import ErrorType
from model.base.text import make_visible
from model.chat.message_builder import MessageBuilder
from model.chat.requests import record_session
from model.chat.texts import describe_limit_end
from model.chat.tool_outputs import ToolOutputs
from model.domain.events.messages import (
    BlockChanged,
    MessageCompleted,
    MessageFailed,
    MessageQueued,
)
from model.domain.messages import Block, Message
from model.domain.requests import Request
from model.domain.usage import Usage
from model.store.store import Store

MAX_NOTES: Final = 12
"""Notes per session, and repeated notes per message; more means that the program is broken."""


class AgentMessages:
    """Opens and closes the assistant messages of one session."""

    def __init__(self, store: Store, session_id: str, outputs: ToolOutputs) -> None:
        self._store = store
        self._session_id = session_id
        self._outputs = outputs
        self.current: MessageBuilder | None = None
        """The open message."""
        self._earlier: list[MessageBuilder] = []
        """The closed messages of this turn, before messages of the user."""
        self._pending_notes: list[str] = []
        """Notes to start the next message with."""
        self._known_notes: set[str] = set()
        self._repeated_count = 0
        """Notes in the open message that are repeated each time they occur."""

    def open(self) -> MessageBuilder:
        """Return the open message; start one if there is none."""
        if self.current is None:
            session = self._store.state.sessions[self._session_id]
            message = Message(
                id=str(uuid.uuid4()),
                role="assistant",
                timestamp=time.time(),
                session_id=session.id,
                status="processing",
                model=session.answering_model or session.model,
                backend=session.backend,
                execution_mode=session.execution_mode,
            )
            self.current = MessageBuilder(self._store, message, self._outputs)
            self._repeated_count = 0
            self._increment_message_count()
            for text in self._pending_notes:
                self.current.note(text)
            self._pending_notes.clear()
        return self.current

    def note(self, text: str, *, each_time: bool = False) -> None:
        """Add a note to the open message or the next one; each text once, unless `each_time`."""
        if each_time:
            self._repeated_count += 1
            if self._repeated_count > MAX_NOTES:
                return
        elif text in self._known_notes or len(self._known_notes) >= MAX_NOTES:
            return
        else:
            self._known_notes.add(text)
        if self.current is None:
            self._pending_notes.append(text)
        else:
            self.current.note(text)

    def apply_event(self, event: agent_events.ContentEvent) -> None:
        """Apply an event to the open message, or to the earlier one in which its tool began."""
        current = self.open()
        owners = (each for each in self._earlier if each.takes_late(event))
        next(owners, current).apply_event(event)

    def mark(self, request_id: str, **fields: object) -> None:
        """Mark in its message how a request of this turn was answered."""
        for builder in self._of_turn:
            builder.mark(request_id, **fields)

    def deny(self, request_id: str, reason: str) -> None:
        """Show on its tool call that the user denied it, and the reason."""
        for builder in self._of_turn:
            builder.deny(request_id, reason)

    def allow(self, request_id: str) -> None:
        """Start the timer of a tool that the user has just allowed."""
        for builder in self._of_turn:
            builder.allow(request_id)

    def close(
        self, stop_reason: str, usage: Usage | None = None, *, may_propose: bool = False
    ) -> Request | None:
        """Close the open message, if any; return the plan that its text proposes, if allowed."""
        self._earlier.clear()
        return self._close_current(stop_reason, usage or Usage(), may_propose=may_propose)

    def _close_current(
        self, stop_reason: str, usage: Usage, *, may_propose: bool = False
    ) -> Request | None:
        builder, self.current = self.current, None
        if builder is None:
            return None
        builder.finish()
        plan = builder.extract_plan() if may_propose else None
        builder.close()
        completed = MessageCompleted(
            message_id=builder.message_id,
            session_id=self._session_id,
            stop_reason=stop_reason,
            usage=usage,
        )
        self._store.record(completed)
        return plan

    def fail(
        self,
        error: str,
        error_type: ErrorType,
        usage: Usage | None,
        retry_after: float | None,
    ) -> str:
        """Close the message, opening one if needed, with an error; return the displayed text."""
        builder, self.current = self.open(), None
        self._earlier.clear()
        builder.finish()
        error = make_visible(error)
        if retry_after:
            error = f"{error} {describe_limit_end(retry_after)}"
        failed = MessageFailed(
            message_id=builder.message_id,
            error=error,
            error_type=error_type,
            session_id=self._session_id,
            usage=usage,
            retry_after=retry_after,
        )
        self._store.record(failed)
        return error

    def split(self, message: Message) -> None:
        """Close the open message, record the user's message after it and open a new one."""
        earlier = self._of_turn
        self._close_current("user_message", Usage())
        self._earlier = earlier
        self._store.record(
            MessageQueued(session_id=self._session_id, message=message, status="processing")
        )
        self._increment_message_count()
        self.open()

    @property
    def _of_turn(self) -> list[MessageBuilder]:
        return [*self._earlier, *([self.current] if self.current is not None else [])]

    def _increment_message_count(self) -> None:
        count = self._store.state.sessions[self._session_id].message_count
        record_session(self._store, self._session_id, message_count=count + 1)


async def replace_stored_block(
    store: Store, session_id: str, request: Request, block: Block
) -> None:
    """Replace a block in a message that is already closed."""
    page = await store.messages(session_id)
    message = next((m for m in page.messages if m.id == request.message_id), None)
    for index, old in enumerate(message.content if message else ()):
        if old.type == block.type:
            store.record(
                BlockChanged(
                    session_id=session_id,
                    message_id=request.message_id,
                    content_index=index,
                    block=block,
                )
            )
