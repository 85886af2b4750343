"""A session's event channel to the chat engine, and the state of its turn.

Program-independent guarantees of `base.Agent`: every turn ends, a stop always takes effect, and
producers are back-pressured.
"""

import asyncio
import logging
import math
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

from model.backends.agent_events import (
    OUTPUT_LIMIT,
    AgentEvent,
    TextDelta,
    ToolOutput,
    TurnFailed,
    TurnFinished,
)
from model.base.errors import SpinneyError

STOP_TIMEOUT: Final = 3.0
"""Seconds that a program gets to stop its turn before it is killed."""

_EVENTS_LIMIT: Final = 1000
"""Maximum number of queued events; when it is reached, the program's pipe is no longer read."""

_MERGE_LIMIT: Final = 16 * 1024
"""Characters beyond which a queued piece of text is not merged with the next one."""

_log = logging.getLogger(__name__)


class Channel:
    """A session's events and its turn. `ProcessChannel` adds a process of its own."""

    def __init__(self, name: str) -> None:
        self.name = name
        """The program's display name."""
        self.is_turn_open = False
        self.is_stopping = False
        """Whether the user stopped the open turn."""
        self._events = _EventQueue()
        self._turn_ended = asyncio.Event()

    def events(self) -> AsyncIterator[AgentEvent]:
        """The emitted events, until the agent has ended."""
        return self._events.read()

    def begin_turn(self) -> None:
        """Open a turn; it stays open until `TurnFinished` or `TurnFailed` is emitted."""
        self.is_turn_open = True
        self.is_stopping = False
        self._turn_ended.clear()

    async def emit(self, event: AgentEvent) -> None:
        """Queue an event for the engine. The end of a turn is dropped if no turn is open."""
        if isinstance(event, TurnFinished | TurnFailed):
            if not self.is_turn_open:
                return
            self.is_turn_open = False
            self._turn_ended.set()
        await self._events.put(event)

    def lift_event_limit(self) -> None:
        """Stop back-pressure: the engine may have stopped reading, and `emit` must not block."""
        self._events.lift_limit()

    def end(self) -> None:
        """End the event stream."""
        self._events.lift_limit()
        self._events.end()

    async def stop_turn(
        self, interrupt: Callable[[], Awaitable[None]], kill: Callable[[], Awaitable[None]]
    ) -> None:
        """End the open turn: `interrupt` the program, and `kill` it if it does not stop in time."""
        if not self.is_turn_open:
            return
        self.is_stopping = True
        if not await self.request_stop(interrupt, STOP_TIMEOUT):
            _log.warning("%s did not stop; killing it", self.name)
            await kill()

    async def request_stop(self, interrupt: Callable[[], Awaitable[None]], timeout: float) -> bool:
        """`interrupt` the program; return whether the turn ended within `timeout` seconds."""
        try:
            async with asyncio.timeout(timeout):
                await interrupt()
                await self._turn_ended.wait()
        except (TimeoutError, SpinneyError):
            return not self.is_turn_open
        return True


class _EventQueue:
    """A bounded queue of events for the engine; `put` blocks while it is full."""

    def __init__(self) -> None:
        self._queue: deque[AgentEvent] = deque()
        self._limit: float = _EVENTS_LIMIT
        self._ended = False
        self._not_empty = asyncio.Event()
        self._not_full = asyncio.Event()
        self._not_full.set()

    async def put(self, event: AgentEvent) -> None:
        if self._queue and (merged := _merge(self._queue[-1], event)):
            self._queue[-1] = merged
            return
        while len(self._queue) >= self._limit:
            self._not_full.clear()
            await self._not_full.wait()
        self._queue.append(event)
        self._not_empty.set()

    async def read(self) -> AsyncIterator[AgentEvent]:
        while True:
            while self._queue:
                event = self._queue.popleft()
                self._not_full.set()
                yield event
            if self._ended:
                return
            self._not_empty.clear()
            await self._not_empty.wait()

    def end(self) -> None:
        self._ended = True
        self._not_empty.set()

    def lift_limit(self) -> None:
        """Accept any number of events: the reader may be gone."""
        self._limit = math.inf
        self._not_full.set()


def _merge(earlier: AgentEvent, later: AgentEvent) -> AgentEvent | None:
    """Merge two pieces of one block or of one tool's output: each event costs the engine a copy."""
    match earlier, later:
        case ToolOutput(), ToolOutput() if earlier.tool_use_id == later.tool_use_id:
            if later.is_whole:
                return later
            text = (earlier.text + later.text)[-OUTPUT_LIMIT:]
            return ToolOutput(later.tool_use_id, text, earlier.is_whole)
        case TextDelta(), TextDelta() if (earlier.block, earlier.kind) == (
            later.block,
            later.kind,
        ) and len(earlier.text) < _MERGE_LIMIT:
            return TextDelta(earlier.block, earlier.text + later.text, earlier.kind)
        case _:
            return None
