"""All conversations: routes what users do to the session's agent, whether it runs or not.

A message is in the store before the agent receives it. A request (plan, question) outlives its
agent: if the agent has exited, the answer is sent to a new one as text.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from model.backends.base import Agent, Backend
from model.base.errors import SpinneyError
from model.chat import texts
from model.chat.agent_messages import replace_stored_block
from model.chat.agent_pool import AgentPool
from model.chat.agent_process import LaunchResolver
from model.chat.conversation import Conversation
from model.chat.elsewhere import Elsewhere
from model.chat.handover import HandoverWriter, build_agent_change
from model.chat.lookup import approvable_plan, pending_request, session_in
from model.chat.plan_approval import make_plan_session, plan_overrides
from model.chat.rewinding import (
    ConversationPoint,
    Rewinding,
    RewoundConversation,
    require_idle,
)
from model.chat.tool_outputs import ToolOutputs
from model.chat.user_messages import (
    accept_message,
    check_answers,
    check_reason,
    find_sent,
    make_checked_message,
    make_resolved_events,
    make_user_message,
)
from model.domain.agent_commands import AgentCommand
from model.domain.events.base import Event
from model.domain.events.messages import MessageQueued, MessageRemoved
from model.domain.events.sessions import SessionArchived, SessionCreated, SessionUpdated
from model.domain.events.worktrees import WorktreeUpdated
from model.domain.foreign_sessions import ResumeCommand
from model.domain.messages import Message, PlanBlock, QuestionBlock, SentMessage
from model.domain.modes import WorkingMode
from model.domain.requests import Decision
from model.domain.sessions import Session
from model.limits.budgets import Budgets
from model.limits.pauses import end_pause, move_pause
from model.state import State
from model.store.store import Store
from model.turns.recorder import TurnRecorder
from model.usage.meter import UsageMeter


class Chats:
    """The conversations of all sessions, each created on first use."""

    def __init__(
        self,
        store: Store,
        backends: Mapping[str, Backend],
        launch_resolver: LaunchResolver,
        outputs: ToolOutputs,
        handovers: HandoverWriter,
        recorder: TurnRecorder,
        meter: UsageMeter,
        budgets: Budgets,
    ) -> None:
        self._handovers = handovers
        self._recorder = recorder
        self._meter = meter
        self._budgets = budgets
        self._store = store
        self._backends = backends
        self._launch_resolver = launch_resolver
        self._outputs = outputs
        self.agent_pool = AgentPool(lambda: store.state.preferences.agent_limit)
        """Limits how many agent processes run at once."""
        self._conversations: dict[str, Conversation] = {}
        self._rewinding = Rewinding(store, backends)
        self._elsewhere = Elsewhere(store, backends, launch_resolver)

    async def close(self) -> None:
        """Close all agents."""
        closing = (conversation.close() for conversation in self._conversations.values())
        await asyncio.gather(*closing, return_exceptions=True)
        self._conversations.clear()

    # User actions ------------------------------------------------------------------------------

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
        conversation = self._conversation(session_id)
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
                await conversation.discuss(message)
                return SentMessage(message_id=message.id, status="processing")
            if file is not None and not text.lstrip().startswith("/"):
                message = message.model_copy(update={"context": str(file)})
            return await self._queue_or_run(message.model_copy(update={"steered": steer}))

    async def send_queued(self, session_id: str) -> Session:
        """Run the first message queued behind a stopped or failed run; the others follow it."""
        conversation = self._conversation(session_id)
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
                self._conversation(session.id).queue.send_queued()

    async def resume(self, session_id: str) -> Session:
        """Let a paused session go on; does nothing if it is not paused. Raises `conflict`."""
        async with self._conversation(session_id).answer_lock:
            session = self._session(session_id)
            if session.pause is not None:
                if session.archived_at is not None:
                    raise SpinneyError("This session is archived. Bring it back first.", "conflict")
                await self._conversation(session_id).queue.resume()
        return self._session(session_id)

    async def send_due(self, session_id: str, message_id: str) -> None:
        """Send a queued message whose time has come; during a turn it waits for its end."""
        conversation = self._conversation(session_id)
        async with conversation.answer_lock:
            await conversation.queue.send_due(message_id)

    async def stop(self, session_id: str) -> Session:
        """Stop a running, waiting or paused session; does nothing if it is idle."""
        session = self._session(session_id)
        if session.status == "paused":
            await self._store.accept(partial(_end_pause, session_id))
            session = self._session(session_id)
        if session.waiting_for is not None and not self._conversation(session_id).has_open_request:
            updates: dict[str, object] = {"status": "idle"}
            if session.request is not None and session.request.kind == "plan":
                updates["set_aside_plan"] = session.request.model_dump(mode="json")
            await self._store.accept(*make_resolved_events(session_id, **updates))
        elif session.is_active:
            await self._conversation(session_id).stop()
        return self._session(session_id)

    async def approve(
        self, session_id: str, mode: WorkingMode, plan: str | None, request_id: str | None = None
    ) -> Session:
        """Carry out the proposed plan in `mode`, with the edited text of `plan` if given.

        A plan that was set aside is selected by its id. Raises `conflict` if this plan no longer
        waits for approval, or none does.
        """
        conversation = self._conversation(session_id)
        async with conversation.answer_lock:
            session = self._session(session_id)
            request = approvable_plan(session, request_id)
            updates = plan_overrides(self._store.state.preferences, mode, session)
            updates["set_aside_plan"] = None
            await self._store.accept(SessionUpdated(session_id=session_id, updates=updates))
            if updates.get("backend"):
                # Another agent carries out the plan: the one that proposed it is done.
                await self.end_agent(session_id)
            elif conversation.has_open_request:
                try:
                    await conversation.approve(mode, plan)
                except SpinneyError:
                    # It is still planning, or has exited with its plan set aside.
                    del updates["set_aside_plan"]
                    previous = {name: getattr(session, name) for name in updates}
                    restored = SessionUpdated(session_id=session_id, updates=previous)
                    await self._store.accept(restored)
                    raise
                return self._session(session_id)
            text = plan or request.plan
            await replace_stored_block(
                self._store, session_id, request, PlanBlock(text=text, approved=mode)
            )
            await self._queue_or_run(
                make_user_message(session_id, texts.format_approved_plan(text))
            )
            return self._session(session_id)

    async def approve_in_new_session(
        self, session_id: str, mode: WorkingMode, plan: str | None, request_id: str | None = None
    ) -> Session:
        """Carry out the plan in a new session of the same worktree; the old session is done.

        The old session is archived if the preference says so. Raises like `approve`, and nothing
        has changed then.
        """
        conversation = self._conversation(session_id)
        async with conversation.answer_lock:
            session = self._session(session_id)
            request = approvable_plan(session, request_id)
            text, preferences = plan or request.plan, self._store.state.preferences
            new_session = make_plan_session(self._store.state, mode, session)
            await self._store.accept(SessionCreated(session=new_session))
            await self._queue_or_run(
                make_user_message(new_session.id, texts.format_plan_for_new_session(text))
            )
            await conversation.stop()
            await conversation.close()
            await replace_stored_block(
                self._store, session_id, request, PlanBlock(text=text, approved=mode)
            )
            final_events = make_resolved_events(session_id, status="idle", set_aside_plan=None)
            if preferences.close_original_on_clear_context:
                final_events.append(SessionArchived(session_id=session_id, archived_at=time.time()))
            await self._store.accept(*final_events)
        return self._session(new_session.id)

    async def answer(
        self, session_id: str, answer: str | Mapping[str, str], request_id: str | None = None
    ) -> Session:
        """Answer the pending questions: one text for all, or a mapping of question to answer."""
        conversation = self._conversation(session_id)
        async with conversation.answer_lock:
            request = pending_request(self._session(session_id), "question", request_id)
            answers = check_answers(request, answer)
            if conversation.has_open_request:
                await conversation.answer(answers)
                return self._session(session_id)
            block = QuestionBlock(id=request.id, questions=request.questions, answer=answers)
            await replace_stored_block(self._store, session_id, request, block)
            await self._queue_or_run(make_user_message(session_id, texts.format_answers(answers)))
            return self._session(session_id)

    async def permit(
        self, session_id: str, request_id: str, decision: Decision, reason: str = ""
    ) -> Session:
        """Allow or deny a tool call; the agent receives the `reason` of a denial."""
        self._session(session_id)
        reason = check_reason(decision, reason)
        await self._conversation(session_id).permit(request_id, decision, reason)
        return self._session(session_id)

    async def configure(self, session_id: str) -> None:
        """Apply a changed mode, model or thinking level to a running agent."""
        if session_id in self._conversations:
            await self._conversations[session_id].configure()

    def reported_commands(self, worktree_id: str, backend: str) -> tuple[AgentCommand, ...]:
        """Return the commands that an agent of this backend last reported in the worktree."""
        sessions = self._store.state.sessions
        for key, conversation in reversed(self._conversations.items()):
            session = sessions.get(key)
            is_match = session and (session.worktree_id, session.backend) == (worktree_id, backend)
            if is_match and conversation.commands.commands:
                return conversation.commands.commands
        return ()

    async def close_session(
        self, session_id: str, event: Event, keep: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        """End the session's agent and accept `event`, after which the session takes no messages.

        A message that is being accepted comes first, and its run is stopped. `keep` is awaited
        between the two, and raises if the event must not be accepted.
        """
        conversation = self._conversation(session_id)
        async with conversation.answer_lock:
            self._session(session_id)  # Another client may have deleted it meanwhile.
            await conversation.stop()
            await conversation.close()
            if keep is not None:
                await keep()
            await self._store.accept(partial(_end_pause, session_id), event)
            self._conversations.pop(session_id, None)

    async def change_agent(
        self, session_id: str, backend: str, updates: Mapping[str, object]
    ) -> None:
        """Switch the session to another agent and apply the other `updates`.

        A message that is being accepted comes first. Raises `conflict` if the session is active
        then.
        """
        async with self._conversation(session_id).answer_lock:
            session = self._session(session_id)
            if session.is_active:
                raise SpinneyError("Stop the session before it changes its agent.", "conflict")
            await self.end_agent(session_id)
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
        async with self._conversation(session_id).answer_lock:
            fork = await self._rewinding.fork(session_id, point, worktree_id, name)
            await self._outputs.share(session_id, fork.id)
            return fork

    async def hand_over(self, session_id: str) -> ResumeCommand:
        """End the session's agent and return the command that goes on in its own screen.

        Raises `conflict` during a turn, and if its own screen cannot continue the conversation.
        """
        session = self._session(session_id)
        self._elsewhere.find_reader(session)
        end_idle = partial(self._end_idle_agents, session.backend)
        async with self._without_agent(session_id):
            return await self._elsewhere.hand_over(self._session(session_id), end_idle)

    async def _end_idle_agents(self, backend: str) -> None:
        """End the agents of a backend that do nothing now; the next message starts each again."""
        idle = [
            conversation
            for conversation in list(self._conversations.values())
            if conversation.session.backend == backend
            and not conversation.session.is_unfinished
            and not conversation.answer_lock.locked()
        ]
        await asyncio.gather(*(conversation.close() for conversation in idle))

    @asynccontextmanager
    async def _without_agent(self, session_id: str) -> AsyncIterator[None]:
        """End the agent of an idle session; messages that are sent meanwhile come after this."""
        conversation = self._conversation(session_id)
        async with conversation.answer_lock:
            require_idle(self._store.state, session_id)
            await conversation.close()
            yield

    async def end_agent(self, session_id: str) -> None:
        """End the session's agent; the next message starts a new one."""
        conversation = self._conversations.pop(session_id, None)
        if conversation is not None:
            await conversation.stop()
            await conversation.close()

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

        conversation = self._conversation(session_id)
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
        conversation = self._conversation(session_id)
        being_removed = conversation.queue.being_removed
        being_removed.add(message_id)
        try:
            await conversation.steering.take_back(message_id)
            await self._store.accept(MessageRemoved(session_id=session_id, message_id=message_id))
        finally:
            being_removed.discard(message_id)

    async def set_send_time(
        self, session_id: str, message_id: str, send_at: float | None
    ) -> Message:
        """Change when a queued message is sent; `None`: when it is its turn.

        Raises `not_found` if it is no longer queued.
        """
        conversation = self._conversation(session_id)
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

    # Implementation ----------------------------------------------------------------------------

    async def _queue_or_run(self, message: Message) -> SentMessage:
        await self._elsewhere.catch_up(self._session(message.session_id))
        status = await accept_message(self._store, message)
        conversation = self._conversation(message.session_id)
        if status == "processing":
            conversation.start_turn(message)
        else:
            conversation.steering.deliver()
            conversation.queue.start_next_if_idle()
        return SentMessage(message_id=message.id, status=status)

    def _conversation(self, session_id: str) -> Conversation:
        self._session(session_id)
        if session_id not in self._conversations:
            self._conversations[session_id] = Conversation(
                self._store,
                session_id,
                self._open_agent,
                self._launch_resolver,
                self.agent_pool,
                self._outputs,
                self._handovers,
                self._recorder,
                self._meter,
                self._budgets,
            )
        return self._conversations[session_id]

    async def _open_agent(self, session: Session) -> Agent:
        backend = self._backends.get(session.backend)
        if backend is None:
            raise SpinneyError(
                f"Spinney cannot run {self._launch_resolver.label_of(session.backend)} here. Choose"
                " another agent for the session.",
                "backend_unavailable",
            )
        launch = await self._launch_resolver.resolve_launch(session)
        if launch.note:
            self._conversation(session.id).note(launch.note)
        return await backend.open(launch)

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
