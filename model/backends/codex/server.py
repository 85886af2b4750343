"""A running `codex app-server`, shared by all sessions with the same environment.

Requests are sent with `rpc`; the program's notifications and requests are passed to the session
that owns the thread. A handler must never wait for a response of the program: while it runs,
nothing is read.
"""

import asyncio
import logging
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

from model.backends.codex.errors import SIGN_IN, settings_error
from model.backends.codex.limits import parse_windows
from model.backends.codex.models import Models
from model.backends.codex.program import PROGRAM, build_command
from model.backends.json_rpc import METHOD_NOT_FOUND, JsonRpc, RpcError
from model.backends.json_values import Json, as_object
from model.backends.process import AgentProcess, InvalidLine, JsonLine
from model.backends.traffic import SharedRecorder, TrafficRecorder
from model.base.errors import SpinneyError
from model.domain.usage import UsageWindow

NAME: Final = "Codex"

CLIENT: Final = "spinney"
"""The originator of the threads that Spinney begins."""

START_TIMEOUT: Final = 30.0
"""Seconds to respond after the start; half a second is usual, a busy machine takes ten."""

IDLE_LIMIT: Final = 60.0
"""Seconds without a session after which the server is ended."""

_HEALTH_TIMEOUT: Final = 1.0
_DRAIN_TIMEOUT: Final = 1.0
"""Seconds to read the rest of the output after the program has exited."""

STARTUP_METHODS: Final = ("thread/tokenUsage/updated", "mcpServer/startupStatus/updated")
"""Notifications about a thread that may arrive while it is being opened."""

_WARNING_METHODS: Final = ("configWarning", "deprecationNotice", "warning")
"""Notifications about the user's settings, which concern no thread."""

_UNUSABLE: Final = "Invalid configuration"
"""How a `configWarning` begins after which the program opens no thread."""

_MAX_EARLY: Final = 100
_MAX_WARNINGS: Final = 5

# Sent very often and better known from git; read state is not used here.
_IGNORED_METHODS: Final = ("turn/diff/updated", "thread/readState/changed")

_log = logging.getLogger(__name__)


class Listener(Protocol):
    """Handles the program's messages for a session."""

    recorder: TrafficRecorder
    """Records the messages that concern it."""

    def claims_thread(self, thread_id: str, params: Json) -> bool:
        """Whether the thread is a sub-agent of this session."""
        ...

    async def on_notification(self, method: str, params: Json) -> None:
        """Handle a notification."""
        ...

    async def on_request(self, request_id: object, method: str, params: Json) -> bool:
        """Handle a request; return whether it will be answered."""
        ...

    async def on_invalid_line(self, reason: str) -> None:
        """Handle a line that is not a message."""
        ...

    async def on_limits(self, windows: tuple[UsageWindow, ...]) -> None:
        """Handle reported usage windows of the account."""
        ...

    async def on_exit(self, reason: str) -> None:
        """Handle the exit of the program; `reason` describes it."""
        ...


class CodexServer:
    """The running program. Create one with `start`."""

    def __init__(
        self, process: AgentProcess, threads: dict[str, Listener], shared: TrafficRecorder
    ) -> None:
        self.process = process
        self.ended = asyncio.Event()
        """Set once the program's output has ended."""
        self.rpc = JsonRpc(NAME, process.write, self.ended)
        self.models = Models()
        self._listeners = threads
        self._shared = shared
        self._limits: Json = {}
        self._early_notifications: list[tuple[str, Json]] = []
        """Notifications about threads that are being opened."""
        self._warnings: list[Json] = []
        self._reader = asyncio.create_task(self._read())
        self._watcher = asyncio.create_task(self._clean_up())

    @classmethod
    async def start(cls, program: str, environment: Mapping[str, str]) -> "CodexServer":
        """Start it and wait until it is ready. Raises `backend_unavailable` with what to do."""
        # Worktrees can be removed; the root of the file system cannot.
        root = Path(Path.cwd().anchor)
        command = build_command(program)
        threads: dict[str, Listener] = {}
        shared = SharedRecorder(lambda: {each.recorder for each in threads.values()})
        server = cls(await AgentProcess.start(command, root, environment, shared), threads, shared)
        try:
            await server._initialize()
        except SpinneyError as error:
            await server.process.wait_settled()
            await server.close()
            if (
                server.process.stderr_tail
                and server.ended.is_set()
                and error.error_type != ("backend_unavailable")
            ):
                text = f"{NAME} did not start: {server.process.stderr_tail}"
                raise SpinneyError(text, "backend_unavailable") from error
            raise
        except BaseException:  # canceled: the process is no longer needed
            await server.kill()
            raise
        return server

    async def check_account(self) -> None:
        """Raise `authentication_error` if not signed in: otherwise each turn would fail late."""
        account = await self.rpc.request("account/read", {})
        if account.get("requiresOpenaiAuth") and account.get("account") is None:
            raise SpinneyError(SIGN_IN, "authentication_error")

    def subscribe(self, thread_id: str, listener: Listener) -> list[tuple[str, Json]]:
        """Register the listener of a thread; return the notifications received about it so far."""
        self._listeners[thread_id] = listener
        notifications = [
            each for each in self._early_notifications if each[1].get("threadId") == thread_id
        ]
        for method, params in notifications:
            listener.recorder("\u2190", {"method": method, "params": params})
        self._early_notifications = [
            each for each in self._early_notifications if each[1].get("threadId") != thread_id
        ]
        return notifications

    def take_warnings(self) -> list[Json]:
        """Return and clear the warnings about the user's settings: they are shown once."""
        warnings, self._warnings = self._warnings, []
        return warnings

    def unsubscribe(self, thread_id: str) -> None:
        """Remove the listener of a thread."""
        self._listeners.pop(thread_id, None)

    @property
    def limit_resets_in(self) -> float | None:
        """Seconds until an exhausted limit of the account resets, if the provider reported it."""
        windows = (self._limits.get(name) for name in ("primary", "secondary"))
        used = [as_object(window) for window in windows]
        ends = [
            each["resetsAt"] - time.time()
            for each in used
            if isinstance(each.get("resetsAt"), int)
            and isinstance(each.get("usedPercent"), int)
            and each["usedPercent"] >= 100
        ]
        return max([*(end for end in ends if end > 0)], default=None)

    async def steer(
        self, thread_id: str, turn_id: str, input: list[Json], message_id: str = ""
    ) -> bool:
        """Add input to a running turn; return False if the turn has ended or takes none.

        The `userMessage` item with `message_id` as its `clientId` says that the model gets it.
        """
        params: Json = {"threadId": thread_id, "expectedTurnId": turn_id, "input": input}
        if message_id:
            params["clientUserMessageId"] = message_id
        try:
            await self._rpc_for(thread_id).request("turn/steer", params)
        except RpcError:
            return False
        return True

    async def interrupt(self, turns: Mapping[str, str]) -> None:
        """Interrupt turns, given by thread, and the commands that they run."""
        for thread_id, turn_id in turns.items():
            of_thread, rpc = {"threadId": thread_id}, self._rpc_for(thread_id)
            with suppress(RpcError):  # it has already ended
                await rpc.request("turn/interrupt", {**of_thread, "turnId": turn_id})
            with suppress(RpcError):
                await rpc.request("thread/backgroundTerminals/clean", of_thread)

    async def is_responsive(self) -> bool:
        """Whether the program still responds; a hanging one is useless to all sessions."""
        try:
            await self.rpc.request("thread/loaded/list", {}, _HEALTH_TIMEOUT)
        except SpinneyError:
            return False
        return True

    async def kill(self) -> None:
        """Kill the program and everything it started, immediately."""
        await self.process.kill()
        await asyncio.gather(self._reader, self._watcher)

    async def close(self) -> None:
        """End the program and everything it started."""
        await self.process.close()
        await asyncio.gather(self._reader, self._watcher)

    async def _initialize(self) -> None:
        client = {"name": CLIENT, "title": "Spinney", "version": "1"}
        capabilities = {"experimentalApi": True, "optOutNotificationMethods": _IGNORED_METHODS}
        params = {"clientInfo": client, "capabilities": capabilities}
        response = await self.rpc.request("initialize", params, START_TIMEOUT)
        version = str(response.get("userAgent")).partition("/")[2].partition(" ")[0]
        if not PROGRAM.supports(version):
            raise SpinneyError(PROGRAM.outdated_message(version), "backend_unavailable")
        await self.rpc.notify("initialized", {})
        response = await self.rpc.request("model/list", {"includeHidden": True})
        self.models = Models(response.get("data"))
        for warning in self._warnings:
            # Otherwise it continues without settings and reports that no user is signed in (0.169).
            if str(warning.get("summary")).startswith(_UNUSABLE):
                raise SpinneyError(
                    settings_error(str(warning.get("details"))), "backend_unavailable"
                )

    async def _read(self) -> None:
        try:
            async for line in self.process.read_lines():
                try:
                    await self._handle_line(line)
                except SpinneyError as error:
                    _log.warning("%s: %s", NAME, error.message)
                except Exception:  # one line that cannot be handled must not end the rest
                    _log.exception("failed to handle a line of %s", NAME)
        finally:
            # Its last lines on stderr may not have been read yet.
            await self.process.wait_settled()
            self.ended.set()
            for listener in {id(each): each for each in self._listeners.values()}.values():
                await listener.on_exit(self.process.describe_exit(NAME))

    async def _clean_up(self) -> None:
        """Kill the wrapped process: the program is a wrapper, and may be killed without it."""
        await self.process.wait()
        await asyncio.wait([self._reader], timeout=_DRAIN_TIMEOUT)
        await self.process.kill()

    async def _handle_line(self, line: JsonLine | InvalidLine) -> None:
        if isinstance(line, InvalidLine):
            _log.warning(
                "skipped output of %s (%s), %d characters", NAME, line.reason, len(line.text)
            )
            for listener in list(self._listeners.values()):
                listener.recorder("\u2190", line.raw)
                await listener.on_invalid_line(line.reason)
            return
        message = line.value
        method, params = message.get("method"), as_object(message.get("params"))
        if not isinstance(method, str):
            self.rpc.handle_response(message, line.raw)
            return
        owner = self._find_listener(params)
        if owner is not None or "threadId" not in params:
            record = self._shared if owner is None else owner.recorder
            record("\u2190", line.raw)
        if "id" in message:
            if owner is None or not await owner.on_request(message["id"], method, params):
                # Without a response the turn would wait forever.
                rpc = self._rpc_for(params.get("threadId"))
                await rpc.respond_error(
                    message["id"], METHOD_NOT_FOUND, f"Unknown method: {method}"
                )
        elif method == "account/rateLimits/updated":
            await self._handle_limits(as_object(params.get("rateLimits")))
        elif owner is not None:
            await owner.on_notification(method, params)
        elif method in STARTUP_METHODS and len(self._early_notifications) < _MAX_EARLY:
            self._early_notifications.append((method, params))
        elif (
            method in _WARNING_METHODS
            and "threadId" not in params
            and len(self._warnings) < _MAX_WARNINGS
        ):
            self._warnings.append(params)

    async def _handle_limits(self, limits: Json) -> None:
        self._limits = limits
        if windows := parse_windows(limits):
            for listener in list(self._listeners.values()):
                await listener.on_limits(windows)

    def _rpc_for(self, thread_id: object) -> JsonRpc:
        """The connection for messages about a thread; it records to its session's raw log."""
        owner = self._find_listener({"threadId": thread_id})
        return self.rpc if owner is None else self.rpc.with_recorder(owner.recorder)

    def _find_listener(self, params: Json) -> Listener | None:
        thread_id = params.get("threadId")
        if not isinstance(thread_id, str):
            return None
        if found := self._listeners.get(thread_id):
            return found
        return next(
            (each for each in self._listeners.values() if each.claims_thread(thread_id, params)),
            None,
        )


class ServerPool:
    """Running servers by environment, each kept as long as a session uses it."""

    def __init__(self) -> None:
        self._running: dict[object, CodexServer] = {}
        self._users: dict[CodexServer, int] = {}
        self._starting = asyncio.Lock()
        self._close_tasks: set[asyncio.Task[None]] = set()

    async def lease(self, program: str, environment: Mapping[str, str]) -> CodexServer:
        """A server with this environment, running at least until it is released."""
        key = (program, frozenset(environment.items()))
        async with self._starting:
            server = self._running.get(key)
            if server is None or server.ended.is_set():
                server = await CodexServer.start(program, environment)
                self._running[key] = server
            self._users[server] = self._users.get(server, 0) + 1
            return server

    def release(self, server: CodexServer) -> None:
        """Release a lease; an unused server ends after `IDLE_LIMIT` seconds."""
        self._users[server] = self._users.get(server, 1) - 1
        if not self._users[server]:
            loop = asyncio.get_running_loop()
            loop.call_later(0 if server.ended.is_set() else IDLE_LIMIT, self._close_soon, server)

    @property
    def is_used(self) -> bool:
        """Whether a session uses a server."""
        return any(self._users.values())

    async def close_unused(self) -> None:
        """End all unused servers: they hold the threads that they have opened."""
        unused = [server for server, users in self._users.items() if not users]
        await asyncio.gather(*(self._close(server) for server in unused))

    async def close(self) -> None:
        """End all servers."""
        await asyncio.gather(*(self._close(server) for server in list(self._users)))
        await asyncio.gather(*self._close_tasks)

    def _close_soon(self, server: CodexServer) -> None:
        if not self._users.get(server, 1):
            task = asyncio.get_running_loop().create_task(self._close(server))
            self._close_tasks.add(task)
            task.add_done_callback(self._close_tasks.discard)

    async def _close(self, server: CodexServer) -> None:
        self._users.pop(server, None)
        for key in [key for key, each in self._running.items() if each is server]:
            del self._running[key]
        await server.close()
