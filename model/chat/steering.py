"""Steering: messages that are sent into the running turn of a session's agent.

Such a message is queued like any other, so that it is never lost: it leaves the queue when the
agent reads it, and if the turn ends before that, it is the first to be sent next.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Sequence
from typing import Final

from model.backends import base
from model.base.errors import SpinneyError
from model.chat.agent_messages import AgentMessages
from model.chat.user_messages import make_prompt
from model.domain.events.messages import MessageQueued
from model.domain.messages import Message
from model.store.store import Store

NOT_SUPPORTED: Final = (
    "The agent cannot read a message during this turn. It is sent after the turn."
)
_GIVEN: Final = "The agent has this message already, so it cannot be taken back."

_log = logging.getLogger(__name__)


class Steering:
    """The messages that one session's agent gets during its turn, delivered in order."""

    def __init__(
        self,
        store: Store,
        session_id: str,
        messages: AgentMessages,
        being_removed: Collection[str],
        notify: Callable[[str], None],
    ) -> None:
        """`being_removed` are the ids of messages that must not be delivered any more."""
        self._store = store
        self._session_id = session_id
        self._messages = messages
        self._being_removed = being_removed
        self._notify = notify
        self._agent: base.Agent | None = None
        """The agent while it works on a turn's prompt."""
        self._delivered: set[str] = set()
        """Ids of messages that the agent has and has not read."""
        self._lock = asyncio.Lock()
        self._deliveries: set[asyncio.Task[None]] = set()

    def begin(self, agent: base.Agent) -> None:
        """Deliver from now on: the agent has its prompt."""
        self._agent = agent
        self.deliver()

    def end(self) -> None:
        """Stop delivering at the end of a turn; what was not read stays queued."""
        self._agent = None
        self._delivered.clear()

    def deliver(self) -> None:
        """Give the queued messages that steer to the agent, in the background."""
        if self._agent is not None and any(message.steered for message in self._queued):
            self._deliveries.add(task := asyncio.create_task(self._deliver(self._agent)))
            task.add_done_callback(self._deliveries.discard)

    def mark_taken(self, message_id: str) -> None:
        """Move a message into the conversation: the agent reads it now."""
        self._delivered.discard(message_id)
        message = next((each for each in self._queued if each.id == message_id), None)
        if message is not None:
            updates = {"timestamp": time.time(), "status": "completed"}
            self._messages.split(message.model_copy(update=updates))

    async def take_back(self, message_id: str) -> None:
        """Withdraw a message from the agent, if it has it. Raises `conflict` if it keeps it."""
        async with self._lock:  # a delivery may be in progress
            if self._agent is None or message_id not in self._delivered:
                return
            if not await self._agent.take_back(message_id):
                raise SpinneyError(_GIVEN, "conflict")
            self._delivered.discard(message_id)

    async def _deliver(self, agent: base.Agent) -> None:
        async with self._lock:
            for message in self._queued:
                if agent is self._agent and message.steered and self._is_free(message.id):
                    await self._deliver_one(agent, message)

    def _is_free(self, message_id: str) -> bool:
        is_queued = any(message.id == message_id for message in self._queued)
        return is_queued and message_id not in {*self._delivered, *self._being_removed}

    async def _deliver_one(self, agent: base.Agent, message: Message) -> None:
        self._delivered.add(message.id)
        try:
            prompt = await asyncio.to_thread(make_prompt, message, message.text)
            is_accepted = await agent.steer(message.id, prompt)
        except SpinneyError as error:
            _log.info("a message could not be sent into a turn: %s", error.message)
            is_accepted = False
        if not is_accepted and agent is self._agent:
            self._delivered.discard(message.id)
            if self._is_free(message.id):
                self._requeue(message)

    def _requeue(self, message: Message) -> None:
        """Show that the message waits for the end of the turn like any other."""
        plain = message.model_copy(update={"steered": False})
        self._store.record(MessageQueued(session_id=self._session_id, message=plain, status="sent"))
        self._notify(NOT_SUPPORTED)

    @property
    def _queued(self) -> Sequence[Message]:
        return self._store.state.queued.get(self._session_id, ())
