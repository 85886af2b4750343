"""The server: starts and stops listening, and takes every request through the door first."""

import asyncio
import json
import logging
import os
import secrets
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from aiohttp import WSCloseCode, web

from model.base.errors import SpinneyError
from model.base.paths import write_atomically
from model.commands.server import regenerate_http_token, status_when_stopped
from model.domain.events import TaskCompleted
from server.auth import Door
from server.connection_limiter import Doorman, ProtocolFactory
from server.fonts import font_files
from server.http_api import HttpApi
from server.limits import Limits
from server.listening import listening_again
from server.lite.routes import Lite
from server.middleware import Entrance, add_headers
from server.protocol import HttpProtocol
from server.static import StaticFiles
from server.theme_css import theme_css
from server.websocket import WebSockets

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace

T = TypeVar("T")

_NO_LONGER_WELCOME = WSCloseCode.POLICY_VIOLATION

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Running:
    """What exists while the server listens."""

    runner: web.AppRunner
    listener: asyncio.Server
    guard: ProtocolFactory
    """Makes what serves each new connection."""
    doorman: Doorman
    sockets: WebSockets
    base_url: str


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the preferences say of the server."""

    port: int
    localhost_only: bool
    token_required: bool
    token: str | None


class Server:
    """The HTTP and WebSocket server of one workspace. Lives on the core's loop."""

    own = False
    """Whether only the user's own terminals come in, which may do what the first one may."""

    def __init__(
        self,
        workspace: "Workspace",
        *,
        unsafe_no_token: bool = False,
        limits: Limits | None = None,
    ) -> None:
        self._workspace = workspace
        self._unsafe_no_token = unsafe_no_token
        self._limits = limits or Limits()
        self._door = Door(self._token)
        self._known: Wishes | None = None
        """The preferences that have been acted upon."""
        self._run = secrets.token_hex(8)
        """Names this run of the program: event numbers of another one mean nothing here."""
        self._running: _Running | None = None
        self._changing = asyncio.Lock()
        self._end_listening: Callable[[], None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def status(self) -> dict[str, Any]:
        """`{running, base_url, port, localhost_only, token_required}`, without the token."""
        running = self._running
        if running is None:
            return status_when_stopped(self._workspace.store.state.preferences)
        return {
            "running": True,
            "base_url": running.base_url,
            "port": self._door.port,
            "localhost_only": self._door.localhost_only,
            "token_required": self._door.token_required,
            "clients": len(running.sockets),
        }

    async def start(self, port: int, *, localhost_only: bool, token_required: bool) -> None:
        """Listen; port 0 takes a free one. Raises `SpinneyError` with what to do instead."""
        self._check_openness(localhost_only, token_required)
        async with self._changing:
            if self._running is not None:
                wanted = (port or self._door.port, localhost_only, token_required)
                door = self._door
                if wanted == (door.port, door.localhost_only, door.token_required):
                    return
                raise SpinneyError(
                    f"The server already runs at {self._running.base_url}. Stop it first, or "
                    "change its settings (http_server_…), which it follows.",
                    "conflict",
                )
            await self._start(port, localhost_only, token_required)
            await self._write_address()

    async def stop(self) -> None:
        """Close the listener and all connections, within a second."""
        async with self._changing:
            running, self._running = self._running, None
            if running is None:
                return
            if self._end_listening is not None:
                self._end_listening()
            running.listener.close()
            running.doorman.stop()
            await running.sockets.stop()
            await running.runner.cleanup()
            await self._take_address_away()

    async def _start(self, port: int, localhost_only: bool, token_required: bool) -> None:
        listening = await self._socket(localhost_only, port)
        door = self._door
        door.port = listening.getsockname()[1]
        door.localhost_only, door.token_required = localhost_only, token_required
        self._known = self._wishes()
        limits, static = self._limits, await asyncio.to_thread(self._read_files)
        sockets = WebSockets(self._workspace, limits, self._run, own=self.own)
        doorman = Doorman(limits)
        entrance = Entrance(door, doorman)
        app = web.Application(middlewares=[entrance.admit], client_max_size=limits.body_size)
        app.on_response_prepare.append(add_headers)
        app.add_routes(HttpApi(self._workspace, door, self._run, limits).routes())
        app.add_routes([web.get("/ws", sockets.serve)])
        app.add_routes(Lite(self._workspace, door, limits, static.version).routes())
        app.add_routes([web.get("/theme.css", theme_css), web.get("/{path:.*}", static.serve)])
        runner = web.AppRunner(app, handle_signals=False, shutdown_timeout=limits.shutdown / 2)
        await runner.setup()
        assert runner.server is not None
        guard = doorman.guard(partial(HttpProtocol, runner.server, limits))
        listener = await _accepting(listening, guard)
        base_url = _base_url(door)
        self._running = _Running(runner, listener, guard, doorman, sockets, base_url)
        self._end_listening = self._workspace.bus.listen(self._look_at_preferences)
        _log.info("listening at %s", base_url)

    def _read_files(self) -> StaticFiles:
        return StaticFiles.read(more=font_files(self._workspace.directories.fonts))

    def _check_openness(self, localhost_only: bool, token_required: bool) -> None:
        if not localhost_only and not token_required and not self._unsafe_no_token:
            raise SpinneyError(
                "Without a token the server may only be reachable from this machine. Require the "
                "token, or start Spinney with --unsafe-no-token if everybody on this network may "
                "run programs as you.",
                "forbidden",
            )

    def _token(self) -> str | None:
        return self._workspace.store.state.preferences.http_server_token

    def _wishes(self) -> Wishes:
        said = self._workspace.store.state.preferences
        return Wishes(
            said.http_server_port,
            said.http_server_localhost_only,
            said.http_server_token_required,
            said.http_server_token,
        )

    def _look_at_preferences(self) -> None:
        if self._wishes() != self._known:
            task = asyncio.create_task(self._follow_preferences())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _follow_preferences(self) -> None:
        """Do what changed preferences say; what they leave alone stays as it was started."""
        async with self._changing:
            if self._running is not None and not self._token():
                await regenerate_http_token(self._workspace)
            known, wanted = self._known, self._wishes()
            if self._running is None or known is None or wanted == known:
                return
            self._known = wanted
            door = self._door
            was_local, was_required = door.localhost_only, door.token_required
            await self._apply(self._running, known, wanted)
            if wanted.token != known.token:
                await self._write_address()
                await self._running.sockets.close(_NO_LONGER_WELCOME, "The token changed.")
            elif door.localhost_only > was_local or door.token_required > was_required:
                await self._running.sockets.close(_NO_LONGER_WELCOME, "Fewer are let in now.")
                if door.localhost_only:
                    self._running.doorman.end_foreign()

    async def _apply(self, running: _Running, known: Wishes, wanted: Wishes) -> None:
        """Take over what is new in `wanted`, all or none of it, and tell everybody."""
        door = self._door
        port = _newer(known.port, wanted.port, door.port)
        local = _newer(known.localhost_only, wanted.localhost_only, door.localhost_only)
        required = _newer(known.token_required, wanted.token_required, door.token_required)
        if (port, local, required) == (door.port, door.localhost_only, door.token_required):
            return
        try:
            self._check_openness(local, required)
            if (port, local) != (door.port, door.localhost_only):
                await self._move(running, port, local)
        except SpinneyError as error:
            self._tell(f"{error.message} The server stays at {running.base_url}.", ok=False)
        else:
            door.token_required = required
            self._tell(f"The server answers at {running.base_url}.", ok=True)

    async def _move(self, running: _Running, port: int, localhost_only: bool) -> None:
        """Listen elsewhere; open connections stay. If it fails, all is as it was."""
        door = self._door
        if port == door.port:  # One port cannot be taken twice, on whatever interfaces.
            running.listener.close()
        try:
            listening = await listening_again(_interface(localhost_only), port)
        except SpinneyError:
            if port == door.port:
                again = await listening_again(_interface(door.localhost_only), port)
                running.listener = await _accepting(again, running.guard)
            raise
        running.listener.close()
        door.port, door.localhost_only = listening.getsockname()[1], localhost_only
        running.listener = await _accepting(listening, running.guard)
        running.base_url = _base_url(door)
        _log.info("listening at %s", running.base_url)
        await self._write_address()

    async def _socket(self, localhost_only: bool, port: int) -> socket.socket:
        return await listening_again(_interface(localhost_only), port)

    def _tell(self, detail: str, *, ok: bool) -> None:
        self._workspace.store.record(TaskCompleted(task="http_server", ok=ok, detail=detail))
        self._workspace.bus.seal()

    async def _write_address(self) -> None:
        """Leave word for programs of this user on this machine."""
        told = {
            "base_url": f"http://127.0.0.1:{self._door.port}",
            "port": self._door.port,
            "token": self._token(),
            "pid": os.getpid(),
        }
        path = self._workspace.directories.server
        try:
            await asyncio.to_thread(write_atomically, path, json.dumps(told).encode())
        except SpinneyError as error:
            # Who looks for it finds the door of this user, too.
            _log.warning("the address is told in the lock alone: %s", error.message)

    async def _take_address_away(self) -> None:
        with suppress(OSError):
            await asyncio.to_thread(self._workspace.directories.server.unlink, missing_ok=True)


def _interface(localhost_only: bool) -> str:
    return "127.0.0.1" if localhost_only else "0.0.0.0"


def _base_url(door: Door) -> str:
    return f"http://{'127.0.0.1' if door.localhost_only else _own_address()}:{door.port}"


def _newer(known: T, wanted: T, now: T) -> T:
    """What is wanted where that is new, else what is now."""
    return now if wanted == known else wanted


async def _accepting(listening: socket.socket, guard: ProtocolFactory) -> asyncio.Server:
    return await asyncio.get_running_loop().create_server(guard, sock=listening, backlog=1024)


def _own_address() -> str:
    """This machine's address in its network; asks the routing table and sends nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return "127.0.0.1"
        return str(probe.getsockname()[0])
