"""The client for a Spinney in another process: calls and events over one WebSocket that reconnects.

It resumes from the last event it received. If events are lost for good, or the other Spinney was
restarted, it reads the whole state again.
"""

import asyncio
import itertools
import json
import random
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ParamSpec, TypeVar, cast, get_args

import aiohttp
from pydantic import BaseModel, ValidationError
from pydantic_core import to_jsonable_python

from model import PROTOCOL
from model.api.command import Command, camel_case
from model.base.errors import ErrorType, NotRunningError, SpinneyError
from model.base.instance import protocol_mismatch
from model.base.strict_json import dump_json
from model.client.base import Disconnected, EventBatch, Loaded, Update
from model.client.snapshot import parse_snapshot
from model.domain.events.all import parse_event
from model.domain.events.base import Event

P = ParamSpec("P")
R = TypeVar("R")

MAX_QUEUED = 5000
"""Events that may wait for a slow reader of `updates`; beyond that it gets the whole state again.
"""

MAX_QUEUED_SIZE = 4 * 1024 * 1024
"""The same in characters of their frames."""

_HEARTBEAT = 20.0
"""Seconds of silence after which the server is pinged."""


@dataclass(frozen=True, slots=True)
class BackOff:
    """Delays between attempts to reconnect, in seconds."""

    first: float = 1.0
    longest: float = 30.0
    jitter: float = 0.2
    """Keeps many clients from reconnecting at the same moment."""

    def pause(self, failures: int) -> float:
        """The delay after this many consecutive failures, from 0."""
        pause = min(self.first * 2.0 ** min(failures, 20), self.longest)
        return pause * random.uniform(1 - self.jitter, 1)


class RemoteClient:
    """A `Client` of the Spinney at `base_url`, such as `http://127.0.0.1:3456`."""

    def __init__(
        self,
        base_url: str,
        token: str,
        *,
        find: Callable[[], tuple[str, str]] | None = None,
        back_off: BackOff | None = None,
    ) -> None:
        """`find` returns the current address and token; it is called before every connection."""
        self.base_url = base_url.rstrip("/")
        self._token = token
        self._find = find
        self._back_off = back_off or BackOff()
        self._session: aiohttp.ClientSession | None = None
        self._connection: _Connection | None = None
        self._connecting = asyncio.Lock()
        self._following = False
        self._closed = False
        self._seq = 0
        self._run = ""

    async def call(self, command: Command[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a command there and return its result. Raises `SpinneyError`."""
        assert not args, "commands take keyword arguments"
        wire = {camel_case(name): _wire(value) for name, value in kwargs.items()}
        return command.result.validate_python(await self.call_raw(command.name, wire))

    async def connect(self) -> None:
        """Connect now instead of with the first call. Raises `SpinneyError`."""
        (await self._connect()).check()

    async def call_raw(self, name: str, args: Mapping[str, Any]) -> Any:
        """Run a command by wire name; arguments and result are wire values."""
        return await (await self._connect()).call(name, args)

    async def updates(self) -> AsyncIterator[Update]:
        """`Loaded`, then what happens; `Disconnected` after each failed attempt to connect.

        It ends when the client is closed.
        """
        self._following = True
        failures = 0
        while True:
            try:
                connection = await self._connect()
                connection.check()
                connection.collect()
                is_same_run = connection.run == self._run
                yield EventBatch(()) if is_same_run else await self._load(connection)
                failures = 0
                async for update in self._follow(connection):
                    yield update
            except SpinneyError as error:
                if self._closed:
                    return
                yield Disconnected(error.message)
                await asyncio.sleep(self._back_off.pause(failures))
                failures += 1

    async def frames(
        self, since: int = 0, wanted: Mapping[str, str] | None = None
    ) -> AsyncGenerator[dict[str, Any], None]:
        """Numbered event frames as they arrive, `hello` first, until the connection is lost.

        With `wanted` only those of a `session` or with names in `only`: lists with commas.
        """
        await self._refresh_address()
        socket = await self._open_socket(since, wanted)
        try:
            while True:
                yield await _next_frame(socket, self.base_url)
        finally:
            await socket.close()

    async def close(self) -> None:
        """Close the connection; `updates` ends."""
        self._closed = True
        if self._connection is not None:
            await self._connection.close()
        if self._session is not None:
            await self._session.close()

    async def _follow(self, connection: "_Connection") -> AsyncIterator[Update]:
        while True:
            frames = await connection.next_events()
            if frames is None:
                yield await self._load(connection)
                continue
            # Skip the events that the snapshot contains.
            new = [frame for frame in frames if frame["seq"] > self._seq]
            if new:
                self._seq = new[-1]["seq"]
                events = (_event(frame) for frame in new)
                yield EventBatch(tuple(event for event in events if event is not None))

    async def _load(self, connection: "_Connection") -> Loaded:
        """The present state: earlier events are in it, later ones wait in the connection."""
        try:
            async with self._http().get(f"{self.base_url}/api/init") as response:
                snapshot = await response.json()
                if response.status != 200:
                    raise _error_from(snapshot)
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            raise self._unreachable(error) from None
        if snapshot.get("run") != connection.run:
            await connection.close()
            raise SpinneyError(f"Spinney at {self.base_url} was restarted.", "timeout")
        self._seq, self._run = snapshot["seq"], connection.run
        return Loaded(await asyncio.to_thread(parse_snapshot, snapshot))

    async def _connect(self) -> "_Connection":
        async with self._connecting:
            if self._connection is None or self._connection.is_over:
                await self._refresh_address()
                socket = await self._open_socket(self._seq)
                hello = await _next_frame(socket, self.base_url)
                self._connection = _Connection(socket, hello["payload"], self.base_url)
                if self._following:
                    self._connection.collect()
            return self._connection

    async def _open_socket(
        self, since: int, wanted: Mapping[str, str] | None = None
    ) -> aiohttp.ClientWebSocketResponse:
        try:
            return await self._http().ws_connect(
                f"{self.base_url}/ws",
                params={"since": str(since), **(wanted or {})},
                heartbeat=_HEARTBEAT,
                max_msg_size=0,
                timeout=aiohttp.ClientWSTimeout(ws_close=2),
            )
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            raise self._unreachable(error) from None

    async def _refresh_address(self) -> None:
        if self._find is None:
            return
        endpoint = await asyncio.to_thread(self._find)
        if endpoint != (self.base_url, self._token):
            self.base_url, self._token = endpoint
            if self._session is not None:
                await self._session.close()

    def _http(self) -> aiohttp.ClientSession:
        if self._session is None or self._session.closed:
            # In a header, because URLs are logged.
            headers = {"Authorization": f"Bearer {self._token}"} if self._token else {}
            self._session = aiohttp.ClientSession(headers=headers)
        return self._session

    def _unreachable(self, error: Exception) -> SpinneyError:
        if isinstance(error, aiohttp.WSServerHandshakeError | aiohttp.ClientResponseError):
            if error.status == 401:
                return SpinneyError(
                    f"Spinney at {self.base_url} does not accept this token. If it was replaced, "
                    "'spinney url' shows the new one on that machine.",
                    "authentication_error",
                )
            return SpinneyError(f"{self.base_url} answered {error.status}. Is it a Spinney?")
        if isinstance(error, aiohttp.ClientConnectorCertificateError):
            return SpinneyError(
                f"This machine does not trust the certificate of {self.base_url}: "
                f"{error.certificate_error}. If it is your own, name its file in SSL_CERT_FILE."
            )
        if isinstance(error, aiohttp.ClientConnectorError):
            return NotRunningError(
                f"Nothing answers at {self.base_url}. Is Spinney running there?", "timeout"
            )
        return NotRunningError(f"{self.base_url} cannot be reached: {error}", "timeout")


def _wire(value: object) -> Any:
    """An argument as JSON, without unset fields of resources: those stay unchanged."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_unset=True)
    return to_jsonable_python(value)


@dataclass
class _Connection:
    """One open WebSocket: pending calls and received events."""

    socket: aiohttp.ClientWebSocketResponse
    hello: Mapping[str, Any]
    base_url: str
    is_over: bool = False
    _calls: dict[str, "asyncio.Future[Any]"] = field(default_factory=dict)
    _ids: "itertools.count[int]" = field(default_factory=itertools.count)
    _queued: list[dict[str, Any]] | None = None
    _queued_size: int = 0
    _missed: bool = False
    _has_news: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self._reading = asyncio.create_task(self._read())

    @property
    def run(self) -> str:
        """The id of the server's run."""
        return str(self.hello.get("run", ""))

    def check(self) -> None:
        """Raise `SpinneyError` if the server speaks another version of the protocol."""
        if self.hello.get("protocol", PROTOCOL) != PROTOCOL:
            raise protocol_mismatch(str(self.hello.get("version", "?")))

    def collect(self) -> None:
        """Start to queue events."""
        if self._queued is None:
            self._queued = []

    async def call(self, name: str, args: Mapping[str, Any]) -> Any:
        request_id = str(next(self._ids))
        reply = self._calls[request_id] = asyncio.get_running_loop().create_future()
        try:
            if self.is_over:
                raise self._lost()
            request = {"id": request_id, "command": name, "args": dict(args)}
            await self.socket.send_str(dump_json(request))
            return await reply
        except (aiohttp.ClientError, ConnectionError):
            raise self._lost() from None
        finally:
            self._calls.pop(request_id, None)

    async def next_events(self) -> list[dict[str, Any]] | None:
        """Events since the last call; `None` if some were missed. Raises when the connection has
        ended.
        """
        while True:
            if self._missed:
                self._missed = False
                self._queued, self._queued_size = [], 0
                return None
            if self._queued:
                frames, self._queued, self._queued_size = self._queued, [], 0
                return frames
            if self.is_over:
                raise self._lost()
            self._has_news.clear()
            await self._has_news.wait()

    async def close(self) -> None:
        await self.socket.close()
        self._reading.cancel()
        await asyncio.gather(self._reading, return_exceptions=True)

    async def _read(self) -> None:
        try:
            while True:
                self._take(*await _next_sized(self.socket, self.base_url))
        except SpinneyError:
            pass  # Pending calls fail below.
        finally:
            self.is_over = True
            self._has_news.set()
            for reply in self._calls.values():
                if not reply.done():
                    reply.set_exception(self._lost())

    def _take(self, frame: dict[str, Any], size: int) -> None:
        if frame.get("type") in ("response", "error"):
            reply = self._calls.get(frame.get("id") or "")
            if reply is None or reply.done():
                return
            if frame["type"] == "response":
                reply.set_result(frame.get("data"))
            else:
                reply.set_exception(_error_from(frame))
        elif self._queued is not None:
            self._queued_size += size
            is_full = len(self._queued) >= MAX_QUEUED or self._queued_size > MAX_QUEUED_SIZE
            if frame.get("event") == "events-missed" or is_full:
                self._missed = True
                self._queued, self._queued_size = [], 0
            elif "seq" in frame:
                self._queued.append(frame)
            self._has_news.set()

    def _lost(self) -> SpinneyError:
        return SpinneyError(f"The connection to {self.base_url} was lost.", "timeout")


async def _next_frame(socket: aiohttp.ClientWebSocketResponse, base_url: str) -> dict[str, Any]:
    """The next frame. Raises `SpinneyError` when the connection has ended."""
    return (await _next_sized(socket, base_url))[0]


async def _next_sized(
    socket: aiohttp.ClientWebSocketResponse, base_url: str
) -> tuple[dict[str, Any], int]:
    """The next frame, and its length in characters."""
    while True:
        message = await socket.receive()
        if message.type is not aiohttp.WSMsgType.TEXT:
            raise SpinneyError(f"The connection to {base_url} was lost.", "timeout")
        try:
            frame = json.loads(message.data)
        except ValueError:
            continue
        if isinstance(frame, dict):
            return frame, len(message.data)


def _event(frame: dict[str, Any]) -> Event | None:
    """The event of a frame; `None` if a newer Spinney writes it differently."""
    try:
        return parse_event(frame)
    except ValidationError:
        return None


def _error_from(body: Mapping[str, Any]) -> SpinneyError:
    kind = body.get("error_type", "internal_error")
    known = cast(ErrorType, kind if kind in get_args(ErrorType) else "internal_error")
    return SpinneyError(str(body.get("error", "")), known)
