"""A pool of servers shared by sessions: started for their first session, stopped when idle."""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from model.backends.opencode.server import OpenCodeServer

IDLE_TIMEOUT: Final = 60.0
"""Seconds without a session after which a server, which uses some 300 MB, is stopped."""

_log = logging.getLogger(__name__)

_Key = tuple[str, frozenset[tuple[str, str]]]


@dataclass(slots=True)
class _Entry:
    """A server and the number of its users."""

    starting: asyncio.Task[OpenCodeServer]
    users: int = 0
    timer: asyncio.TimerHandle | None = None


@dataclass(slots=True)
class ServerPool:
    """One server per program and environment."""

    idle_timeout: float = IDLE_TIMEOUT
    _entries: dict[_Key, _Entry] = field(default_factory=dict)
    _endings: set[asyncio.Task[None]] = field(default_factory=set)

    async def acquire(self, program: str, environment: Mapping[str, str]) -> OpenCodeServer:
        """Get a running server, to be released. Raises `backend_unavailable` if it cannot start."""
        key = (program, frozenset(environment.items()))
        entry = self._entries.get(key)
        if entry is None or _has_exited(entry.starting):
            if entry is not None:
                self._end(entry)
            starting = asyncio.create_task(OpenCodeServer.start(program, environment))
            entry = self._entries[key] = _Entry(starting)
        if entry.timer is not None:
            entry.timer.cancel()
            entry.timer = None
        entry.users += 1
        try:
            return await asyncio.shield(entry.starting)
        except BaseException:
            self._release(entry)
            raise

    def release(self, server: OpenCodeServer) -> None:
        """Release a server that a session no longer needs."""
        for entry in self._entries.values():
            done = entry.starting.done() and not entry.starting.cancelled()
            if done and not entry.starting.exception() and entry.starting.result() is server:
                self._release(entry)
                return

    async def close(self) -> None:
        """Stop all servers."""
        for entry in list(self._entries.values()):
            self._end(entry)
        await asyncio.gather(*self._endings, return_exceptions=True)

    def _release(self, entry: _Entry) -> None:
        entry.users -= 1
        if entry.users <= 0 and entry.timer is None:
            loop = asyncio.get_running_loop()
            limit = 0 if _has_exited(entry.starting) else self.idle_timeout
            entry.timer = loop.call_later(limit, self._end, entry)

    def _end(self, entry: _Entry) -> None:
        if entry.timer is not None:
            entry.timer.cancel()
        self._entries = {key: each for key, each in self._entries.items() if each is not entry}
        ending = asyncio.create_task(_close(entry.starting))
        self._endings.add(ending)
        ending.add_done_callback(self._endings.discard)


def _has_exited(starting: asyncio.Task[OpenCodeServer]) -> bool:
    if not starting.done():
        return False
    return starting.cancelled() or bool(starting.exception()) or not starting.result().is_running


async def _close(starting: asyncio.Task[OpenCodeServer]) -> None:
    if not starting.done():
        starting.cancel()
    await asyncio.wait([starting])
    if not starting.cancelled() and not starting.exception():
        try:
            await starting.result().close()
        except Exception:
            _log.exception("An OpenCode server could not be stopped")
