"""Stops a turn of OpenCode, and kills all processes that its commands started."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final

from model.backends import process_table
from model.backends.opencode.stream import OpenCodeStream
from model.base.errors import SpinneyError

SESSION_VARIABLE: Final = "SPINNEY_SESSION"
"""The environment variable that marks the commands of a conversation (set by the plugin)."""

_START_TIMEOUT: Final = 45.0
"""Seconds for a turn to begin, which a program that was just started does late on a busy machine.
Until then an abort has no effect."""
_TIMEOUT: Final = 10.0
"""Seconds for a turn that has begun to end."""
_RETRY_INTERVAL: Final = 0.25
"""An abort before the turn has really started has no effect, and is repeated."""

_log = logging.getLogger(__name__)


class TurnStopper:
    """Stops the turns of a conversation. `abort` sends one abort request to the program."""

    def __init__(self, abort: Callable[[], Awaitable[Any]], stream: OpenCodeStream) -> None:
        self._abort = abort
        self._stream = stream
        self._task: asyncio.Task[None] | None = None
        self._was_busy = False
        self._idle = asyncio.Event()

    @property
    def is_stopping(self) -> bool:
        """Whether a stop is in progress."""
        return self._task is not None and not self._task.done()

    @property
    def _is_over(self) -> bool:
        return self._was_busy and self._idle.is_set()

    def on_prompt(self) -> None:
        """Handle that a prompt is sent, which the program has not started to process."""
        self._was_busy = False

    def on_status(self, status: str) -> None:
        """Handle a status of the conversation: `busy`, `retry` or `idle`."""
        if status == "idle":
            self._idle.set()
        elif status:
            # After an abort that was too early, `idle` is sent before the turn starts.
            self._idle.clear()
            self._was_busy = True

    async def stop(self, timeout: float | None = None) -> None:
        """Stop the turn; after `timeout` seconds the stop continues in the background."""
        if not self.is_stopping:
            self._task = asyncio.create_task(self._abort_until_idle())
        await self.wait(timeout)

    async def wait(self, timeout: float | None = None) -> None:
        """Wait for the end of a stop in progress."""
        if self._task is not None:
            await asyncio.wait([self._task], timeout=timeout)

    async def cancel(self) -> None:
        """Cancel a stop in progress."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def kill_commands(self) -> None:
        """Kill the processes of the conversation's commands, including detached ones."""
        for conversation in self._stream.conversations:
            members = await asyncio.to_thread(
                process_table.find_family, None, SESSION_VARIABLE, conversation
            )
            await asyncio.to_thread(process_table.kill, members)

    async def _abort_until_idle(self) -> None:
        loop, has_begun = asyncio.get_running_loop(), False
        try:
            async with asyncio.timeout(_START_TIMEOUT) as limit:
                while True:
                    if self._was_busy and not has_begun:
                        has_begun = True
                        limit.reschedule(loop.time() + _TIMEOUT)
                    self._idle.clear()
                    await self._abort()
                    await self.kill_commands()
                    if not self._is_over:
                        # The status may arrive after the response to the abort.
                        await asyncio.sleep(_RETRY_INTERVAL)
                    if self._is_over:
                        return
        except (TimeoutError, SpinneyError) as error:
            _log.warning("a turn of OpenCode could not be stopped: %r", error)
