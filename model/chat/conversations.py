"""The conversations of all sessions, with their agents or without."""

import asyncio
from collections.abc import Mapping

from model.backends.base import Agent, Backend
from model.base.errors import SpinneyError
from model.chat.agent_pool import AgentPool
from model.chat.agent_process import LaunchResolver
from model.chat.conversation import Conversation
from model.chat.elsewhere import Elsewhere
from model.chat.handover import HandoverWriter
from model.chat.lookup import session_in
from model.chat.tool_outputs import ToolOutputs
from model.chat.user_messages import accept_message
from model.domain.agent_commands import AgentCommand
from model.domain.messages import Message, SentMessage
from model.domain.sessions import Session
from model.limits.budgets import Budgets
from model.store.store import Store
from model.turns.recorder import TurnRecorder
from model.usage.meter import UsageMeter


class Conversations:
    """The conversations, each created on first use."""

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
        self.elsewhere = Elsewhere(store, backends, launch_resolver)
        """Hands conversations over to the programs' own screens."""
        self._conversations: dict[str, Conversation] = {}

    async def close(self) -> None:
        """Close all agents."""
        closing = (conversation.close() for conversation in self._conversations.values())
        await asyncio.gather(*closing, return_exceptions=True)
        self._conversations.clear()

    def of(self, session_id: str) -> Conversation:
        """Return a session's conversation. Raises `not_found`."""
        session_in(self._store.state, session_id)
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

    async def accept(self, message: Message) -> SentMessage:
        """Save a message, and run it at once or queue it behind what runs."""
        await self.elsewhere.catch_up(session_in(self._store.state, message.session_id))
        status = await accept_message(self._store, message)
        conversation = self.of(message.session_id)
        if status == "processing":
            conversation.start_turn(message)
        else:
            conversation.steering.deliver()
            conversation.queue.start_next_if_idle()
        return SentMessage(message_id=message.id, status=status)

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

    async def end_agent(self, session_id: str) -> None:
        """End the session's agent; the next message starts a new one."""
        conversation = self._conversations.pop(session_id, None)
        if conversation is not None:
            await conversation.stop()
            await conversation.close()

    async def end_idle_agents(self, backend: str) -> None:
        """End the agents of a backend that do nothing now; the next message starts each again."""
        idle = [
            conversation
            for conversation in list(self._conversations.values())
            if conversation.session.backend == backend
            and not conversation.session.is_unfinished
            and not conversation.answer_lock.locked()
        ]
        await asyncio.gather(*(conversation.close() for conversation in idle))

    def forget(self, session_id: str) -> None:
        """Drop a conversation whose agent has ended."""
        self._conversations.pop(session_id, None)

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
            self.of(session.id).note(launch.note)
        return await backend.open(launch)
