"""The end of a turn of OpenCode before its time, with all that its commands started."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final

from model.backends import process_table
from model.backends.opencode.stream import OpenCodeStream
from model.base.errors import SpinneyError

MARK: Final = "SPINNEY_SESSION"
"""The environment variable by which the commands of one conversation are found (see the plugin)."""

_LIMIT: Final = 10.0
_PAUSE: Final = 0.25
"""An abort that comes before the turn has really begun has no effect, and is repeated."""

_log = logging.getLogger(__name__)


class Stopper:
    """Ends the turns of one conversation. `abort` asks the program once."""

    def __init__(self, abort: Callable[[], Awaitable[Any]], stream: OpenCodeStream) -> None:
        self._abort = abort
        self._stream = stream
        self._task: asyncio.Task[None] | None = None
        self._was_busy = False
        self._idle = asyncio.Event()

    @property
    def works(self) -> bool:
        """Whether a turn is being ended."""
        return self._task is not None and not self._task.done()

    @property
    def _is_over(self) -> bool:
        return self._was_busy and self._idle.is_set()

    def note_prompt(self) -> None:
        """A prompt goes to the program, which has not begun to work on it."""
        self._was_busy = False

    def note_status(self, status: str) -> None:
        """What the program tells of the conversation: `busy`, `retry` or `idle`."""
        if status == "idle":
            self._idle.set()
        elif status:
            # An abort that came too early is answered with `idle` before the turn begins.
            self._idle.clear()
            self._was_busy = True

    async def stop(self, patience: float | None = None) -> None:
        """End the turn; after `patience` seconds that goes on without us."""
        if not self.works:
            self._task = asyncio.create_task(self._until_idle())
        await self.settled(patience)

    async def settled(self, patience: float | None = None) -> None:
        """Wait for the end of a turn that is being ended."""
        if self._task is not None:
            await asyncio.wait([self._task], timeout=patience)

    async def cancel(self) -> None:
        """Nobody needs the program any more."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def end_commands(self) -> None:
        """End what the conversation's commands started, however far it went from them."""
        for conversation in self._stream.conversations:
            members = await asyncio.to_thread(process_table.family, None, MARK, conversation)
            await asyncio.to_thread(process_table.kill, members)

    async def _until_idle(self) -> None:
        try:
            async with asyncio.timeout(_LIMIT):
                while True:
                    self._idle.clear()
                    await self._abort()
                    await self.end_commands()
                    if not self._is_over:
                        # The end may be told later than the abort is answered.
                        await asyncio.sleep(_PAUSE)
                    if self._is_over:
                        return
        except (TimeoutError, SpinneyError) as error:
            _log.warning("a turn of OpenCode could not be stopped: %r", error)
