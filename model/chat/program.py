"""The life of a session's agent program: started when needed, listened to, ended when idle."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from model.backends import base
from model.resources import Session

IDLE_LIMIT = 15 * 60.0
"""Seconds without a turn after which the program is ended; the next message resumes it."""

_log = logging.getLogger(__name__)

Opener = Callable[[Session], Coroutine[Any, Any, base.Agent]]
"""Starts the agent of a session. Raises `SpinneyError`."""


class Program:
    """At most one running agent. `hear` gets its events, `ended` why it ended by itself."""

    def __init__(
        self,
        opener: Opener,
        hear: Callable[[base.AgentEvent], None],
        ended: Callable[[str], None],
    ) -> None:
        self._opener = opener
        self._hear = hear
        self._ended = ended
        self._listener: asyncio.Task[None] | None = None
        self._closing: set[asyncio.Task[Any]] = set()
        self._idle_timer: asyncio.TimerHandle | None = None
        self.agent: base.Agent | None = None
        """The running agent."""

    async def start(self, session: Session) -> base.Agent:
        """Start the agent. Raises `SpinneyError`; cancelling leaves no program behind."""
        opening = asyncio.create_task(self._opener(session))
        try:
            self.agent = await asyncio.shield(opening)
        except asyncio.CancelledError:
            self._run(_close_when_open(opening))
            raise
        self._listener = asyncio.create_task(self._listen(self.agent))
        return self.agent

    async def end(self) -> None:
        """End the program and all that it started."""
        self.keep()
        agent, self.agent = self.agent, None
        if self._listener is not None:
            self._listener.cancel()
            await asyncio.gather(self._listener, return_exceptions=True)
            self._listener = None
        if agent is not None:
            await agent.close()
        others = self._closing - {asyncio.current_task()}
        await asyncio.gather(*others, return_exceptions=True)

    def keep(self) -> None:
        """A turn begins: the program is not idle."""
        if self._idle_timer is not None:
            self._idle_timer.cancel()
            self._idle_timer = None

    def rest(self) -> None:
        """A turn has ended: end the program unless another begins in time."""
        self.keep()
        loop = asyncio.get_running_loop()
        self._idle_timer = loop.call_later(IDLE_LIMIT, lambda: self._run(self.end()))

    async def _listen(self, agent: base.Agent) -> None:
        try:
            async for event in agent.events():
                self._hear(event)
            reason = "The agent's program ended in the middle of its answer."
        except Exception:
            _log.exception("an agent's adapter failed")
            reason = "The agent's program said something that Spinney could not follow."
        if self.agent is agent:
            self.agent = None
            self._ended(reason)
            await agent.close()

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)


async def _close_when_open(opening: "asyncio.Task[base.Agent]") -> None:
    try:
        agent = await opening
    except Exception:
        return
    await agent.close()
