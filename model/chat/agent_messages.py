"""The answers of a session's agent in the store: at most one is open, and each ends in one way."""

import time
import uuid
from typing import Final

from model.base.errors import ErrorType
from model.base.text import make_visible
from model.chat.message_builder import Answer
from model.chat.requests import record_session
from model.chat.texts import limit_ends_in
from model.chat.tool_outputs import ToolOutputs
from model.domain.events import BlockChanged, MessageCompleted, MessageFailed, MessageQueued
from model.domain.resources import Block, Message, Request, Usage
from model.store.store import Store

MOST_NOTES: Final = 12
"""Of a session's program, and in one answer; more is one gone wrong."""


class Answers:
    """Opens and ends the answers of one session."""

    def __init__(self, store: Store, session_id: str, outputs: ToolOutputs) -> None:
        self._store = store
        self._session_id = session_id
        self._outputs = outputs
        self.current: Answer | None = None
        """The one that is being given."""
        self._notes: list[str] = []
        """What the next one begins with."""
        self._noted: set[str] = set()
        self._repeated = 0
        """Notes of the open answer that are told each time."""

    def open(self) -> Answer:
        """The one that is being given, begun if there is none."""
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
            self.current = Answer(self._store, message, self._outputs)
            self._repeated = 0
            self._count_one()
            for text in self._notes:
                self.current.note(text)
            self._notes.clear()
        return self.current

    def note(self, text: str, *, each_time: bool = False) -> None:
        """Say something of the program in the open answer, or in the next one; else each once."""
        if each_time:
            self._repeated += 1
            if self._repeated > MOST_NOTES:
                return
        elif text in self._noted or len(self._noted) >= MOST_NOTES:
            return
        else:
            self._noted.add(text)
        if self.current is None:
            self._notes.append(text)
        else:
            self.current.note(text)

    def mark(self, request_id: str, **fields: object) -> None:
        """Say in the open answer how a request of it was answered."""
        if self.current is not None:
            self.current.mark(request_id, **fields)

    def deny(self, request_id: str, reason: str) -> None:
        """Show in the open answer that a person denied what a tool was to do, and why."""
        if self.current is not None:
            self.current.deny(request_id, reason)

    def allow(self, request_id: str) -> None:
        """Count the time of the tool that a person has allowed from now."""
        if self.current is not None:
            self.current.allow(request_id)

    def close(
        self, stop_reason: str, usage: Usage | None = None, *, may_propose: bool = False
    ) -> Request | None:
        """End the open answer, if there is one; the plan that it may propose in plain words."""
        answer, self.current = self.current, None
        if answer is None:
            return None
        answer.finish()
        proposed = answer.plan_in_words() if may_propose else None
        completed = MessageCompleted(
            message_id=answer.message_id,
            session_id=self._session_id,
            stop_reason=stop_reason,
            usage=usage or Usage(),
        )
        self._store.record(completed)
        return proposed

    def fail(
        self,
        error: str,
        error_type: ErrorType,
        usage: Usage | None,
        retry_after: float | None,
    ) -> str:
        """End the answer, also one that was not begun, with what went wrong, as people read it."""
        answer, self.current = self.open(), None
        answer.finish()
        error = make_visible(error)
        if retry_after:
            error = f"{error} {limit_ends_in(retry_after)}"
        failed = MessageFailed(
            message_id=answer.message_id,
            error=error,
            error_type=error_type,
            session_id=self._session_id,
            usage=usage,
            retry_after=retry_after,
        )
        self._store.record(failed)
        return error

    def split(self, message: Message) -> None:
        """Close the answer so far, put the user's message after it, go on in a new answer."""
        self.close("user_message")
        self._store.record(
            MessageQueued(session_id=self._session_id, message=message, status="processing")
        )
        self._count_one()
        self.open()

    def _count_one(self) -> None:
        count = self._store.state.sessions[self._session_id].message_count
        record_session(self._store, self._session_id, message_count=count + 1)


async def mark_stored(store: Store, session_id: str, request: Request, block: Block) -> None:
    """Note an answer in a message that is not open any more."""
    page = await store.messages(session_id)
    message = next((m for m in page.messages if m.id == request.message_id), None)
    for place, old in enumerate(message.content if message else ()):
        if old.type == block.type:
            store.record(
                BlockChanged(
                    session_id=session_id,
                    message_id=request.message_id,
                    content_index=place,
                    block=block,
                )
            )
