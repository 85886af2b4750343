"""One running `codex app-server`, which all sessions with the same environment share.

Requests go through `rpc`; what the program tells and asks goes to the session that owns the thread.
It must never wait there for an answer of the program: nothing is read meanwhile.
"""

import asyncio
import logging
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Protocol

from model.backends.codex.errors import SIGN_IN, of_settings
from model.backends.codex.models import Models
from model.backends.codex.program import PROGRAM, command_line
from model.backends.json_rpc import METHOD_NOT_FOUND, JsonRpc, RpcError
from model.backends.process import AgentProcess, Said, Unreadable
from model.backends.traffic import Record, SharedRecord
from model.base.errors import SpinneyError

NAME: Final = "Codex"

START_PATIENCE: Final = 30.0
"""Seconds to begin to speak; half a second is usual, a busy machine takes ten."""

IDLE_LIMIT: Final = 60.0
"""Seconds without any session after which the program is ended."""

_HEALTH_PATIENCE: Final = 1.0
_DRAIN_PATIENCE: Final = 1.0
"""Seconds to hear the last of a program that has ended."""

ABOUT_START: Final = ("thread/tokenUsage/updated", "mcpServer/startupStatus/updated")
"""What is told of a thread while it is being opened."""

_OF_ALL: Final = ("configWarning", "deprecationNotice", "warning")
"""What is told of no thread: of the person's settings."""

_UNUSABLE: Final = "Invalid configuration"
"""How a `configWarning` begins after which it begins no thread."""

_MOST_EARLY: Final = 100
_MOST_OF_ALL: Final = 5

# Told again and again, and known better from git; what people have read is of no concern here.
_UNWANTED: Final = ("turn/diff/updated", "thread/readState/changed")

_log = logging.getLogger(__name__)

Json = dict[str, Any]


class Listener(Protocol):
    """A session, as the program's words reach it."""

    record: Record
    """Takes what the program says to it."""

    def adopts(self, thread_id: str, params: Json) -> bool:
        """Whether the thread is a sub-agent of this session."""
        ...

    async def hear(self, method: str, params: Json) -> None:
        """The program tells something."""
        ...

    async def asked(self, request_id: object, method: str, params: Json) -> bool:
        """The program asks something; whether it will be answered."""
        ...

    async def left_out(self, reason: str) -> None:
        """The program wrote something that is no message."""
        ...

    async def gone(self, reason: str) -> None:
        """The program has ended, as `reason` tells."""
        ...


class CodexServer:
    """The running program. Make one with `start`."""

    def __init__(self, process: AgentProcess, threads: dict[str, Listener], shared: Record) -> None:
        self.process = process
        self.ended = asyncio.Event()
        """Set when the program says nothing more."""
        self.rpc = JsonRpc(NAME, process.write, self.ended)
        self.models = Models()
        self._threads = threads
        self._shared = shared
        self._limits: Json = {}
        self._early: list[tuple[str, Json]] = []
        """What was told of threads that are just being opened."""
        self._of_all: list[Json] = []
        self._pump = asyncio.create_task(self._read())
        self._watch = asyncio.create_task(self._clean_up())

    @classmethod
    async def start(cls, program: str, environment: Mapping[str, str]) -> "CodexServer":
        """Start it and wait until it listens. Raises `backend_unavailable` with what to do."""
        # Worktrees come and go; the root of the file system stays.
        root = Path(Path.cwd().anchor)
        command = command_line(program)
        threads: dict[str, Listener] = {}
        shared = SharedRecord(lambda: {each.record for each in threads.values()})
        server = cls(await AgentProcess.start(command, root, environment, shared), threads, shared)
        try:
            await server._greet()
        except SpinneyError as error:
            await server.process.settled()
            await server.close()
            if (
                server.process.stderr_tail
                and server.ended.is_set()
                and error.error_type != ("backend_unavailable")
            ):
                text = f"{NAME} did not start: {server.process.stderr_tail}"
                raise SpinneyError(text, "backend_unavailable") from error
            raise
        except BaseException:  # nobody wants it any more
            await server.kill()
            raise
        return server

    async def check_account(self) -> None:
        """Raise `authentication_error` when nobody is signed in: each turn would fail late."""
        told = await self.rpc.request("account/read", {})
        if told.get("requiresOpenaiAuth") and told.get("account") is None:
            raise SpinneyError(SIGN_IN, "authentication_error")

    def own(self, thread_id: str, listener: Listener) -> list[tuple[str, Json]]:
        """From now on the listener hears what happens in the thread; what was told of it so far."""
        self._threads[thread_id] = listener
        told = [each for each in self._early if each[1].get("threadId") == thread_id]
        for method, params in told:
            listener.record("\u2190", {"method": method, "params": params})
        self._early = [each for each in self._early if each[1].get("threadId") != thread_id]
        return told

    def warnings(self) -> list[Json]:
        """What it has told of the person's settings, which is told to them once."""
        told, self._of_all = self._of_all, []
        return told

    def disown(self, thread_id: str) -> None:
        """Nobody listens to the thread any more."""
        self._threads.pop(thread_id, None)

    @property
    def limit_ends_in(self) -> float | None:
        """Seconds until a used-up limit of the account ends, where the provider told them."""
        windows = (self._limits.get(name) for name in ("primary", "secondary"))
        used = [each for each in windows if isinstance(each, dict)]
        ends = [
            each["resetsAt"] - time.time()
            for each in used
            if isinstance(each.get("resetsAt"), int)
            and isinstance(each.get("usedPercent"), int)
            and each["usedPercent"] >= 100
        ]
        return max([*(end for end in ends if end > 0)], default=None)

    async def steer(self, thread_id: str, turn_id: str, words: list[Json]) -> bool:
        """Say something in a turn that runs; whether it did, or has ended by now."""
        told = {"threadId": thread_id, "expectedTurnId": turn_id, "input": words}
        try:
            await self._rpc_of(thread_id).request("turn/steer", told)
        except RpcError:
            return False
        return True

    async def interrupt(self, turns: Mapping[str, str]) -> None:
        """End turns, by their threads, and the commands that these run."""
        for thread_id, turn_id in turns.items():
            of_thread, rpc = {"threadId": thread_id}, self._rpc_of(thread_id)
            with suppress(RpcError):  # it has ended by itself
                await rpc.request("turn/interrupt", {**of_thread, "turnId": turn_id})
            with suppress(RpcError):
                await rpc.request("thread/backgroundTerminals/clean", of_thread)

    async def answers(self) -> bool:
        """Whether the program still answers; one that hangs is no use to any session."""
        try:
            await self.rpc.request("thread/loaded/list", {}, _HEALTH_PATIENCE)
        except SpinneyError:
            return False
        return True

    async def kill(self) -> None:
        """End the program and all that it started, at once."""
        await self.process.kill()
        await asyncio.gather(self._pump, self._watch)

    async def close(self) -> None:
        """End the program and all that it started."""
        await self.process.close()
        await asyncio.gather(self._pump, self._watch)

    async def _greet(self) -> None:
        client = {"name": "spinney", "title": "Spinney", "version": "1"}
        capabilities = {"experimentalApi": True, "optOutNotificationMethods": _UNWANTED}
        hello = {"clientInfo": client, "capabilities": capabilities}
        told = await self.rpc.request("initialize", hello, START_PATIENCE)
        version = str(told.get("userAgent")).partition("/")[2].partition(" ")[0]
        if not PROGRAM.drives(version):
            raise SpinneyError(PROGRAM.too_old(version), "backend_unavailable")
        await self.rpc.notify("initialized", {})
        told = await self.rpc.request("model/list", {"includeHidden": True})
        self.models = Models(told.get("data"))
        for warning in self._of_all:
            # It would go on without them and say of nobody that they are signed in (0.169).
            if str(warning.get("summary")).startswith(_UNUSABLE):
                raise SpinneyError(of_settings(str(warning.get("details"))), "backend_unavailable")

    async def _read(self) -> None:
        try:
            async for line in self.process.lines():
                try:
                    await self._hear(line)
                except SpinneyError as error:
                    _log.warning("%s: %s", NAME, error.message)
                except Exception:  # one line that we cannot follow must not end the rest
                    _log.exception("%s said something that could not be followed", NAME)
        finally:
            # Its last words may still be on their way to the tail.
            await self.process.settled()
            self.ended.set()
            for listener in {id(each): each for each in self._threads.values()}.values():
                await listener.gone(self.process.ending(NAME))

    async def _clean_up(self) -> None:
        """The program is a wrapper: when that is killed, what it wraps would talk on unwatched."""
        await self.process.wait()
        await asyncio.wait([self._pump], timeout=_DRAIN_PATIENCE)
        await self.process.kill()

    async def _hear(self, line: Said | Unreadable) -> None:
        if isinstance(line, Unreadable):
            _log.warning("%s wrote %s of %d characters", NAME, line.reason, len(line.text))
            for listener in list(self._threads.values()):
                listener.record("\u2190", line.raw)
                await listener.left_out(line.reason)
            return
        said = line.value
        method, told = said.get("method"), said.get("params")
        params = told if isinstance(told, dict) else {}
        if not isinstance(method, str):
            self.rpc.settle(said, line.raw)
            return
        owner = self._owner(params)
        if owner is not None or "threadId" not in params:
            record = self._shared if owner is None else owner.record
            record("\u2190", line.raw)
        if "id" in said:
            if owner is None or not await owner.asked(said["id"], method, params):
                # Without an answer the turn would wait for ever.
                rpc = self._rpc_of(params.get("threadId"))
                await rpc.refuse(said["id"], METHOD_NOT_FOUND, f"Unknown method: {method}")
        elif method == "account/rateLimits/updated":
            limits = params.get("rateLimits")
            self._limits = limits if isinstance(limits, dict) else {}
        elif owner is not None:
            await owner.hear(method, params)
        elif method in ABOUT_START and len(self._early) < _MOST_EARLY:
            self._early.append((method, params))
        elif method in _OF_ALL and "threadId" not in params and len(self._of_all) < _MOST_OF_ALL:
            self._of_all.append(params)

    def _rpc_of(self, thread_id: object) -> JsonRpc:
        """For what is said of a thread, which the raw log of its session has."""
        owner = self._owner({"threadId": thread_id})
        return self.rpc if owner is None else self.rpc.with_recorder(owner.record)

    def _owner(self, params: Json) -> Listener | None:
        thread_id = params.get("threadId")
        if not isinstance(thread_id, str):
            return None
        if found := self._threads.get(thread_id):
            return found
        return next((own for own in self._threads.values() if own.adopts(thread_id, params)), None)


class Servers:
    """The running servers by their environments, each for as long as a session needs it."""

    def __init__(self) -> None:
        self._running: dict[object, CodexServer] = {}
        self._users: dict[CodexServer, int] = {}
        self._starting = asyncio.Lock()
        self._endings: set[asyncio.Task[None]] = set()

    async def lease(self, program: str, environment: Mapping[str, str]) -> CodexServer:
        """A server with this environment, which stays until it is released."""
        key = (program, frozenset(environment.items()))
        async with self._starting:
            server = self._running.get(key)
            if server is None or server.ended.is_set():
                server = await CodexServer.start(program, environment)
                self._running[key] = server
            self._users[server] = self._users.get(server, 0) + 1
            return server

    def release(self, server: CodexServer) -> None:
        """A session is done with it; one that nobody uses ends after a while."""
        self._users[server] = self._users.get(server, 1) - 1
        if not self._users[server]:
            loop = asyncio.get_running_loop()
            loop.call_later(0 if server.ended.is_set() else IDLE_LIMIT, self._end_soon, server)

    async def end_unused(self) -> None:
        """End all that nobody uses now: each keeps the threads that it had to itself."""
        unused = [server for server, users in self._users.items() if not users]
        await asyncio.gather(*(self._end(server) for server in unused))

    async def close(self) -> None:
        """End them all."""
        await asyncio.gather(*(self._end(server) for server in list(self._users)))
        await asyncio.gather(*self._endings)

    def _end_soon(self, server: CodexServer) -> None:
        if not self._users.get(server, 1):
            task = asyncio.get_running_loop().create_task(self._end(server))
            self._endings.add(task)
            task.add_done_callback(self._endings.discard)

    async def _end(self, server: CodexServer) -> None:
        self._users.pop(server, None)
        for key in [key for key, each in self._running.items() if each is server]:
            del self._running[key]
        await server.close()
