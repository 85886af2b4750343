"""A TCP proxy between a page and Spinney that can be cut, stalled and pointed to another server."""

import asyncio
import re
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from tests.ports import find_free_port

_BUFFER_SIZE = 64 * 1024


@dataclass
class Proxy:
    """Forwards the connections to a local port to a server."""

    target: str
    """The base URL of the server."""
    port: int = field(default_factory=find_free_port)
    sockets: int = 0
    """Number of open WebSockets."""
    most_sockets: int = 0
    upgrades: int = 0
    cut_before: str | None = None
    """Break the connection once, before an event of this name; `name#n` for the n-th one."""
    _server: asyncio.Server | None = None
    _open: set[asyncio.Task[None]] = field(default_factory=set)
    _forwarding: asyncio.Event = field(default_factory=asyncio.Event)
    """Cleared while stalled."""
    _seen: int = 0

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def restore(self) -> None:
        """Accept connections, and forward what was stalled."""
        self._forwarding.set()
        if self._server is None:
            self._server = await asyncio.start_server(self._connect, "127.0.0.1", self.port)

    async def cut(self) -> None:
        """Close all connections and refuse new ones until `restore`."""
        assert self._server is not None
        self._server.close()
        self._server = None
        await self.close_connections()

    async def close_connections(self) -> None:
        """Close the open connections; new ones are accepted."""
        tasks = list(self._open)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def stall(self) -> None:
        """Forward nothing to the page over WebSockets, but keep the connections open."""
        self._forwarding.clear()

    async def _connect(self, page: asyncio.StreamReader, to_page: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        address = urlsplit(self.target)
        writers = [to_page]
        is_socket = False
        try:
            connection = await _connect_to(address.port)
            server, to_server = await asyncio.open_connection(sock=connection)
            writers.append(to_server)
            first = await page.readuntil(b"\r\n\r\n")
            if is_socket := re.search(rb"(?i)upgrade: websocket", first) is not None:
                self.sockets += 1
                self.upgrades += 1
                self.most_sockets = max(self.most_sockets, self.sockets)
            to_server.write(first)
            async with asyncio.TaskGroup() as both:
                both.create_task(self._forward(page, to_server))
                both.create_task(self._forward(server, to_page, is_controlled=is_socket))
        except* (OSError, EOFError, asyncio.CancelledError):
            pass  # One side closed its end, or the proxy was cut; the other end is closed below.
        finally:
            self._open.discard(task)
            self.sockets -= is_socket
            for writer in writers:
                writer.close()

    async def _forward(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        is_controlled: bool = False,
    ) -> None:
        """Copy until the end; `stall` and `cut_before` apply if `is_controlled`."""
        is_end = False
        while not is_end and (piece := await reader.read(_BUFFER_SIZE)):
            if is_controlled:
                await self._forwarding.wait()
                piece, is_end = self._apply_cut(piece)
            writer.write(piece)
            await writer.drain()
        raise EOFError

    def _apply_cut(self, piece: bytes) -> tuple[bytes, bool]:
        """The part of `piece` to forward, and whether the connection ends after it."""
        if self.cut_before is None:
            return piece, False
        name, _, number = self.cut_before.partition("#")
        for found in re.finditer(rb'"event": ?"' + name.encode() + rb'"', piece):
            self._seen += 1
            if self._seen >= int(number or 1):
                self.cut_before, self._seen = None, 0
                return piece[: found.start()], True
        return piece, False


async def _connect_to(port: int | None) -> socket.socket:
    """Connect to a local port, with a small receive buffer so that the server soon has to wait."""
    connection = socket.socket()
    connection.setblocking(False)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_SIZE)
    await asyncio.get_running_loop().sock_connect(connection, ("127.0.0.1", port))
    return connection


@asynccontextmanager
async def run_proxy(target: str) -> AsyncIterator[Proxy]:
    """A proxy to this server that forwards everything."""
    proxy = Proxy(target)
    await proxy.restore()
    try:
        yield proxy
    finally:
        with suppress(AssertionError):
            await proxy.cut()
