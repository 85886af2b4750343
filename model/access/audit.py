"""The log of what guests did: the newest thousand actions, in a file of their own."""

import asyncio
import logging
from collections import deque
from pathlib import Path
from typing import Final

from model.access.file import RecordFile
from model.base.errors import SpinneyError
from model.domain.guests import GuestAction

MAX_KEPT: Final = 1000

_WRITE_DELAY: Final = 0.5
"""Seconds in which further actions are written together with one."""

_log = logging.getLogger(__name__)


class GuestActionLog:
    """Keeps the actions. Belongs to the core's event loop."""

    def __init__(self, path: Path) -> None:
        self._file = RecordFile(path, GuestAction)
        self._actions: deque[GuestAction] = deque(maxlen=MAX_KEPT)
        self._writing: asyncio.Task[None] | None = None

    async def load(self) -> None:
        """Take over what the file holds."""
        self._actions.extend(await asyncio.to_thread(self._file.read))

    def append(self, action: GuestAction) -> None:
        """Add an action, which is written soon."""
        self._actions.append(action)
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write_soon())

    def list(self, link_id: str | None = None) -> list[GuestAction]:
        """The actions of a link or of all, the newest first."""
        kept = reversed(self._actions)
        return [each for each in kept if link_id is None or each.link_id == link_id]

    async def close(self) -> None:
        """Write what is not written yet."""
        if self._writing is not None and not self._writing.done():
            self._writing.cancel()
            await self._write()

    async def _write_soon(self) -> None:
        await asyncio.sleep(_WRITE_DELAY)
        await self._write()

    async def _write(self) -> None:
        try:
            await self._file.write(list(self._actions))
        except SpinneyError as error:
            _log.warning("could not save what guests did: %s", error.message)
