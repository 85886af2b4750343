"""The server: starts and stops listening, and takes every request through the door first."""

import asyncio
import errno
import json
import logging
import os
import secrets
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aiohttp import WSCloseCode, web
from aiohttp.http_exceptions import HttpProcessingError

from model.commands.server import stopped_status
from model.errors import SpinneyError
from model.paths import write_atomically
from server.auth import Door
from server.doorman import Doorman
from server.entrance import Entrance, add_headers
from server.http_api import HttpApi
from server.limits import Limits
from server.static import StaticFiles
from server.websocket import WebSockets

if TYPE_CHECKING:
    from model.workspace import Workspace

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Running:
    """What exists while the server listens."""

    runner: web.AppRunner
    listener: asyncio.Server
    doorman: Doorman
    sockets: WebSockets
    base_url: str


class Server:
    """The HTTP and WebSocket server of one workspace. Lives on the core's loop."""

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
        self._known_token: str | None = None
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
            return stopped_status(self._workspace.store.state.preferences)
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
        if not localhost_only and not token_required and not self._unsafe_no_token:
            raise SpinneyError(
                "Without a token the server may only be reachable from this machine. Require the "
                "token, or start Spinney with --unsafe-no-token if everybody on this network may "
                "run programs as you.",
                "forbidden",
            )
        async with self._changing:
            if self._running is not None:
                wanted = (port or self._door.port, localhost_only, token_required)
                door = self._door
                if wanted == (door.port, door.localhost_only, door.token_required):
                    return
                raise SpinneyError(
                    f"The server already runs at {self._running.base_url}. Stop it first.",
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
            path = self._workspace.directories.server
            await asyncio.to_thread(path.unlink, missing_ok=True)

    async def _start(self, port: int, localhost_only: bool, token_required: bool) -> None:
        listening = _listen("127.0.0.1" if localhost_only else "0.0.0.0", port)
        door = self._door
        door.port = listening.getsockname()[1]
        door.localhost_only, door.token_required = localhost_only, token_required
        self._known_token = self._token()
        limits, static = self._limits, await asyncio.to_thread(StaticFiles.read)
        sockets, doorman = WebSockets(self._workspace, limits, self._run), Doorman(limits)
        entrance = Entrance(door, doorman)
        app = web.Application(middlewares=[entrance.admit], client_max_size=limits.body_size)
        app.on_response_prepare.append(add_headers)
        app.add_routes(HttpApi(self._workspace, door, self._run, limits).routes())
        app.add_routes([web.get("/ws", sockets.serve), web.get("/{path:.*}", static.serve)])
        runner = web.AppRunner(
            app,
            access_log=None,
            logger=_http_log(),
            handle_signals=False,
            keepalive_timeout=limits.keep_alive,
            lingering_time=limits.lingering,
            shutdown_timeout=limits.shutdown / 2,
        )
        await runner.setup()
        assert runner.server is not None
        listener = await asyncio.get_running_loop().create_server(
            doorman.guard(runner.server), sock=listening, backlog=1024
        )
        host = "127.0.0.1" if localhost_only else _own_address()
        base_url = f"http://{host}:{door.port}"
        self._running = _Running(runner, listener, doorman, sockets, base_url)
        self._end_listening = self._workspace.bus.listen(self._look_at_token)
        _log.info("listening at %s", base_url)

    def _token(self) -> str | None:
        return self._workspace.store.state.preferences.http_server_token

    def _look_at_token(self) -> None:
        if self._token() != self._known_token:
            self._known_token = self._token()
            task = asyncio.create_task(self._change_locks())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _change_locks(self) -> None:
        """Close what was opened with the old token."""
        if self._running is not None:
            await self._running.sockets.close(WSCloseCode.POLICY_VIOLATION, "The token changed.")
            await self._write_address()

    async def _write_address(self) -> None:
        """Leave word for programs of this user on this machine."""
        told = {
            "base_url": f"http://127.0.0.1:{self._door.port}",
            "port": self._door.port,
            "token": self._token(),
            "pid": os.getpid(),
        }
        path = self._workspace.directories.server
        await asyncio.to_thread(write_atomically, path, json.dumps(told).encode())


def _http_log() -> logging.Logger:
    """The log of the HTTP layer, without requests that are no HTTP: it would quote their tokens."""
    log = logging.getLogger("server.http")
    log.addFilter(_is_own_fault)
    return log


def _is_own_fault(record: logging.LogRecord) -> bool:
    return not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError))


def _listen(host: str, port: int) -> socket.socket:
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(1024)
        listening.setblocking(False)
    except (OSError, OverflowError) as error:
        listening.close()
        raise _not_listening(port, error) from error
    return listening


def _not_listening(port: int, error: OSError | OverflowError) -> SpinneyError:
    match getattr(error, "errno", None):
        case errno.EADDRINUSE:
            return SpinneyError(
                f"Port {port} is in use by another program. Stop that program, or choose another "
                "port in the settings (http_server_port).",
                "conflict",
            )
        case errno.EACCES:
            return SpinneyError(
                f"Port {port} may not be used by this user. Choose one above 1023 in the settings "
                "(http_server_port).",
                "forbidden",
            )
        case _:
            return SpinneyError(f"The server cannot listen on port {port}: {error}")


def _own_address() -> str:
    """This machine's address in its network; asks the routing table and sends nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return "127.0.0.1"
        return str(probe.getsockname()[0])
