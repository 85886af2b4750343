"""The client for a Spinney somewhere else: calls and events over one WebSocket that comes back.

It resumes from the last event it heard; where events are lost for good, or the other Spinney was
started anew, it reads the whole state again.
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
from model.base.errors import ErrorType, NobodyThereError, SpinneyError
from model.base.instance import other_protocol
from model.client.base import Happened, Loaded, Lost, Update
from model.client.snapshot import state_from
from model.domain.events import Event, parse_event

P = ParamSpec("P")
R = TypeVar("R")

INBOX = 5000
"""Events that may wait for a slow reader of `updates`; then it is loaded anew."""

INBOX_SIZE = 4 * 1024 * 1024
"""Characters of their frames."""

_HEARTBEAT = 20.0
"""Seconds of silence after which the server is asked whether it is still there."""


@dataclass(frozen=True, slots=True)
class BackOff:
    """How long to wait before each next try, in seconds."""

    first: float = 1.0
    longest: float = 30.0
    jitter: float = 0.2
    """So that many clients do not all come back in the same moment."""

    def pause(self, failures: int) -> float:
        """The wait after this many failures in a row, from 0."""
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
        """`find` tells where it answers now and with which token, asked before every connection."""
        self.base_url = base_url.rstrip("/")
        self._token = token
        self._find = find
        self._back_off = back_off or BackOff()
        self._session: aiohttp.ClientSession | None = None
        self._link: _Link | None = None
        self._connecting = asyncio.Lock()
        self._following = False
        self._closed = False
        self._seq = 0
        self._run = ""

    async def call(self, command: Command[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a command there and give its result. Raises `SpinneyError`."""
        assert not args, "commands take keyword arguments"
        wire = {camel_case(name): _wire(value) for name, value in kwargs.items()}
        return command.result.validate_python(await self.call_raw(command.name, wire))

    async def reach(self) -> None:
        """Connect, if that is to be known before anything else. Raises `SpinneyError`."""
        (await self._linked()).check()

    async def call_raw(self, name: str, args: Mapping[str, Any]) -> Any:
        """Run a command by its wire name, with wire arguments and the result as it comes."""
        return await (await self._linked()).call(name, args)

    async def updates(self) -> AsyncIterator[Update]:
        """`Loaded`, then what happens; `Lost` while the connection is gone. Never gives up."""
        self._following = True
        failures = 0
        while True:
            try:
                link = await self._linked()
                link.check()
                link.collect()
                same_run = link.run == self._run
                yield Happened(()) if same_run else await self._load(link)
                failures = 0
                async for update in self._followed(link):
                    yield update
            except SpinneyError as error:
                if self._closed:
                    return
                pause = self._back_off.pause(failures)
                failures += 1
                yield Lost(error.message, pause)
                await asyncio.sleep(pause)

    async def frames(self, since: int = 0) -> AsyncGenerator[dict[str, Any], None]:
        """Numbered event frames as they come, `hello` first, until the connection is lost."""
        await self._look_again()
        socket = await self._open_socket(since)
        try:
            while True:
                yield await _next_frame(socket, self.base_url)
        finally:
            await socket.close()

    async def close(self) -> None:
        """Give up the connection; `updates` ends."""
        self._closed = True
        if self._link is not None:
            await self._link.close()
        if self._session is not None:
            await self._session.close()

    async def _followed(self, link: "_Link") -> AsyncIterator[Update]:
        while True:
            frames = await link.next_events()
            if frames is None:
                yield await self._load(link)
                continue
            # What the snapshot contains already is not told a second time.
            new = [frame for frame in frames if frame["seq"] > self._seq]
            if new:
                self._seq = new[-1]["seq"]
                events = (_event(frame) for frame in new)
                yield Happened(tuple(event for event in events if event is not None))

    async def _load(self, link: "_Link") -> Loaded:
        """The state as it is now; events from before are in it, those after it wait in the link."""
        try:
            async with self._http().get(f"{self.base_url}/api/init") as response:
                snapshot = await response.json()
                if response.status != 200:
                    raise _told(snapshot)
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            raise self._unreachable(error) from None
        if snapshot.get("run") != link.run:
            await link.close()
            raise SpinneyError(f"Spinney at {self.base_url} was started anew.", "timeout")
        self._seq, self._run = snapshot["seq"], link.run
        return Loaded(await asyncio.to_thread(state_from, snapshot))

    async def _linked(self) -> "_Link":
        async with self._connecting:
            if self._link is None or self._link.is_over:
                await self._look_again()
                socket = await self._open_socket(self._seq)
                hello = await _next_frame(socket, self.base_url)
                self._link = _Link(socket, hello["payload"], self.base_url)
                if self._following:
                    self._link.collect()
            return self._link

    async def _open_socket(self, since: int) -> aiohttp.ClientWebSocketResponse:
        try:
            return await self._http().ws_connect(
                f"{self.base_url}/ws",
                params={"since": str(since)},
                heartbeat=_HEARTBEAT,
                max_msg_size=0,
                timeout=aiohttp.ClientWSTimeout(ws_close=2),
            )
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            raise self._unreachable(error) from None

    async def _look_again(self) -> None:
        if self._find is None:
            return
        found = await asyncio.to_thread(self._find)
        if found != (self.base_url, self._token):
            self.base_url, self._token = found
            if self._session is not None:
                await self._session.close()

    def _http(self) -> aiohttp.ClientSession:
        if self._session is None or self._session.closed:
            # In a header: addresses end up in logs.
            headers = {"Authorization": f"Bearer {self._token}"} if self._token else {}
            self._session = aiohttp.ClientSession(headers=headers)
        return self._session

    def _unreachable(self, error: Exception) -> SpinneyError:
        if isinstance(error, aiohttp.WSServerHandshakeError | aiohttp.ClientResponseError):
            if error.status == 401:
                return SpinneyError(
                    f"Spinney at {self.base_url} does not accept this token.",
                    "authentication_error",
                )
            return SpinneyError(f"{self.base_url} answered {error.status}; is it a Spinney?")
        if isinstance(error, aiohttp.ClientConnectorError):
            return NobodyThereError(
                f"Nothing answers at {self.base_url}. Is Spinney running there?", "timeout"
            )
        return NobodyThereError(f"{self.base_url} cannot be reached: {error}", "timeout")


def _wire(value: object) -> Any:
    """An argument as JSON; what was not set in a resource is not sent: it may mean “as it was”."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_unset=True)
    return to_jsonable_python(value)


@dataclass
class _Link:
    """One open WebSocket: who waits for which reply, and the events that came."""

    socket: aiohttp.ClientWebSocketResponse
    hello: Mapping[str, Any]
    base_url: str
    is_over: bool = False
    _calls: dict[str, "asyncio.Future[Any]"] = field(default_factory=dict)
    _ids: "itertools.count[int]" = field(default_factory=itertools.count)
    _inbox: list[dict[str, Any]] | None = None
    _inbox_size: int = 0
    _missed: bool = False
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self._reading = asyncio.create_task(self._read())

    @property
    def run(self) -> str:
        """The name of the run of the program that answers."""
        return str(self.hello.get("run", ""))

    def check(self) -> None:
        """Raise `SpinneyError` where the other side's state could not be read."""
        if self.hello.get("protocol", PROTOCOL) != PROTOCOL:
            raise other_protocol(str(self.hello.get("version", "?")))

    def collect(self) -> None:
        """Keep events from now on."""
        if self._inbox is None:
            self._inbox = []

    async def call(self, name: str, args: Mapping[str, Any]) -> Any:
        request_id = str(next(self._ids))
        answer = self._calls[request_id] = asyncio.get_running_loop().create_future()
        try:
            if self.is_over:
                raise self._lost()
            request = {"id": request_id, "command": name, "args": dict(args)}
            await self.socket.send_str(json.dumps(request))
            return await answer
        except (aiohttp.ClientError, ConnectionError):
            raise self._lost() from None
        finally:
            self._calls.pop(request_id, None)

    async def next_events(self) -> list[dict[str, Any]] | None:
        """Events since the last call; `None` when some were missed. Raises when it is over."""
        while True:
            if self._missed:
                self._missed = False
                self._inbox, self._inbox_size = [], 0
                return None
            if self._inbox:
                frames, self._inbox, self._inbox_size = self._inbox, [], 0
                return frames
            if self.is_over:
                raise self._lost()
            self._news.clear()
            await self._news.wait()

    async def close(self) -> None:
        await self.socket.close()
        self._reading.cancel()
        await asyncio.gather(self._reading, return_exceptions=True)

    async def _read(self) -> None:
        try:
            while True:
                self._take(*await _next_sized(self.socket, self.base_url))
        except SpinneyError:
            # Whoever waits is told below.
            pass
        finally:
            self.is_over = True
            self._news.set()
            for answer in self._calls.values():
                if not answer.done():
                    answer.set_exception(self._lost())

    def _take(self, frame: dict[str, Any], size: int) -> None:
        if frame.get("type") in ("response", "error"):
            answer = self._calls.get(frame.get("id") or "")
            if answer is None or answer.done():
                return
            if frame["type"] == "response":
                answer.set_result(frame.get("data"))
            else:
                answer.set_exception(_told(frame))
        elif self._inbox is not None:
            self._inbox_size += size
            is_full = len(self._inbox) >= INBOX or self._inbox_size > INBOX_SIZE
            if frame.get("event") == "events-missed" or is_full:
                self._missed = True
                self._inbox, self._inbox_size = [], 0
            elif "seq" in frame:
                self._inbox.append(frame)
            self._news.set()

    def _lost(self) -> SpinneyError:
        return SpinneyError(f"The connection to {self.base_url} was lost.", "timeout")


async def _next_frame(socket: aiohttp.ClientWebSocketResponse, base_url: str) -> dict[str, Any]:
    """The next frame. Raises `SpinneyError` when the connection has ended."""
    return (await _next_sized(socket, base_url))[0]


async def _next_sized(
    socket: aiohttp.ClientWebSocketResponse, base_url: str
) -> tuple[dict[str, Any], int]:
    """The next frame, and how many characters it was."""
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
    """The event of a frame; `None` for one that a newer Spinney writes otherwise."""
    try:
        return parse_event(frame)
    except ValidationError:
        return None


def _told(body: Mapping[str, Any]) -> SpinneyError:
    kind = body.get("error_type", "internal_error")
    known = cast(ErrorType, kind if kind in get_args(ErrorType) else "internal_error")
    return SpinneyError(str(body.get("error", "")), known)
