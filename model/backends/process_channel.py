"""The channel of an agent that has a process of its own: passes the program's lines to the adapter
and ends the turn and the event stream with the process.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from model.backends.agent_events import TurnFailed, TurnFinished
from model.backends.channel import Channel
from model.backends.process import AgentProcess, InvalidLine, JsonLine
from model.backends.traffic import TrafficRecorder
from model.base.errors import SpinneyError
from model.domain.usage import Usage

CLOSE_TIMEOUT: Final = 1.0
"""Seconds to stop the open turn before closing."""

_log = logging.getLogger(__name__)

OnLine = Callable[[JsonLine | InvalidLine], Awaitable[None]]


class ProcessChannel(Channel):
    """One running program and its turn; `on_line` is the adapter's handler for its lines."""

    def __init__(
        self, name: str, process: AgentProcess, on_line: OnLine, recorder: TrafficRecorder
    ) -> None:
        super().__init__(name)
        self.process = process
        self.ended = asyncio.Event()
        """Set once the program's output has ended."""
        self._on_line = on_line
        self._record = recorder
        self._reader = asyncio.create_task(self._read())

    async def start_turn(self, prompt: Mapping[str, Any]) -> None:
        """Start a turn by sending `prompt`. Raises `backend_error` if it cannot be sent."""
        self.begin_turn()
        try:
            await self.write(prompt)
        except SpinneyError:
            if not self.is_turn_open:
                return  # the program's exit has already ended the turn
            self.is_turn_open = False
            raise

    async def write(self, value: Mapping[str, Any]) -> None:
        """Send one JSON line to the program."""
        self._record("\u2192", value)
        await self.process.write(value)

    async def stop(self, interrupt: Callable[[], Awaitable[None]]) -> None:
        """End the open turn: `interrupt` the program, and kill it if it does not stop."""
        await self.stop_turn(interrupt, self.process.kill)

    async def close(self, interrupt: Callable[[], Awaitable[None]]) -> None:
        """End the program and everything it started; an open turn is stopped first."""
        if self.is_turn_open and self.process.returncode is None:
            self.is_stopping = True
            await self.request_stop(interrupt, CLOSE_TIMEOUT)
        await self.process.close()
        self._events.lift_limit()
        await self._reader

    async def _read(self) -> None:
        try:
            async for line in self.process.read_lines():
                self._record("\u2190", line.raw)
                try:
                    await self._on_line(line)
                except SpinneyError as error:
                    _log.warning("%s: %s", self.name, error.message)
                except Exception:  # one line that cannot be handled must not end the conversation
                    _log.exception("failed to handle a line of %s", self.name)
        finally:
            self.ended.set()
            await self._end_turn()
            self._events.end()

    async def _end_turn(self) -> None:
        if self.is_stopping:
            await self.emit(TurnFinished("stopped", Usage()))
        elif self.is_turn_open:
            # Its last lines on stderr may not have been read yet.
            await self.process.wait_settled()
            await self.emit(TurnFailed(self.process.describe_exit(self.name), "backend_error"))
