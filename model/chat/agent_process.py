"""The life of a session's agent program: started when needed, listened to, ended when idle."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Protocol

from model.backends import base
from model.backends.model_lists import ModelList
from model.base.errors import SpinneyError
from model.chat.agent_pool import Place, Room
from model.domain.resources import Session

IDLE_LIMIT = 15 * 60.0
"""Seconds without a turn after which the program is ended; the next message resumes it."""

END_PATIENCE = 7.0
"""Seconds that a program has to end, or to be there to be ended."""

QUICK_START = 2.0
"""Seconds from which on people are told that the program starts."""

_STARTING = "Its program is still starting."

_log = logging.getLogger(__name__)


class Launching(Protocol):
    """How a session's agent is started and set."""

    async def launch_of(self, session: Session) -> base.Launch:
        """What starts the session's agent. Raises `SpinneyError` where none can be."""
        ...

    def settings_of(self, session: Session) -> base.Settings:
        """How it is to work from its next turn on."""
        ...

    def directory_of(self, session: Session) -> tuple[int, int]:
        """Device and inode of the session's directory. Raises `SpinneyError` where it is gone."""
        ...

    def label_of(self, backend: str) -> str:
        """What people call the agents of a backend."""
        ...

    def note_models(self, session: Session, models: ModelList) -> None:
        """Remember the models that the session's agent has."""
        ...

    def note_mcp_servers(self, session: Session, names: Sequence[str]) -> None:
        """Remember the MCP servers that the session's agent knows."""
        ...


Opener = Callable[[Session], Coroutine[Any, Any, base.Agent]]
"""Starts the agent of a session. Raises `SpinneyError`."""


class Program:
    """At most one running agent. `hear` gets its events, `ended` why it ended by itself."""

    def __init__(
        self,
        room: Room,
        opener: Opener,
        hear: Callable[[base.AgentEvent], None],
        ended: Callable[[str], None],
    ) -> None:
        self._room = room
        self._opener = opener
        self._hear = hear
        self._ended = ended
        self._place: Place | None = None
        self._listener: asyncio.Task[None] | None = None
        self._endings: set[asyncio.Task[None]] = set()
        self._last_ending: asyncio.Task[None] | None = None
        self._idle_timer: asyncio.TimerHandle | None = None
        self._directory = (0, 0)
        self.agent: base.Agent | None = None
        """The running agent."""

    def agent_in(self, directory: tuple[int, int]) -> base.Agent | None:
        """The running agent, unless it was started in a directory that is not this one any more.

        A program whose directory was removed fails at everything, also when one of the same name
        is there again. While it lives there, no other directory gets the inode of its own.
        """
        if directory != self._directory:
            self.let_go()
        return self.agent

    async def start(
        self, session: Session, directory: tuple[int, int], tell: Callable[[str], None]
    ) -> base.Agent:
        """Start the agent, as soon as there is room for it; `tell` hears what takes time.

        Raises `SpinneyError`; cancelling leaves no program behind.
        """
        if self._last_ending is not None:
            # Two programs on one conversation would write over each other.
            await asyncio.wait([self._last_ending])
        place = await self._room.enter(self.let_go, tell)
        opening = asyncio.create_task(self._opener(session))
        slow = asyncio.get_running_loop().call_later(QUICK_START, tell, _STARTING)
        try:
            self.agent = await asyncio.shield(opening)
        except BaseException:
            self._run(self._close_when_open(opening, place))
            raise
        finally:
            slow.cancel()
        self._place, self._directory = place, directory
        self._listener = asyncio.create_task(self._listen(self.agent))
        return self.agent

    async def end(self) -> None:
        """End the program and all that it started; one that still starts is not waited for long."""
        self.let_go()
        if self._endings:
            _, late = await asyncio.wait(self._endings, timeout=END_PATIENCE)
            for ending in late:
                ending.cancel()

    def keep(self) -> None:
        """A turn begins: the program is not idle."""
        self._forget_timer()
        if self._place is not None:
            self._room.work(self._place)

    def rest(self) -> None:
        """A turn has ended: end the program unless another begins in time."""
        self._forget_timer()
        if self._place is not None:
            loop = asyncio.get_running_loop()
            self._idle_timer = loop.call_later(IDLE_LIMIT, self.let_go)
            self._room.rest(self._place)

    def let_go(self) -> None:
        """Let go of the program at once; it ends in the background."""
        self._forget_timer()
        agent, place, listener = self.agent, self._place, self._listener
        self.agent = self._place = self._listener = None
        if agent is not None and place is not None:
            self._last_ending = self._run(self._close(agent, place, listener))

    async def _close(
        self, agent: base.Agent, place: Place, listener: asyncio.Task[None] | None
    ) -> None:
        try:
            if listener is not None:
                listener.cancel()
                await asyncio.gather(listener, return_exceptions=True)
            await agent.close()
        finally:
            self._room.leave(place)

    async def _listen(self, agent: base.Agent) -> None:
        try:
            async for event in agent.events():
                if self.agent is agent:
                    self._hear(event)
            reason = "The agent's program ended in the middle of its answer."
        except Exception:
            _log.exception("an agent's adapter failed")
            reason = "The agent's program said something that Spinney could not follow."
        if self.agent is agent:
            self._listener = None
            self.let_go()
            self._ended(reason)

    async def _close_when_open(self, opening: "asyncio.Task[base.Agent]", place: Place) -> None:
        try:
            agent = await opening
        except BaseException as error:
            self._room.leave(place)
            if not isinstance(error, SpinneyError):
                raise
        else:
            await self._close(agent, place, None)

    def _forget_timer(self) -> None:
        if self._idle_timer is not None:
            self._idle_timer.cancel()
            self._idle_timer = None

    def _run(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._endings.add(task)
        task.add_done_callback(self._ended_by_now)
        return task

    def _ended_by_now(self, task: asyncio.Task[None]) -> None:
        self._endings.discard(task)
        if not task.cancelled() and task.exception() is not None:
            _log.error("an agent's program did not end as it should", exc_info=task.exception())
