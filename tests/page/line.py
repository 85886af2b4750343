"""The line between a page and Spinney: it can be cut, held, and led to another server."""

import asyncio
import re
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from tests.ports import own_port

_PIECE = 64 * 1024


@dataclass
class Line:
    """A port of this machine that stands for the server's."""

    target: str
    """The base URL of the server."""
    port: int = field(default_factory=own_port)
    sockets: int = 0
    """WebSockets that are open now."""
    most_sockets: int = 0
    upgrades: int = 0
    cut_before: str | None = None
    """Cut once when an event of this name is about to pass; the n-th with `name#n`."""
    _server: asyncio.Server | None = None
    _open: set[asyncio.Task[None]] = field(default_factory=set)
    _free: asyncio.Event = field(default_factory=asyncio.Event)
    _seen: int = 0

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def restore(self) -> None:
        """Let connections through, and what was held."""
        self._free.set()
        if self._server is None:
            self._server = await asyncio.start_server(self._connected, "127.0.0.1", self.port)

    async def cut(self) -> None:
        """Break all connections, and refuse others until it is restored."""
        assert self._server is not None
        self._server.close()
        self._server = None
        await self.break_all()

    async def break_all(self) -> None:
        """Break what is open; others may come."""
        tasks = list(self._open)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def hold(self) -> None:
        """Carry nothing to the page, and break nothing either."""
        self._free.clear()

    async def _connected(self, page: asyncio.StreamReader, to_page: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        place = urlsplit(self.target)
        writers = [to_page]
        is_socket = False
        try:
            server, to_server = await asyncio.open_connection(sock=await _to(place.port))
            writers.append(to_server)
            first = await page.readuntil(b"\r\n\r\n")
            if is_socket := re.search(rb"(?i)upgrade: websocket", first) is not None:
                self.sockets += 1
                self.upgrades += 1
                self.most_sockets = max(self.most_sockets, self.sockets)
            to_server.write(first)
            async with asyncio.TaskGroup() as both:
                both.create_task(self._carry(page, to_server))
                both.create_task(self._carry(server, to_page, is_told=is_socket))
        except* (OSError, EOFError, asyncio.CancelledError):
            pass  # One side has left, or the line was cut; the other one is told below.
        finally:
            self._open.discard(task)
            self.sockets -= is_socket
            for writer in writers:
                writer.close()

    async def _carry(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, is_told: bool = False
    ) -> None:
        """Pass on until the end; `is_told`: what a WebSocket tells the page."""
        is_end = False
        while not is_end and (piece := await reader.read(_PIECE)):
            if is_told:
                await self._free.wait()
                piece, is_end = self._cut(piece)
            writer.write(piece)
            await writer.drain()
        raise EOFError

    def _cut(self, piece: bytes) -> tuple[bytes, bool]:
        """What of it still passes, and whether the connection ends there."""
        if self.cut_before is None:
            return piece, False
        name, _, number = self.cut_before.partition("#")
        for found in re.finditer(rb'"event": ?"' + name.encode() + rb'"', piece):
            self._seen += 1
            if self._seen >= int(number or 1):
                self.cut_before, self._seen = None, 0
                return piece[: found.start()], True
        return piece, False


async def _to(port: int | None) -> socket.socket:
    """Connected to this port; it takes in little, so that who writes soon has to wait."""
    made = socket.socket()
    made.setblocking(False)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _PIECE)
    await asyncio.get_running_loop().sock_connect(made, ("127.0.0.1", port))
    return made


@asynccontextmanager
async def line_to(target: str) -> AsyncIterator[Line]:
    """A line to this server that carries everything."""
    line = Line(target)
    await line.restore()
    try:
        yield line
    finally:
        with suppress(AssertionError):
            await line.cut()
