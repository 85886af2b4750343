"""All conversations: where a person's word finds the session's agent, running or not.

What was said is in the store before the agent hears it. A request (plan, question) outlives its
agent: when that is gone, the answer goes to a new one in words.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Literal

from model.backends.base import Agent, Backend
from model.base.errors import SpinneyError, session_not_found
from model.chat import texts
from model.chat.agent_messages import mark_stored
from model.chat.agent_pool import Room
from model.chat.agent_process import Launching
from model.chat.conversation import Conversation
from model.chat.handover import Handovers, change_of_agent
from model.chat.plan_approval import fresh_session, plan_overrides
from model.chat.tool_outputs import ToolOutputs
from model.chat.user_messages import (
    checked_message,
    checked_reason,
    named,
    resolved,
    started,
    user_message,
)
from model.domain.events import (
    Event,
    MessageQueued,
    MessageRemoved,
    SessionArchived,
    SessionCreated,
    SessionUpdated,
    WorktreeUpdated,
)
from model.domain.resources import (
    AgentCommand,
    Decision,
    Message,
    PlanBlock,
    QuestionBlock,
    Request,
    SentMessage,
    Session,
    WorkingMode,
)
from model.state import State
from model.store.store import Store


class Chats:
    """Every session's conversation, started when somebody first speaks in it."""

    def __init__(
        self,
        store: Store,
        backends: Mapping[str, Backend],
        launching: Launching,
        outputs: ToolOutputs,
        handovers: Handovers,
    ) -> None:
        self._handovers = handovers
        self._store = store
        self._backends = backends
        self._launching = launching
        self._outputs = outputs
        self.room = Room(lambda: store.state.preferences.agent_limit)
        """Where the agents' programs have their places."""
        self._conversations: dict[str, Conversation] = {}

    async def close(self) -> None:
        """End every agent."""
        closing = (conversation.close() for conversation in self._conversations.values())
        await asyncio.gather(*closing, return_exceptions=True)
        self._conversations.clear()

    # What people do ----------------------------------------------------------------------------

    async def send(
        self,
        session_id: str,
        text: str,
        files: Iterable[str] = (),
        images: Iterable[str] = (),
        message_id: str | None = None,
        context: Callable[[], Awaitable[Path | None]] | None = None,
    ) -> SentMessage:
        """Accept a user message: it runs at once, or waits behind the run.

        A relative path is one in the session's worktree. With a `message_id` that was accepted
        before, this tells how that message stands, and nothing is sent again. The file that
        `context` gives, in the messages' turn, goes with it unless it is a command of the agent's.
        """
        conversation = self._conversation(session_id)
        async with conversation.answering:
            if message_id is not None and (sent := await self._sent(session_id, message_id)):
                return sent
            file = await context() if context is not None else None
            worktree = self._store.state.worktrees[self._session(session_id).worktree_id]
            if worktree.status == "creating":
                # If that fails the session goes, too: who sends this keeps it until then.
                raise SpinneyError(
                    f"'{worktree.name}' is still being made; send this in a moment.", "conflict"
                )
            root = Path(worktree.path)
            message = await asyncio.to_thread(
                checked_message, session_id, root, text, list(files), list(images), message_id
            )
            if conversation.holds_request and self._request(session_id).kind != "permission":
                await conversation.discuss(message)
                return SentMessage(message_id=message.id, status="processing")
            if file is not None and not text.lstrip().startswith("/"):
                message = message.model_copy(update={"context": str(file)})
            return await self._queue_or_run(message)

    async def send_queued(self, session_id: str) -> Session:
        """Run what was queued behind a run that was stopped or failed; the rest follows it."""
        conversation = self._conversation(session_id)
        async with conversation.answering:
            session = self._session(session_id)
            if session.archived_at is not None:
                raise SpinneyError("This session is archived. Bring it back first.", "conflict")
            worktree = self._store.state.worktrees[session.worktree_id]
            if worktree.setup_hold is not None:
                free = worktree.model_copy(update={"setup_hold": None})
                await self._store.accept(WorktreeUpdated(worktree=free))
                self.send_held(worktree.id)
            conversation.send_queued()
        return self._session(session_id)

    def send_held(self, worktree_id: str) -> None:
        """Run what waited for a worktree's setup, in each of its sessions."""
        for session in self._store.state.sessions_of(worktree_id):
            if session.message_count == 0 and self._store.state.queued.get(session.id):
                self._conversation(session.id).send_queued()

    async def stop(self, session_id: str) -> Session:
        """End what runs or waits; stopping what does neither is no error."""
        session = self._session(session_id)
        if session.waiting_for is not None and not self._conversation(session_id).holds_request:
            updates: dict[str, object] = {"status": "idle"}
            if session.request is not None and session.request.kind == "plan":
                updates["set_aside_plan"] = session.request.model_dump(mode="json")
            await self._store.accept(*resolved(session_id, **updates))
        elif session.is_active:
            await self._conversation(session_id).stop()
        return self._session(session_id)

    async def approve(
        self, session_id: str, mode: WorkingMode, plan: str | None, request_id: str | None = None
    ) -> Session:
        """Carry the proposed plan out in `mode`, as edited in `plan` where that is given.

        One that was set aside is meant by its id. Raises `conflict` when it is no longer this
        plan that waits, or none.
        """
        conversation = self._conversation(session_id)
        async with conversation.answering:
            session, request = self._session(session_id), self._plan(session_id, request_id)
            updates = plan_overrides(self._store.state.preferences, mode, session)
            updates["set_aside_plan"] = None
            await self._store.accept(SessionUpdated(session_id=session_id, updates=updates))
            if updates.get("backend"):
                # Another agent carries it out: the one that proposed it is done.
                await self.end(session_id)
            elif conversation.holds_request:
                try:
                    await conversation.approve(mode, plan)
                except SpinneyError:
                    # It plans on, or has ended with its plan set aside.
                    del updates["set_aside_plan"]
                    before = {name: getattr(session, name) for name in updates}
                    await self._store.accept(SessionUpdated(session_id=session_id, updates=before))
                    raise
                return self._session(session_id)
            text = plan or request.plan
            await mark_stored(self._store, session_id, request, PlanBlock(text=text, approved=mode))
            await self._queue_or_run(user_message(session_id, texts.approved_plan(text)))
            return self._session(session_id)

    async def approve_afresh(
        self, session_id: str, mode: WorkingMode, plan: str | None, request_id: str | None = None
    ) -> Session:
        """Carry the plan out in a new session of the worktree; the old one is done.

        It is archived where the preference says so. Raises like `approve`, and nothing happened.
        """
        conversation = self._conversation(session_id)
        async with conversation.answering:
            session, request = self._session(session_id), self._plan(session_id, request_id)
            text, preferences = plan or request.plan, self._store.state.preferences
            others = self._store.state.sessions_of(session.worktree_id, archived=True)
            order = max(other.order for other in others) + 1
            fresh = fresh_session(preferences, mode, session, order)
            await self._store.accept(SessionCreated(session=fresh))
            await self._queue_or_run(user_message(fresh.id, texts.plan_from_elsewhere(text)))
            await conversation.stop()
            await conversation.close()
            await mark_stored(self._store, session_id, request, PlanBlock(text=text, approved=mode))
            done = resolved(session_id, status="idle", set_aside_plan=None)
            if preferences.close_original_on_clear_context:
                done.append(SessionArchived(session_id=session_id, archived_at=time.time()))
            await self._store.accept(*done)
        return self._session(fresh.id)

    async def answer(
        self, session_id: str, answer: str | Mapping[str, str], request_id: str | None = None
    ) -> Session:
        """Answer the pending questions: one text for all, or question text to answer text."""
        conversation = self._conversation(session_id)
        async with conversation.answering:
            request = self._request(session_id, "question", request_id)
            if isinstance(answer, str):
                answers = {question.question: answer for question in request.questions}
            else:
                answers = dict(answer)
            if not any(text.strip() for text in answers.values()):
                raise SpinneyError("Invalid field 'answer': it is empty")
            if conversation.holds_request:
                await conversation.answer(answers)
                return self._session(session_id)
            block = QuestionBlock(id=request.id, questions=request.questions, answer=answers)
            await mark_stored(self._store, session_id, request, block)
            await self._queue_or_run(user_message(session_id, texts.answered(answers)))
            return self._session(session_id)

    async def permit(
        self, session_id: str, request_id: str, decision: Decision, reason: str = ""
    ) -> Session:
        """Allow or deny what the agent wants to do; with a denial it reads the `reason`."""
        self._session(session_id)
        reason = checked_reason(decision, reason)
        await self._conversation(session_id).permit(request_id, decision, reason)
        return self._session(session_id)

    async def configure(self, session_id: str) -> None:
        """Let a running agent know of a changed mode, model or thinking level."""
        if session_id in self._conversations:
            await self._conversations[session_id].configure()

    def commands_told(self, worktree_id: str, backend: str) -> tuple[AgentCommand, ...]:
        """What an agent of this kind told of its own commands in the worktree."""
        sessions = self._store.state.sessions
        for key, conversation in reversed(self._conversations.items()):
            session = sessions.get(key)
            is_such = session and (session.worktree_id, session.backend) == (worktree_id, backend)
            if is_such and conversation.known.commands:
                return conversation.known.commands
        return ()

    async def put_away(self, session_id: str, told: Event) -> None:
        """End the session's agent and accept `told`, after which the session takes no message.

        One that is just being accepted comes before, and its run is ended.
        """
        conversation = self._conversation(session_id)
        async with conversation.answering:
            self._session(session_id)  # Somebody else may have deleted it meanwhile.
            await conversation.stop()
            await conversation.close()
            await self._store.accept(told)
            self._conversations.pop(session_id, None)

    async def change_agent(
        self, session_id: str, backend: str, updates: Mapping[str, object]
    ) -> None:
        """Give the session to another agent, and update what else is given with it.

        A message that is just being accepted comes before. Raises `conflict` where the session is
        at work then.
        """
        async with self._conversation(session_id).answering:
            session = self._session(session_id)
            if session.is_active:
                raise SpinneyError("Stop the session before it changes its agent.", "conflict")
            await self.end(session_id)
            changed = {**updates, **change_of_agent(session, backend)}
            await self._store.accept(SessionUpdated(session_id=session_id, updates=changed))

    async def end(self, session_id: str) -> None:
        """End the session's agent; the next message starts another."""
        conversation = self._conversations.pop(session_id, None)
        if conversation is not None:
            await conversation.stop()
            await conversation.close()

    async def take_back(self, session_id: str, message_id: str) -> None:
        """Remove a message that still waits in the queue."""
        waiting = self._store.state.queued.get(session_id, ())
        if all(message.id != message_id for message in waiting):
            raise SpinneyError("This message does not wait any more.", "not_found")
        taken_back = self._conversation(session_id).taken_back
        taken_back.add(message_id)
        try:
            await self._store.accept(MessageRemoved(session_id=session_id, message_id=message_id))
        finally:
            taken_back.discard(message_id)

    # How it is done ----------------------------------------------------------------------------

    async def _sent(self, session_id: str, message_id: str) -> SentMessage | None:
        """How a message stands that was accepted under this id, if one was."""
        known = await self._store.message(message_id)
        if known is None:
            return None
        if known.session_id != session_id or known.role != "user":
            raise SpinneyError("Invalid field 'messageId': another message has it", "conflict")
        waits = any(m.id == message_id for m in self._store.state.queued.get(session_id, ()))
        return SentMessage(message_id=message_id, status="sent" if waits else "processing")

    async def _queue_or_run(self, message: Message) -> SentMessage:
        status: Literal["sent", "processing"] = "sent"

        def accepted(state: State) -> list[Event]:
            nonlocal status
            session = session_in(state, message.session_id)
            busy = session.status == "running" or session.waiting_for == "permission"
            held = state.is_held(session)
            status = "sent" if busy or held else "processing"
            kept = message.model_copy(update={"status": "sent" if busy or held else "completed"})
            queued = MessageQueued(session_id=session.id, message=kept, status=status)
            events: list[Event] = [queued]
            if message.context is not None:
                given: dict[str, object] = {"has_context": True}
                events.append(SessionUpdated(session_id=session.id, updates=given))
            if held:
                return [*events, *named(state, session, message)]
            return events if busy else [*events, *started(state, session, message)]

        await self._store.accept(accepted)
        conversation = self._conversation(message.session_id)
        if status == "processing":
            conversation.start_turn(message)
        else:
            conversation.go_on()
        return SentMessage(message_id=message.id, status=status)

    def _conversation(self, session_id: str) -> Conversation:
        self._session(session_id)
        if session_id not in self._conversations:
            self._conversations[session_id] = Conversation(
                self._store,
                session_id,
                self._open,
                self._launching,
                self.room,
                self._outputs,
                self._handovers,
            )
        return self._conversations[session_id]

    async def _open(self, session: Session) -> Agent:
        backend = self._backends.get(session.backend)
        if backend is None:
            raise SpinneyError(
                f"Spinney cannot drive {self._launching.label_of(session.backend)} here. Choose"
                " another agent for the session.",
                "backend_unavailable",
            )
        launch = await self._launching.launch_of(session)
        if launch.note:
            self._conversation(session.id).note(launch.note)
        return await backend.open(launch)

    def _session(self, session_id: str) -> Session:
        return session_in(self._store.state, session_id)

    def _plan(self, session_id: str, request_id: str | None) -> Request:
        """The plan that may be approved: the one that waits, or by its id the one set aside."""
        session = self._session(session_id)
        aside = session.set_aside_plan
        if aside is None or aside.id != request_id:
            return self._request(session_id, "plan", request_id)
        if session.is_active:
            raise SpinneyError("The session is at work; approve the plan after it.", "conflict")
        return aside

    def _request(
        self, session_id: str, kind: str | None = None, request_id: str | None = None
    ) -> Request:
        request = self._session(session_id).request
        if request is None or kind not in (None, request.kind):
            raise SpinneyError(f"No {kind or 'request'} is waiting for an answer.", "conflict")
        if request_id not in (None, request.id):
            raise SpinneyError(f"This {request.kind} was replaced by a newer one.", "conflict")
        return request


def session_in(state: State, session_id: str) -> Session:
    """The session of this id. Raises `not_found`."""
    session = state.sessions.get(session_id)
    if session is None:
        raise session_not_found(session_id)
    return session
