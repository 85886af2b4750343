"""Limits on connections, enforced before a byte of HTTP is read."""

import asyncio
import ipaddress
from collections import Counter
from collections.abc import Callable
from typing import cast

from server.limits import Limits

ProtocolFactory = Callable[[], asyncio.Protocol]

_GRACE_PERIOD = 1.0
"""Seconds before a silent connection counts against its address, so that bursts are allowed."""


class ConnectionLimiter:
    """Limits the number of open sockets and closes those that never send a request."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._open: set[asyncio.BaseTransport] = set()
        self._pending: dict[asyncio.BaseTransport, float] = {}
        """Connections that have not sent a complete request head, oldest first."""
        self._task = asyncio.create_task(self._abort_stale())

    def guard(self, factory: ProtocolFactory) -> ProtocolFactory:
        """Wrap a protocol factory so that it serves accepted connections only."""
        return lambda: _GuardProtocol(self, factory)

    def mark_handshaken(self, transport: asyncio.BaseTransport | None) -> None:
        """Record that the connection has sent a complete request head."""
        if transport is not None:
            self._pending.pop(transport, None)

    def close_remote(self) -> None:
        """Abort every connection that does not use loopback."""
        for transport in tuple(self._open):
            local_address = transport.get_extra_info("sockname")
            if local_address and not ipaddress.ip_address(local_address[0]).is_loopback:
                cast(asyncio.Transport, transport).abort()

    def stop(self) -> None:
        """Stop the timeout task."""
        self._task.cancel()

    def accept(self, transport: asyncio.BaseTransport) -> bool:
        """Count a new connection; returns `False` if it is over the limits."""
        if len(self._open) >= self._limits.sockets:
            self._forget_closed()
        now = asyncio.get_running_loop().time()
        if len(self._open) >= self._limits.sockets or self._is_crowded(transport, now):
            return False
        self._open.add(transport)
        self._pending[transport] = now
        return True

    def _is_crowded(self, transport: asyncio.BaseTransport, now: float) -> bool:
        if len(self._pending) < self._limits.pending:
            return False
        silent = Counter(
            _address(other)
            for other, since in self._pending.items()
            if now - since > _GRACE_PERIOD and not other.is_closing()
        )
        return silent[_address(transport)] >= self._limits.pending

    def _forget_closed(self) -> None:
        self._open = {transport for transport in self._open if not transport.is_closing()}

    async def _abort_stale(self) -> None:
        loop = asyncio.get_running_loop()
        interval = min(1.0, self._limits.handshake / 4)
        last_check = loop.time()
        while True:
            await asyncio.sleep(interval)
            self._forget_closed()
            now = loop.time()
            overslept, last_check = now - last_check - interval, now
            for transport, since in tuple(self._pending.items()):
                # Time in which this process was suspended does not count.
                since = self._pending[transport] = min(since + overslept, now)
                if now - since > self._limits.handshake or transport.is_closing():
                    del self._pending[transport]
                    cast(asyncio.Transport, transport).abort()


class _GuardProtocol(asyncio.Protocol):
    """Placeholder protocol that switches to the real one once the connection is accepted."""

    def __init__(self, limiter: ConnectionLimiter, factory: ProtocolFactory) -> None:
        self._limiter = limiter
        self._factory = factory

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        stream = cast(asyncio.Transport, transport)
        if not self._limiter.accept(stream):
            stream.abort()
            return
        protocol = self._factory()
        stream.set_protocol(protocol)
        protocol.connection_made(stream)


def _address(transport: asyncio.BaseTransport) -> str:
    peer = transport.get_extra_info("peername")
    return peer[0] if peer else ""
