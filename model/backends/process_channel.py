"""The channel of an agent with a program of its own: a pump from the program's lines to the chat
engine's events, and an end of everything.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from model.backends.base import TurnFailed, TurnFinished
from model.backends.channel import Channel
from model.backends.process import AgentProcess, Said, Unreadable
from model.backends.traffic import Record
from model.base.errors import SpinneyError
from model.domain.resources import Usage

CLOSE_PATIENCE: Final = 1.0
"""Seconds to obey the stop that goes before closing."""

_log = logging.getLogger(__name__)

OnLine = Callable[[Said | Unreadable], Awaitable[None]]


class AgentLink(Channel):
    """One running program and its turn; the adapter gives it a function for the lines."""

    def __init__(self, name: str, process: AgentProcess, on_line: OnLine, record: Record) -> None:
        super().__init__(name)
        self.process = process
        self.ended = asyncio.Event()
        """Set when the program says nothing any more."""
        self._on_line = on_line
        self._record = record
        self._pump = asyncio.create_task(self._read())

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

    async def write(self, value: Mapping[str, Any]) -> None:
        """Say one JSON line to the program."""
        self._record("\u2192", value)
        await self.process.write(value)

    async def stop(self, ask: Callable[[], Awaitable[None]]) -> None:
        """End the open turn: `ask` the program, and kill it where it does not obey."""
        await self.stop_turn(ask, self.process.kill)

    async def close(self, ask: Callable[[], Awaitable[None]]) -> None:
        """End the program and all that it started; an open turn is stopped first."""
        if self.turn_open and self.process.returncode is None:
            self.stopping = True
            await self.obeys(ask, CLOSE_PATIENCE)
        await self.process.close()
        self._events.lift_limit()
        await self._pump

    async def _read(self) -> None:
        try:
            async for line in self.process.lines():
                self._record("\u2190", line.raw)
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
