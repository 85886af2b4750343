"""The HTTP and WebSocket server: start, stop, and changes of its settings while it runs."""

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

from model.access.links import Guest
from model.base.errors import SpinneyError
from model.base.paths import write_atomically
from model.commands.dispatch import run
from model.commands.server import regenerate_http_token, status_when_stopped
from model.domain.events import TaskCompleted
from server.auth import Authenticator
from server.connection_limiter import ConnectionLimiter, ProtocolFactory
from server.fonts import font_files
from server.guesses import GuessLimiter
from server.guest_sockets import GuestSockets
from server.guest_worlds import GuestWorlds, guest_of
from server.http_api import HttpApi
from server.limits import Limits
from server.listening import open_listener_with_retries
from server.lite.routes import Lite
from server.middleware import Middleware, add_headers
from server.protocol import HttpProtocol
from server.static import StaticFiles
from server.theme_css import theme_css
from server.websocket import WebSockets

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace

T = TypeVar("T")

_ACCESS_REVOKED = WSCloseCode.POLICY_VIOLATION

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Running:
    """What exists while the server is listening."""

    runner: web.AppRunner
    listener: asyncio.Server
    guard: ProtocolFactory
    """Creates the protocol of each new connection."""
    limiter: ConnectionLimiter
    sockets: WebSockets
    guests: GuestSockets
    base_url: str


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """The server settings of the preferences."""

    port: int
    localhost_only: bool
    token_required: bool
    token: str | None


class Server:
    """The HTTP and WebSocket server of one workspace. Runs on the core's event loop."""

    is_local = False
    """Whether this server is for the user's own terminals, which may call every command."""

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
        find_guest = None if self.is_local else self._find_guest
        self._authenticator = Authenticator(self._token, find_guest)
        self._applied: ServerSettings | None = None
        """The settings that were applied last."""
        self._run_id = secrets.token_hex(8)
        """Identifies this run of the program: event numbers of another run are meaningless here."""
        self._running: _Running | None = None
        self._lock = asyncio.Lock()
        self._unsubscribe: Callable[[], None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def status(self) -> dict[str, Any]:
        """`{running, base_url, port, localhost_only, token_required}`, without the token."""
        running = self._running
        if running is None:
            return status_when_stopped(self._workspace.store.state.preferences)
        return {
            "running": True,
            "base_url": running.base_url,
            "port": self._authenticator.port,
            "localhost_only": self._authenticator.localhost_only,
            "token_required": self._authenticator.token_required,
            "clients": len(running.sockets) + len(running.guests),
        }

    async def start(self, port: int, *, localhost_only: bool, token_required: bool) -> None:
        """Listen; port 0 picks a free one. Raises `SpinneyError` saying what to do instead."""
        self._check_exposure(localhost_only, token_required)
        async with self._lock:
            if self._running is not None:
                wanted = (port or self._authenticator.port, localhost_only, token_required)
                auth = self._authenticator
                if wanted == (auth.port, auth.localhost_only, auth.token_required):
                    return
                raise SpinneyError(
                    f"The server is already running at {self._running.base_url}. Stop it first, "
                    "or change its settings: they apply while it runs.",
                    "conflict",
                )
            await self._start(port, localhost_only, token_required)
            await self._write_address_file()

    async def stop(self) -> None:
        """Close the listener and all connections within a second."""
        async with self._lock:
            running, self._running = self._running, None
            if running is None:
                return
            if self._unsubscribe is not None:
                self._unsubscribe()
            running.listener.close()
            running.limiter.stop()
            await running.sockets.stop()
            await running.guests.stop()
            await running.runner.cleanup()
            await self._remove_address_file()

    async def _start(self, port: int, localhost_only: bool, token_required: bool) -> None:
        listener_socket = await self._open_socket(localhost_only, port)
        auth = self._authenticator
        auth.port = listener_socket.getsockname()[1]
        auth.localhost_only, auth.token_required = localhost_only, token_required
        self._applied = self._read_settings()
        limits, static = self._limits, await asyncio.to_thread(self._read_files)
        workspace, worlds = self._workspace, GuestWorlds(self._workspace, self._run_id)
        sockets = WebSockets(
            workspace.bus,
            lambda: workspace.store.state,
            limits,
            self._run_id,
            is_local=self.is_local,
            on_left=workspace.notices.focus.drop,
        )
        guests = GuestSockets(worlds, limits)
        limiter = ConnectionLimiter(limits)
        middleware = Middleware(auth, limiter)
        app = web.Application(middlewares=[middleware.handler], client_max_size=limits.body_size)
        app.on_response_prepare.append(add_headers)
        guesses = GuessLimiter()
        api = HttpApi(workspace, auth, self._run_id, limits, worlds, guesses)
        app.add_routes(api.routes())
        app.add_routes([web.get("/ws", partial(_serve_socket, workspace, sockets, guests))])
        app.add_routes(Lite(workspace, auth, limits, static.version, guesses).routes())
        app.add_routes([web.get("/theme.css", theme_css), web.get("/{path:.*}", static.serve)])
        runner = web.AppRunner(app, handle_signals=False, shutdown_timeout=limits.shutdown / 2)
        await runner.setup()
        assert runner.server is not None
        guard = limiter.guard(partial(HttpProtocol, runner.server, limits))
        listener = await _start_accepting(listener_socket, guard)
        base_url = _base_url(auth)
        self._running = _Running(runner, listener, guard, limiter, sockets, guests, base_url)
        self._unsubscribe = self._workspace.bus.listen(self._check_preferences)
        _log.info("listening at %s", base_url)

    def _read_files(self) -> StaticFiles:
        return StaticFiles.read(more=font_files(self._workspace.directories.fonts))

    def _check_exposure(self, localhost_only: bool, token_required: bool) -> None:
        if not localhost_only and not token_required and not self._unsafe_no_token:
            raise SpinneyError(
                "Without a token the server can only be reachable from this machine. Require the "
                "token, or start Spinney with --unsafe-no-token if everyone on this network may "
                "run programs as you.",
                "forbidden",
            )

    def _find_guest(self, token: str) -> Guest:
        return self._workspace.grants.links.identify(token)

    def _token(self) -> str | None:
        return self._workspace.store.state.preferences.http_server_token

    def _read_settings(self) -> ServerSettings:
        preferences = self._workspace.store.state.preferences
        return ServerSettings(
            preferences.http_server_port,
            preferences.http_server_localhost_only,
            preferences.http_server_token_required,
            preferences.http_server_token,
        )

    def _check_preferences(self) -> None:
        if self._read_settings() != self._applied:
            task = asyncio.create_task(self._apply_preferences())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _apply_preferences(self) -> None:
        """Apply changed preferences; settings they do not change stay as the server was started."""
        async with self._lock:
            if self._running is not None and not self._token():
                await regenerate_http_token(self._workspace)
            known, wanted = self._applied, self._read_settings()
            if self._running is None or known is None or wanted == known:
                return
            self._applied = wanted
            auth = self._authenticator
            was_local, was_required = auth.localhost_only, auth.token_required
            await self._apply_settings(self._running, known, wanted)
            if wanted.token != known.token:
                await self._write_address_file()
                await self._running.sockets.close(_ACCESS_REVOKED, "The token changed.")
            elif auth.localhost_only > was_local or auth.token_required > was_required:
                await self._running.sockets.close(_ACCESS_REVOKED, "Access was restricted.")
                await self._running.guests.close(_ACCESS_REVOKED, "Access was restricted.")
                if auth.localhost_only:
                    self._running.limiter.close_remote()

    async def _apply_settings(
        self, running: _Running, known: ServerSettings, wanted: ServerSettings
    ) -> None:
        """Apply the differences of `known` and `wanted`, all or nothing, and report the result."""
        auth = self._authenticator
        port = _choose_setting(known.port, wanted.port, auth.port)
        local = _choose_setting(known.localhost_only, wanted.localhost_only, auth.localhost_only)
        required = _choose_setting(known.token_required, wanted.token_required, auth.token_required)
        if (port, local, required) == (auth.port, auth.localhost_only, auth.token_required):
            return
        try:
            self._check_exposure(local, required)
            if (port, local) != (auth.port, auth.localhost_only):
                await self._rebind(running, port, local)
        except SpinneyError as error:
            self._report(f"{error.message} The server stays at {running.base_url}.", ok=False)
        else:
            auth.token_required = required
            self._report(f"The server answers at {running.base_url}.", ok=True)

    async def _rebind(self, running: _Running, port: int, localhost_only: bool) -> None:
        """Listen on another address; open connections stay. A failure changes nothing."""
        auth = self._authenticator
        if port == auth.port:  # One port cannot be bound twice, whatever the interfaces.
            running.listener.close()
        try:
            listener = await open_listener_with_retries(_interface(localhost_only), port)
        except SpinneyError:
            if port == auth.port:
                restored = await open_listener_with_retries(_interface(auth.localhost_only), port)
                running.listener = await _start_accepting(restored, running.guard)
            raise
        running.listener.close()
        auth.port, auth.localhost_only = listener.getsockname()[1], localhost_only
        running.listener = await _start_accepting(listener, running.guard)
        running.base_url = _base_url(auth)
        _log.info("listening at %s", running.base_url)
        await self._write_address_file()

    async def _open_socket(self, localhost_only: bool, port: int) -> socket.socket:
        return await open_listener_with_retries(_interface(localhost_only), port)

    def _report(self, detail: str, *, ok: bool) -> None:
        self._workspace.store.record(TaskCompleted(task="http_server", ok=ok, detail=detail))
        self._workspace.bus.seal()

    async def _write_address_file(self) -> None:
        """Write the address and token for this user's programs on this machine."""
        payload = {
            "base_url": f"http://127.0.0.1:{self._authenticator.port}",
            "port": self._authenticator.port,
            "token": self._token(),
            "pid": os.getpid(),
        }
        path = self._workspace.directories.server
        try:
            await asyncio.to_thread(write_atomically, path, json.dumps(payload).encode())
        except SpinneyError as error:
            # The lock file also has the address, that of the local endpoint.
            _log.warning("could not write the address file: %s", error.message)

    async def _remove_address_file(self) -> None:
        with suppress(OSError):
            await asyncio.to_thread(self._workspace.directories.server.unlink, missing_ok=True)


async def _serve_socket(
    workspace: "Workspace", sockets: WebSockets, guests: GuestSockets, request: web.Request
) -> web.WebSocketResponse:
    guest = guest_of(request)
    if guest is not None:
        return await guests.serve(request, guest)
    return await sockets.serve(request, partial(run, workspace))


def _interface(localhost_only: bool) -> str:
    return "127.0.0.1" if localhost_only else "0.0.0.0"


def _base_url(auth: Authenticator) -> str:
    return f"http://{'127.0.0.1' if auth.localhost_only else _network_address()}:{auth.port}"


def _choose_setting(known: T, wanted: T, now: T) -> T:
    """`wanted` if it differs from `known`, else `now`."""
    return now if wanted == known else wanted


async def _start_accepting(listener: socket.socket, guard: ProtocolFactory) -> asyncio.Server:
    return await asyncio.get_running_loop().create_server(guard, sock=listener, backlog=1024)


def _network_address() -> str:
    """This machine's network address, from the routing table; sends no packets."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return "127.0.0.1"
        return str(probe.getsockname()[0])
