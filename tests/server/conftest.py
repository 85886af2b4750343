"""A running server on a free loopback port, and ways to talk to it."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

import aiohttp
import pytest

from model.runtime.workspace import Workspace
from model.service.certificates import CertificateFiles
from server.app import Server
from server.limits import Limits
from tests.patience import PATIENCE
from tests.ports import find_free_port

TOKEN = "correct-horse-battery-staple-0123456789"

StartServer = Callable[..., Awaitable[Server]]


class Socket:
    """A WebSocket client that keeps all frames, also while it waits for a reply."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse, patience: float = PATIENCE) -> None:
        self.socket = socket
        self._patience = patience
        self.frames: list[dict[str, Any]] = []
        """All received frames, in order."""
        self._number = 0

    async def receive(self) -> dict[str, Any]:
        message = await self.next_message()
        assert message.type is aiohttp.WSMsgType.TEXT, message
        frame = json.loads(message.data)
        self.frames.append(frame)
        return frame

    async def next_message(self) -> aiohttp.WSMessage:
        return await self.socket.receive(timeout=self._patience)

    async def send(self, frame: Any) -> None:
        await self.socket.send_str(frame if isinstance(frame, str) else json.dumps(frame))

    async def answer(self, request_id: str | None) -> dict[str, Any]:
        """Wait for the reply to a request."""
        while True:
            frame = await self.receive()
            if frame.get("type") in ("response", "error") and frame["id"] == request_id:
                return frame

    async def call(self, command: str, **args: Any) -> Any:
        """Run a command and return its result; fails the test on an error."""
        self._number += 1
        request_id = f"call-{self._number}"
        await self.send({"id": request_id, "command": command, "args": args})
        frame = await self.answer(request_id)
        assert frame["type"] == "response", frame
        return frame["data"]

    async def until(self, is_met: Callable[[Any], object], command: str, **args: Any) -> Any:
        """Run a command again after each event until its result meets the condition; return it."""
        while True:
            seen = len(self.frames)
            result = await self.call(command, **args)
            if is_met(result):
                return result
            if len(self.frames) == seen + 1:  # No event came before the reply.
                await self.receive()

    async def event(self, name: str) -> dict[str, Any]:
        """Wait for the next event of this name."""
        while True:
            frame = await self.receive()
            if frame.get("event") == name:
                return frame

    async def wait_closed(self) -> int | None:
        """Wait until the socket is closed; returns the close code."""
        while True:
            message = await self.next_message()
            if message.type is aiohttp.WSMsgType.CLOSE:
                # Not the socket's close code: it also depends on whether its own reply was sent.
                return int(message.data)
            if message.type in (
                aiohttp.WSMsgType.CLOSED,
                aiohttp.WSMsgType.CLOSING,
                aiohttp.WSMsgType.ERROR,
            ):
                return self.socket.close_code


@pytest.fixture
async def start_server(workspace: Workspace) -> AsyncIterator[StartServer]:
    """Starts a server: `await start_server(token_required=False, limits=Limits(…))`."""
    started: list[Server] = []

    async def start(
        *,
        port: int = 0,
        localhost_only: bool = True,
        token_required: bool = True,
        token: str = TOKEN,
        limits: Limits | None = None,
        tls: CertificateFiles | None = None,
    ) -> Server:
        preferences = workspace.store.state.preferences
        # As if stored before: clients cannot set a short or empty token.
        stored = preferences.model_copy(update={"http_server_token": token})
        await workspace.change_preferences(stored)
        server = Server(workspace, limits=limits)
        workspace.http_server = server
        started.append(server)
        await server.start(
            port or find_free_port(),
            localhost_only=localhost_only,
            token_required=token_required,
            tls=tls,
        )
        return server

    yield start
    for server in started:
        await server.stop()


@pytest.fixture
async def server(start_server: StartServer) -> Server:
    """A server that requires the token."""
    return await start_server()


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    """An HTTP client."""
    async with aiohttp.ClientSession(
        timeout=aiohttp.ClientTimeout(total=20), connector=aiohttp.TCPConnector(limit=0)
    ) as made:
        yield made


def base_url(server: Server) -> str:
    """The address of the server."""
    return str(server.status()["base_url"])


def bearer(token: str = TOKEN) -> dict[str, str]:
    """The authorization header with the token."""
    return {"Authorization": f"Bearer {token}"}


async def connect(
    server: Server,
    http: aiohttp.ClientSession,
    since: int | None = None,
    *,
    blocks: bool = False,
    token: str = TOKEN,
    query: Mapping[str, str] | None = None,
    **options: Any,
) -> Socket:
    """Open a WebSocket with the token; numbered with `since`, as a page with `blocks`."""
    params = {"token": token, **(query or {})}
    params |= {} if since is None else {"since": str(since)}
    if blocks:
        params["blocks"] = "1"
    url = f"{base_url(server)}/ws"
    return Socket(await http.ws_connect(url, params=params, max_msg_size=0, **options))


async def raw_request(server: Server, *lines: bytes, body: bytes = b"") -> tuple[int, bytes]:
    """Send these lines and body; returns the status and the whole response."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.status()["port"])
    try:
        writer.write(b"\r\n".join(lines) + b"\r\nConnection: close\r\n\r\n" + body)
        async with asyncio.timeout(PATIENCE):
            answer = await reader.read()
    finally:
        writer.close()
    return int(answer.split(b" ", 2)[1]), answer


async def next_frame(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    """Opcode and payload of the next frame from the server."""
    first, size = await reader.readexactly(2)
    if size == 126:
        size = int.from_bytes(await reader.readexactly(2), "big")
    return first & 0x0F, await reader.readexactly(size)
