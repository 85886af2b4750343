"""The lifecycle of a session's agent process: started on demand, read, closed when idle."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Protocol

from model.backends import agent_events, base
from model.backends.model_lists import ModelList
from model.base.errors import SpinneyError
from model.chat.agent_pool import AgentPool, Slot
from model.domain.sessions import Session

IDLE_TIMEOUT = 15 * 60.0
"""Seconds without a turn after which the process is closed; the next message resumes it."""

CLOSE_TIMEOUT = 7.0
"""Seconds that a process may take to exit, or to finish starting so that it can be closed."""

START_NOTICE_DELAY = 2.0
"""Seconds after which a notice says that the agent is still starting."""

_START_NOTICE = "The agent is still starting."

_log = logging.getLogger(__name__)


class LaunchResolver(Protocol):
    """Resolves how a session's agent is started and configured."""

    async def resolve_launch(self, session: Session) -> base.Launch:
        """Return the launch parameters. Raises `SpinneyError` if the agent cannot be started."""
        ...

    def resolve_settings(self, session: Session) -> base.Settings:
        """Return the settings that apply from the next turn on."""
        ...

    def identify_directory(self, session: Session) -> tuple[int, int]:
        """Return device and inode of the session's directory. Raises `SpinneyError` if missing."""
        ...

    def label_of(self, backend: str) -> str:
        """Return the display name of a backend's agents."""
        ...

    def note_models(self, session: Session, models: ModelList) -> None:
        """Save the list of models that the session's agent offers."""
        ...

    def note_mcp_servers(self, session: Session, names: Sequence[str]) -> None:
        """Save the names of the MCP servers that the session's agent knows."""
        ...


Opener = Callable[[Session], Coroutine[Any, Any, base.Agent]]
"""Starts a session's agent. Raises `SpinneyError`."""


class AgentProcess:
    """At most one running agent. Calls `on_event` for events, `on_exit` if it exits by itself."""

    def __init__(
        self,
        pool: AgentPool,
        opener: Opener,
        on_event: Callable[[agent_events.AgentEvent], None],
        on_exit: Callable[[str], None],
    ) -> None:
        self._pool = pool
        self._opener = opener
        self._on_event = on_event
        self._on_exit = on_exit
        self._slot: Slot | None = None
        self._reader: asyncio.Task[None] | None = None
        self._closing: set[asyncio.Task[None]] = set()
        self._last_closing: asyncio.Task[None] | None = None
        self._idle_timer: asyncio.TimerHandle | None = None
        self._directory_id = (0, 0)
        self.agent: base.Agent | None = None
        """The running agent."""

    def find_agent(self, directory_id: tuple[int, int]) -> base.Agent | None:
        """Return the running agent if it was started in this directory; detach it otherwise.

        A process whose directory was removed fails at everything, even after a directory of the
        same name was created. As long as it runs there, no other directory gets that inode.
        """
        if directory_id != self._directory_id:
            self.detach()
        return self.agent

    async def start(
        self, session: Session, directory_id: tuple[int, int], notify: Callable[[str], None]
    ) -> base.Agent:
        """Start the agent once the pool has a free slot; `notify` is called if that takes time.

        Raises `SpinneyError`; cancellation leaves no process running.
        """
        if self._last_closing is not None:
            # Two processes on one conversation would overwrite each other's data.
            await asyncio.wait([self._last_closing])
        slot = await self._pool.acquire(self.detach, notify)
        opening = asyncio.create_task(self._opener(session))
        notice_timer = asyncio.get_running_loop().call_later(
            START_NOTICE_DELAY, notify, _START_NOTICE
        )
        try:
            self.agent = await asyncio.shield(opening)
        except BaseException:
            self._close_in_background(self._close_once_started(opening, slot))
            raise
        finally:
            notice_timer.cancel()
        self._slot, self._directory_id = slot, directory_id
        self._reader = asyncio.create_task(self._read_events(self.agent))
        return self.agent

    async def close(self) -> None:
        """Close the process and its children; one that is still starting gets a limited time."""
        self.detach()
        if self._closing:
            _, unfinished = await asyncio.wait(self._closing, timeout=CLOSE_TIMEOUT)
            for closing in unfinished:
                closing.cancel()

    def mark_busy(self) -> None:
        """Mark the process as busy: a turn has started."""
        self._cancel_idle_timer()
        if self._slot is not None:
            self._pool.mark_busy(self._slot)

    def mark_idle(self) -> None:
        """Mark the process as idle: close it unless another turn starts in time."""
        self._cancel_idle_timer()
        if self._slot is not None:
            loop = asyncio.get_running_loop()
            self._idle_timer = loop.call_later(IDLE_TIMEOUT, self.detach)
            self._pool.mark_idle(self._slot)

    def detach(self) -> None:
        """Detach from the process at once and close it in the background."""
        self._cancel_idle_timer()
        agent, slot, reader = self.agent, self._slot, self._reader
        self.agent = self._slot = self._reader = None
        if agent is not None and slot is not None:
            self._last_closing = self._close_in_background(self._close(agent, slot, reader))

    async def _close(
        self, agent: base.Agent, slot: Slot, reader: asyncio.Task[None] | None
    ) -> None:
        try:
            if reader is not None:
                reader.cancel()
                await asyncio.gather(reader, return_exceptions=True)
            await agent.close()
        finally:
            self._pool.release(slot)

    async def _read_events(self, agent: base.Agent) -> None:
        try:
            async for event in agent.events():
                if self.agent is agent:
                    self._on_event(event)
            reason = "The agent exited in the middle of a response."
        except Exception:
            _log.exception("an agent adapter failed")
            reason = "The agent sent a message that Spinney could not process."
        if self.agent is agent:
            self._reader = None
            self.detach()
            self._on_exit(reason)

    async def _close_once_started(self, opening: "asyncio.Task[base.Agent]", slot: Slot) -> None:
        try:
            agent = await opening
        except BaseException as error:
            self._pool.release(slot)
            if not isinstance(error, SpinneyError):
                raise
        else:
            await self._close(agent, slot, None)

    def _cancel_idle_timer(self) -> None:
        if self._idle_timer is not None:
            self._idle_timer.cancel()
            self._idle_timer = None

    def _close_in_background(self, closing: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(closing)
        self._closing.add(task)
        task.add_done_callback(self._on_closed)
        return task

    def _on_closed(self, task: asyncio.Task[None]) -> None:
        self._closing.discard(task)
        if not task.cancelled() and task.exception() is not None:
            _log.error("an agent process could not be closed cleanly", exc_info=task.exception())
