"""The servers that sessions share: started when the first session wants one, ended when none has
wanted it for a while.
"""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from model.backends.opencode.server import OpenCodeServer

UNUSED_LIMIT: Final = 60.0
"""Seconds without a session after which a server, which takes some 300 MB, is ended."""

_log = logging.getLogger(__name__)

_Key = tuple[str, frozenset[tuple[str, str]]]


@dataclass(slots=True)
class _Shared:
    """A server and who uses it."""

    starting: asyncio.Task[OpenCodeServer]
    users: int = 0
    timer: asyncio.TimerHandle | None = None


@dataclass(slots=True)
class OpenCodeServers:
    """One server for each program and environment."""

    unused_limit: float = UNUSED_LIMIT
    _shared: dict[_Key, _Shared] = field(default_factory=dict)
    _endings: set[asyncio.Task[None]] = field(default_factory=set)

    async def take(self, program: str, environment: Mapping[str, str]) -> OpenCodeServer:
        """A running server, to be given back. Raises `backend_unavailable` when none starts."""
        key = (program, frozenset(environment.items()))
        shared = self._shared.get(key)
        if shared is None or _is_gone(shared.starting):
            if shared is not None:
                self._end(shared)
            starting = asyncio.create_task(OpenCodeServer.start(program, environment))
            shared = self._shared[key] = _Shared(starting)
        if shared.timer is not None:
            shared.timer.cancel()
            shared.timer = None
        shared.users += 1
        try:
            return await asyncio.shield(shared.starting)
        except BaseException:
            self._left(shared)
            raise

    def give_back(self, server: OpenCodeServer) -> None:
        """A session does not need the server any more."""
        for shared in self._shared.values():
            done = shared.starting.done() and not shared.starting.cancelled()
            if done and not shared.starting.exception() and shared.starting.result() is server:
                self._left(shared)
                return

    async def close(self) -> None:
        """End all of them."""
        for shared in list(self._shared.values()):
            self._end(shared)
        await asyncio.gather(*self._endings, return_exceptions=True)

    def _left(self, shared: _Shared) -> None:
        shared.users -= 1
        if shared.users <= 0 and shared.timer is None:
            loop = asyncio.get_running_loop()
            limit = 0 if _is_gone(shared.starting) else self.unused_limit
            shared.timer = loop.call_later(limit, self._end, shared)

    def _end(self, shared: _Shared) -> None:
        if shared.timer is not None:
            shared.timer.cancel()
        self._shared = {key: each for key, each in self._shared.items() if each is not shared}
        ending = asyncio.create_task(_close(shared.starting))
        self._endings.add(ending)
        ending.add_done_callback(self._endings.discard)


def _is_gone(starting: asyncio.Task[OpenCodeServer]) -> bool:
    if not starting.done():
        return False
    return starting.cancelled() or bool(starting.exception()) or not starting.result().runs


async def _close(starting: asyncio.Task[OpenCodeServer]) -> None:
    if not starting.done():
        starting.cancel()
    await asyncio.wait([starting])
    if not starting.cancelled() and not starting.exception():
        try:
            await starting.result().close()
        except Exception:
            _log.exception("a server of OpenCode could not be ended")
