"""The HTTP and WebSocket server: start, stop, and changes of its settings while it runs."""

import asyncio
import json
import logging
import os
import secrets
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from aiohttp import WSCloseCode, web

from model.access.links import Guest
from model.base.errors import SpinneyError
from model.base.paths import write_atomically
from model.commands.dispatch import run
from model.commands.server import regenerate_http_token, status_when_stopped
from model.domain.events.program import TaskCompleted
from model.runtime.http_server import preferred_certificate
from model.service.certificates import CertificateFiles
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
from server.settings import ServerSettings
from server.static import StaticFiles
from server.theme_css import theme_css
from server.tls import ServerCertificate
from server.websocket import WebSockets

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace

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
    certificate: ServerCertificate | None
    watch: asyncio.Task[None] | None = None
    """Looks for a renewed certificate."""


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
        """The preferences that were applied last."""
        self._settings = ServerSettings(0)
        """The settings of the running server, which options may have changed."""
        self._run_id = secrets.token_hex(8)
        """Identifies this run of the program: event numbers of another run are meaningless here."""
        self._running: _Running | None = None
        self._lock = asyncio.Lock()
        self._unsubscribe: Callable[[], None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def status(self) -> dict[str, Any]:
        """See `HttpServer.status`."""
        running, settings = self._running, self._settings
        if running is None:
            return status_when_stopped(self._workspace.store.state.preferences)
        certificate = running.certificate and running.certificate.certificate
        return {
            "running": True,
            "base_url": running.base_url,
            "port": settings.port,
            "host": settings.interface,
            "localhost_only": settings.is_local,
            "token_required": settings.token_required,
            "tls": certificate is not None,
            "certificate_names": certificate.names if certificate else (),
            "certificate_expires_at": certificate.valid_until if certificate else None,
            "warning": settings.warning,
            "clients": len(running.sockets) + len(running.guests),
        }

    async def start(
        self,
        port: int,
        *,
        localhost_only: bool,
        token_required: bool,
        host: str = "",
        tls: CertificateFiles | None = None,
    ) -> None:
        """See `HttpServer.start`."""
        wanted = ServerSettings(port, localhost_only, token_required, host, tls)
        self._check_exposure(wanted)
        async with self._lock:
            if self._running is not None:
                if replace(wanted, port=port or self._settings.port) == self._settings:
                    return
                raise SpinneyError(
                    f"The server is already running at {self._running.base_url}. Stop it first, "
                    "or change its settings: they apply while it runs.",
                    "conflict",
                )
            await self._start(wanted)
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
            if running.watch is not None:
                running.watch.cancel()
            running.limiter.stop()
            await running.sockets.stop()
            await running.guests.stop()
            await running.runner.cleanup()
            await self._remove_address_file()

    async def _start(self, wanted: ServerSettings) -> None:
        certificate = await _load_certificate(wanted)
        listener_socket = await self._open_socket(wanted)
        self._settings = replace(wanted, port=listener_socket.getsockname()[1])
        auth = self._authenticator
        auth.follow(self._settings, certificate)
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
        listener = await self._accept(listener_socket, guard, certificate)
        base_url = self._settings.format_url(certificate)
        self._running = _Running(
            runner, listener, guard, limiter, sockets, guests, base_url, certificate
        )
        self._watch_certificate(self._running)
        self._unsubscribe = self._workspace.bus.listen(self._check_preferences)
        _log.info("listening at %s", base_url)

    async def _accept(
        self,
        listener: socket.socket,
        guard: ProtocolFactory,
        certificate: ServerCertificate | None,
    ) -> asyncio.Server:
        return await asyncio.get_running_loop().create_server(
            guard,
            sock=listener,
            backlog=1024,
            ssl=certificate.context if certificate else None,
            ssl_handshake_timeout=self._limits.handshake if certificate else None,
            ssl_shutdown_timeout=self._limits.shutdown if certificate else None,
        )

    def _watch_certificate(self, running: _Running) -> None:
        """Follow the files of the present certificate instead of those before."""
        if running.watch is not None:
            running.watch.cancel()
        running.watch = None
        if running.certificate is not None:
            work = running.certificate.watch(self._limits.certificate_check, self._report)
            running.watch = asyncio.create_task(work)

    def _read_files(self) -> StaticFiles:
        return StaticFiles.read(more=font_files(self._workspace.directories.fonts))

    def _check_exposure(self, wanted: ServerSettings) -> None:
        is_open = not wanted.token_required and not wanted.is_local
        if is_open and not self._unsafe_no_token:
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
            preferences.http_server_host,
            preferred_certificate(preferences),
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
            before = self._settings
            await self._apply_settings(self._running, known, wanted)
            now = self._settings
            if wanted.token != known.token:
                await self._write_address_file()
                await self._running.sockets.close(_ACCESS_REVOKED, "The token changed.")
            elif now.is_stricter(before):
                await self._running.sockets.close(_ACCESS_REVOKED, "Access was restricted.")
                await self._running.guests.close(_ACCESS_REVOKED, "Access was restricted.")
                if now.is_local:
                    self._running.limiter.close_remote()

    async def _apply_settings(
        self, running: _Running, known: ServerSettings, wanted: ServerSettings
    ) -> None:
        """Apply the differences of `known` and `wanted`, all or nothing, and report the result."""
        now = self._settings
        names = ("port", "localhost_only", "token_required", "host", "tls")
        values = {name: getattr(wanted, name) for name in names}
        changes = {name: value for name, value in values.items() if value != getattr(known, name)}
        after = replace(now, **changes)
        if after == now:
            return
        try:
            self._check_exposure(after)
            if after.place != now.place:
                await self._rebind(running, after)
        except SpinneyError as error:
            self._report(f"{error.message} The server stays at {running.base_url}.", False)
        else:
            self._settings = replace(after, port=self._settings.port)
            self._authenticator.follow(self._settings, running.certificate)
            self._report(f"The server answers at {running.base_url}.", True)

    async def _rebind(self, running: _Running, after: ServerSettings) -> None:
        """Listen on another address; open connections stay. A failure changes nothing."""
        before, certificate = self._settings, running.certificate
        if after.tls != before.tls:
            certificate = await _load_certificate(after)
        # One port cannot be bound twice, whatever the interfaces.
        is_same_port = after.port == before.port
        if is_same_port:
            running.listener.close()
        try:
            listener = await open_listener_with_retries(after.interface, after.port)
        except SpinneyError:
            if is_same_port:
                restored = await open_listener_with_retries(before.interface, before.port)
                running.listener = await self._accept(restored, running.guard, running.certificate)
            raise
        running.listener.close()
        self._settings = replace(after, port=listener.getsockname()[1])
        if running.certificate is not certificate:
            running.certificate = certificate
            self._watch_certificate(running)
        running.listener = await self._accept(listener, running.guard, certificate)
        running.base_url = self._settings.format_url(certificate)
        _log.info("listening at %s", running.base_url)
        await self._write_address_file()

    async def _open_socket(self, settings: ServerSettings) -> socket.socket:
        return await open_listener_with_retries(settings.interface, settings.port)

    def _report(self, detail: str, ok: bool) -> None:
        self._workspace.store.record(TaskCompleted(task="http_server", ok=ok, detail=detail))
        self._workspace.bus.seal()

    async def _write_address_file(self) -> None:
        """Write the address and token for this user's programs on this machine."""
        assert self._running is not None
        payload = {
            "base_url": self._settings.format_local_url(self._running.certificate),
            "port": self._settings.port,
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


async def _load_certificate(settings: ServerSettings) -> ServerCertificate | None:
    return await ServerCertificate.load(settings.tls) if settings.tls is not None else None
