"""What all agents that are programs have in common: a pump from its lines to the chat engine's
events, the state of the turn, and an end of everything.

An adapter gives it a function for the lines; the link keeps the promises of `base.Agent` that do
not depend on a protocol: a turn that began ends, a stop is never without effect, nothing is left.
"""

import asyncio
import logging
import math
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, Final

from model.backends.base import AgentEvent, TextDelta, TurnFailed, TurnFinished
from model.backends.process import AgentProcess, Said, Unreadable
from model.errors import SpinneyError
from model.resources import Usage

STOP_PATIENCE: Final = 3.0
"""Seconds to obey a stop before the program is killed."""

CLOSE_PATIENCE: Final = 1.0
"""Seconds to obey the stop that goes before closing."""

_EVENTS_LIMIT: Final = 1000
"""Events that wait for the engine; then the program's pipe is read no further."""

_JOINED_LIMIT: Final = 16 * 1024
"""Characters from which on a piece of text that waits takes no more to it."""

_log = logging.getLogger(__name__)

OnLine = Callable[[Said | Unreadable], Awaitable[None]]


class AgentLink:
    """One running program and its turn."""

    def __init__(self, name: str, process: AgentProcess, on_line: OnLine) -> None:
        self.name = name
        """How people call the program."""
        self.process = process
        self.turn_open = False
        self.stopping = False
        """Whether a person wants the open turn to end."""
        self.ended = asyncio.Event()
        """Set when the program says nothing any more."""
        self._on_line = on_line
        self._events = _EventQueue()
        self._turn_over = asyncio.Event()
        self._pump = asyncio.create_task(self._read())

    def events(self) -> AsyncIterator[AgentEvent]:
        """What was told, until the program has ended."""
        return self._events.read()

    def begin_turn(self) -> None:
        """A turn is open from now until `TurnFinished` or `TurnFailed` is told."""
        self.turn_open = True
        self.stopping = False
        self._turn_over.clear()

    async def start_turn(self, prompt: Mapping[str, Any]) -> None:
        """Begin a turn by saying `prompt`. Raises `backend_error` when nobody listens."""
        self.begin_turn()
        try:
            await self.write(prompt)
        except SpinneyError:
            if not self.turn_open:
                return  # the program's end was told as the turn's end already
            self.turn_open = False
            raise

    async def tell(self, event: AgentEvent) -> None:
        """Hand an event to the engine. An end where no turn is open is nobody's, and is dropped."""
        if isinstance(event, TurnFinished | TurnFailed):
            if not self.turn_open:
                return
            self.turn_open = False
            self._turn_over.set()
        await self._events.put(event)

    async def write(self, value: Mapping[str, Any]) -> None:
        """Say one JSON line to the program."""
        await self.process.write(value)

    async def stop(self, ask: Callable[[], Awaitable[None]]) -> None:
        """End the open turn: `ask` the program, and kill it where it does not obey."""
        if not self.turn_open:
            return
        self.stopping = True
        if not await self._asked_in_time(ask, STOP_PATIENCE):
            _log.warning("%s did not stop and is killed", self.name)
            await self.process.kill()

    async def close(self, ask: Callable[[], Awaitable[None]]) -> None:
        """End the program and all that it started; an open turn is stopped first."""
        if self.turn_open and self.process.returncode is None:
            self.stopping = True
            await self._asked_in_time(ask, CLOSE_PATIENCE)
        await self.process.close()
        self._events.lift_limit()
        await self._pump

    async def _asked_in_time(self, ask: Callable[[], Awaitable[None]], patience: float) -> bool:
        try:
            async with asyncio.timeout(patience):
                await ask()
                await self._turn_over.wait()
        except (TimeoutError, SpinneyError):
            return not self.turn_open
        return True

    async def _read(self) -> None:
        try:
            async for line in self.process.lines():
                try:
                    await self._on_line(line)
                except SpinneyError as error:
                    _log.warning("%s: %s", self.name, error.message)
                except Exception:  # one line that we cannot follow must not end the conversation
                    _log.exception("%s said something that could not be followed", self.name)
        finally:
            self.ended.set()
            await self._end_turn()
            self._events.end()

    async def _end_turn(self) -> None:
        if self.stopping:
            await self.tell(TurnFinished("stopped", Usage()))
        elif self.turn_open:
            # Its last words may still be on their way to the tail.
            await self.process.settled()
            await self.tell(TurnFailed(self.process.ending(self.name), "backend_error"))


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


def _joined(earlier: AgentEvent, later: AgentEvent) -> TextDelta | None:
    """Two pieces of one block as one: each costs the engine a copy of the block so far."""
    match earlier, later:
        case TextDelta(), TextDelta() if (earlier.block, earlier.kind) == (
            later.block,
            later.kind,
        ) and len(earlier.text) < _JOINED_LIMIT:
            return TextDelta(earlier.block, earlier.text + later.text, earlier.kind)
        case _:
            return None
