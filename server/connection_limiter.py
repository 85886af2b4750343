"""Who gets a connection at all: bounds on sockets, before a byte of HTTP has been read."""

import asyncio
import ipaddress
from collections import Counter
from collections.abc import Callable
from typing import cast

from server.limits import Limits

ProtocolFactory = Callable[[], asyncio.Protocol]

_PATIENCE = 1.0
"""Seconds before a silent connection counts against its address; a burst of clients is none."""


class Doorman:
    """Counts sockets, and ends those that never say what they want."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._open: set[asyncio.BaseTransport] = set()
        self._strangers: dict[asyncio.BaseTransport, float] = {}
        """Connections without a whole request yet, oldest first."""
        self._watch = asyncio.create_task(self._keep_watch())

    def guard(self, factory: ProtocolFactory) -> ProtocolFactory:
        """A protocol factory that lets through who may come in."""
        return lambda: _Threshold(self, factory)

    def greet(self, transport: asyncio.BaseTransport | None) -> None:
        """Note that the connection has sent a whole request head."""
        if transport is not None:
            self._strangers.pop(transport, None)

    def end_foreign(self) -> None:
        """Cut off every connection that did not come over this machine's loopback."""
        for transport in tuple(self._open):
            own = transport.get_extra_info("sockname")
            if own and not ipaddress.ip_address(own[0]).is_loopback:
                cast(asyncio.Transport, transport).abort()

    def stop(self) -> None:
        """End the watch."""
        self._watch.cancel()

    def admit(self, transport: asyncio.BaseTransport) -> bool:
        """Count a new connection, or refuse it."""
        if len(self._open) >= self._limits.sockets:
            self._forget_closed()
        now = asyncio.get_running_loop().time()
        if len(self._open) >= self._limits.sockets or self._crowded(transport, now):
            return False
        self._open.add(transport)
        self._strangers[transport] = now
        return True

    def _crowded(self, transport: asyncio.BaseTransport, now: float) -> bool:
        if len(self._strangers) < self._limits.strangers:
            return False
        silent = Counter(
            _address(other)
            for other, since in self._strangers.items()
            if now - since > _PATIENCE and not other.is_closing()
        )
        return silent[_address(transport)] >= self._limits.strangers

    def _forget_closed(self) -> None:
        self._open = {transport for transport in self._open if not transport.is_closing()}

    async def _keep_watch(self) -> None:
        loop = asyncio.get_running_loop()
        pause = min(1.0, self._limits.handshake / 4)
        last = loop.time()
        while True:
            await asyncio.sleep(pause)
            self._forget_closed()
            now = loop.time()
            late, last = now - last - pause, now
            for transport, since in tuple(self._strangers.items()):
                # While this program stood still, nothing could be heard.
                since = self._strangers[transport] = min(since + late, now)
                if now - since > self._limits.handshake or transport.is_closing():
                    del self._strangers[transport]
                    cast(asyncio.Transport, transport).abort()


class _Threshold(asyncio.Protocol):
    """Stands in for the real protocol until the connection is there and counted."""

    def __init__(self, doorman: Doorman, factory: ProtocolFactory) -> None:
        self._doorman = doorman
        self._factory = factory

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        real = cast(asyncio.Transport, transport)
        if not self._doorman.admit(real):
            real.abort()
            return
        protocol = self._factory()
        real.set_protocol(protocol)
        protocol.connection_made(real)


def _address(transport: asyncio.BaseTransport) -> str:
    peer = transport.get_extra_info("peername")
    return peer[0] if peer else ""
