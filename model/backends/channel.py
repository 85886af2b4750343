"""One session's agent as the chat engine sees it: events on their way to the engine, and the state
of the turn. What keeps the promises of `base.Agent` that depend on no program: a turn that began
ends, a stop is never without effect, and who tells too fast waits.
"""

import asyncio
import logging
import math
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

from model.backends.base import (
    OUTPUT_KEPT,
    AgentEvent,
    TextDelta,
    ToolOutput,
    TurnFailed,
    TurnFinished,
)
from model.base.errors import SpinneyError

STOP_PATIENCE: Final = 3.0
"""Seconds to obey a stop before the program is killed."""

_EVENTS_LIMIT: Final = 1000
"""Events that wait for the engine; then the program's pipe is read no further."""

_JOINED_LIMIT: Final = 16 * 1024
"""Characters from which on a piece of text that waits takes no more to it."""

_log = logging.getLogger(__name__)


class Channel:
    """A session's events and its turn; for agents with a program of their own, see `AgentLink`."""

    def __init__(self, name: str) -> None:
        self.name = name
        """How people call the program."""
        self.turn_open = False
        self.stopping = False
        """Whether a person wants the open turn to end."""
        self._events = _EventQueue()
        self._turn_over = asyncio.Event()

    def events(self) -> AsyncIterator[AgentEvent]:
        """What was told, until the agent has ended."""
        return self._events.read()

    def begin_turn(self) -> None:
        """A turn is open from now until `TurnFinished` or `TurnFailed` is told."""
        self.turn_open = True
        self.stopping = False
        self._turn_over.clear()

    async def tell(self, event: AgentEvent) -> None:
        """Hand an event to the engine. An end where no turn is open is nobody's, and is dropped."""
        if isinstance(event, TurnFinished | TurnFailed):
            if not self.turn_open:
                return
            self.turn_open = False
            self._turn_over.set()
        await self._events.put(event)

    def let_go(self) -> None:
        """Nobody may listen any more, so what is still told waits for nobody."""
        self._events.lift_limit()

    def end(self) -> None:
        """Nothing more will be told."""
        self._events.lift_limit()
        self._events.end()

    async def stop_turn(
        self, ask: Callable[[], Awaitable[None]], kill: Callable[[], Awaitable[None]]
    ) -> None:
        """End the open turn: `ask` the program, and `kill` it where it does not obey in time."""
        if not self.turn_open:
            return
        self.stopping = True
        if not await self.obeys(ask, STOP_PATIENCE):
            _log.warning("%s did not stop and is killed", self.name)
            await kill()

    async def obeys(self, ask: Callable[[], Awaitable[None]], patience: float) -> bool:
        """Whether the turn is over within so many seconds after `ask`ing for it."""
        try:
            async with asyncio.timeout(patience):
                await ask()
                await self._turn_over.wait()
        except (TimeoutError, SpinneyError):
            return not self.turn_open
        return True


class _EventQueue:
    """Events on their way to the engine; whoever puts waits while too many are."""

    def __init__(self) -> None:
        self._waiting: deque[AgentEvent] = deque()
        self._limit: float = _EVENTS_LIMIT
        self._ended = False
        self._some = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()

    async def put(self, event: AgentEvent) -> None:
        if self._waiting and (joined := _joined(self._waiting[-1], event)):
            self._waiting[-1] = joined
            return
        while len(self._waiting) >= self._limit:
            self._room.clear()
            await self._room.wait()
        self._waiting.append(event)
        self._some.set()

    async def read(self) -> AsyncIterator[AgentEvent]:
        while True:
            while self._waiting:
                event = self._waiting.popleft()
                self._room.set()
                yield event
            if self._ended:
                return
            self._some.clear()
            await self._some.wait()

    def end(self) -> None:
        self._ended = True
        self._some.set()

    def lift_limit(self) -> None:
        """Nobody may read any more; let the rest in."""
        self._limit = math.inf
        self._room.set()


def _joined(earlier: AgentEvent, later: AgentEvent) -> AgentEvent | None:
    """Two pieces of one block, or of one tool's output, as one: each costs the engine a copy."""
    match earlier, later:
        case ToolOutput(), ToolOutput() if earlier.tool_use_id == later.tool_use_id:
            if later.is_whole:
                return later
            text = (earlier.text + later.text)[-OUTPUT_KEPT:]
            return ToolOutput(later.tool_use_id, text, earlier.is_whole)
        case TextDelta(), TextDelta() if (earlier.block, earlier.kind) == (
            later.block,
            later.kind,
        ) and len(earlier.text) < _JOINED_LIMIT:
            return TextDelta(earlier.block, earlier.text + later.text, earlier.kind)
        case _:
            return None
