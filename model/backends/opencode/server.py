"""One running `opencode serve`: its process, the calls to it, and its events, each handed to the
conversation that it is about.
"""

import asyncio
import logging
import re
import secrets
import socket
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Protocol

import aiohttp

from model.backends.opencode import config_errors
from model.backends.opencode.event_stream import Event, EventFeed
from model.backends.process import AgentProcess, Unreadable
from model.backends.traffic import UNRECORDED, Record, SharedRecord
from model.base.errors import ErrorType, SpinneyError
from model.base.text import clean_line

NAME: Final = "OpenCode"

START_PATIENCE: Final = 60.0
"""Seconds until it listens; two are usual, and many programs may start at once."""

CALL_PATIENCE: Final = 60.0
"""Seconds for an answer; the first call for a directory takes some of them."""

_BEGINNINGS: Final = 2
"""Conversations that begin at a time: a new directory takes it seconds, and calls must not wait."""

_HEALTH_PATIENCE: Final = 2.0

_SILENCE: Final = 35.0
"""Seconds without a word on the event stream, which beats every ten, until it counts as cut."""

_PAUSE: Final = 0.2
"""Seconds before the event stream is opened again."""

_LISTENS: Final = re.compile(r"listening on (http://\S+)")
_USER: Final = "spinney"

_log = logging.getLogger(__name__)


class Listener(Protocol):
    """A conversation of the server."""

    record: Record
    """Takes what the program says to it."""

    def hear(self, event: Event | Unreadable) -> None:
        """Take an event that is about it, or about nobody known."""
        ...

    def missed(self) -> None:
        """Know that events may have been lost."""
        ...

    def lost(self, how: str) -> None:
        """Know that the program has ended; `how` is for people."""
        ...


class Server(Protocol):
    """What a session needs of its server; see `OpenCodeServer`."""

    def attach(self, conversation: str, listener: Listener) -> None:
        """Hand the events of a conversation to `listener`."""
        ...

    def detach(self, listener: Listener) -> None:
        """Hand it nothing more."""
        ...

    async def call(
        self,
        method: str,
        path: str,
        directory: Path,
        body: Mapping[str, Any] | None = None,
        patience: float = CALL_PATIENCE,
        record: Record = UNRECORDED,
    ) -> Any:
        """What it answers. Raises `SpinneyError`."""
        ...

    async def end_if_silent(self) -> None:
        """End it at once if it does not answer at all."""
        ...


class OpenCodeServer:
    """A running server. Make one with `start`."""

    def __init__(
        self,
        process: AgentProcess,
        http: aiohttp.ClientSession,
        listeners: dict[str, Listener],
        shared: Record,
    ) -> None:
        self.process = process
        self.beginnings = asyncio.Semaphore(_BEGINNINGS)
        """To be held while a conversation begins."""
        self._http = http
        self._address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._connected = asyncio.Event()
        self._listeners = listeners
        self._shared = shared
        self._tasks = [asyncio.create_task(self._read_output())]

    @classmethod
    async def start(cls, program: str, environment: Mapping[str, str]) -> "OpenCodeServer":
        """Start the program and wait until its events come.

        Raises `backend_unavailable` with its last words when it does not get that far.
        """
        # Whoever can talk to the server can let agents do anything; so nobody else may.
        password = secrets.token_urlsafe(32)
        listeners: dict[str, Listener] = {}
        shared = SharedRecord(lambda: {each.record for each in listeners.values()})
        process = await AgentProcess.start(
            [program, "serve", "--hostname", "127.0.0.1", "--port", str(_free_port())],
            Path("/"),
            {
                **environment,
                "OPENCODE_SERVER_USERNAME": _USER,
                "OPENCODE_SERVER_PASSWORD": password,
            },
            shared,
        )
        login = aiohttp.encode_basic_auth(_USER, password)
        http = aiohttp.ClientSession(headers={"Authorization": login})
        server = cls(process, http, listeners, shared)
        try:
            async with asyncio.timeout(START_PATIENCE):
                await asyncio.shield(server._address)
                server._tasks.append(asyncio.create_task(server._listen()))
                await server._connected.wait()
        except (TimeoutError, EOFError) as error:
            await process.settled()
            said = process.stderr_tail or "It said nothing."
            await server.close()
            text = config_errors.at_start(said) or (
                f"{NAME} did not start. Run “opencode serve” to see why. {said}"
            )
            raise SpinneyError(text, "backend_unavailable") from error
        except BaseException:
            await server.close()
            raise
        return server

    @property
    def runs(self) -> bool:
        """Whether it can take conversations."""
        return self.process.returncode is None and not self._tasks[0].done()

    @property
    def address(self) -> str:
        """Where it listens, such as `http://127.0.0.1:4096`."""
        return self._address.result()

    def attach(self, conversation: str, listener: Listener) -> None:
        """Hand the events of a conversation, and of its sub-agents' ones, to `listener`."""
        self._listeners[conversation] = listener

    def detach(self, listener: Listener) -> None:
        """Hand it nothing more."""
        for conversation in [key for key, each in self._listeners.items() if each is listener]:
            del self._listeners[conversation]

    async def call(
        self,
        method: str,
        path: str,
        directory: Path,
        body: Mapping[str, Any] | None = None,
        patience: float = CALL_PATIENCE,
        record: Record = UNRECORDED,
    ) -> Any:
        """What it answers, from JSON; `None` for nothing.

        Raises `backend_error` when it does not answer, `not_found` for what it does not know and
        `invalid_request` for what it refuses.
        """
        record("\u2192", body or "", f"{method} {path}")
        try:
            async with self._http.request(
                method,
                self.address + path,
                params={"directory": str(directory)},
                json=body,
                timeout=aiohttp.ClientTimeout(total=patience),
            ) as response:
                raw, status = await response.read(), response.status
                record("\u2190", raw, f"{status} {method} {path}")
                answer = await response.json(content_type=None)
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            text = f"{NAME} does not answer. Send the message again."
            raise SpinneyError(text, "backend_error") from error
        if status >= 400:
            raise _refusal(status, answer)
        return answer

    async def end_if_silent(self) -> None:
        """End it at once if it does not answer at all; all its conversations are told."""
        try:
            await self.call("GET", "/global/health", Path("/"), patience=_HEALTH_PATIENCE)
        except SpinneyError:
            await self.process.kill()

    async def close(self) -> None:
        """End it and all that it started."""
        if self._address.done() and not self._address.exception() and self.runs:
            with suppress(SpinneyError):  # lets it end the MCP servers that it started
                await self.call("POST", "/global/dispose", Path("/"), patience=1.0)
        await self.process.kill()
        for task in self._tasks[1:]:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._http.close()

    # What it says ------------------------------------------------------------------------------

    async def _read_output(self) -> None:
        """Learn the address, and keep the pipe empty until the program's end."""
        async for line in self.process.lines():
            self._shared("\u2190", line.raw, "stdout")
            text = line.text if isinstance(line, Unreadable) else ""
            if (found := _LISTENS.search(text)) and not self._address.done():
                self._address.set_result(found[1])
        if not self._address.done():
            self._address.set_exception(EOFError())
            self._address.exception()  # somebody may have given up waiting for it
        await self.process.settled()
        how = self.process.ending(NAME)
        for listener in set(self._listeners.values()):
            listener.lost(how)

    async def _listen(self) -> None:
        while self.runs:
            try:
                await self._read_events()
            except (aiohttp.ClientError, TimeoutError, OSError) as error:
                _log.info("the events of %s were cut off: %r", NAME, error)
            await asyncio.sleep(_PAUSE)

    async def _read_events(self) -> None:
        feed = EventFeed()
        silence = aiohttp.ClientTimeout(total=None, sock_read=_SILENCE)
        url = self.address + "/global/event"
        async with self._http.get(url, timeout=silence, raise_for_status=True) as response:
            again = self._connected.is_set()
            async for chunk in response.content.iter_any():
                for event in feed.feed(chunk):
                    self.route(event)
                if not self._connected.is_set():
                    self._connected.set()
                if again:
                    again = False
                    for listener in set(self._listeners.values()):
                        listener.missed()

    def route(self, event: Event | Unreadable) -> None:
        """Hand an event to the conversation that it is about."""
        for listener in self._concerned(event):
            listener.record("\u2190", event.raw, "event")
            listener.hear(event)

    def _concerned(self, event: Event | Unreadable) -> Iterator[Listener]:
        if isinstance(event, Unreadable):
            _log.warning("%s wrote something that is left out (%s)", NAME, event.reason)
            yield from set(self._listeners.values())
            return
        if event.kind == "session.created":
            info = event.told.get("info")
            parent = info.get("parentID") if isinstance(info, Mapping) else None
            if isinstance(parent, str) and parent in self._listeners:
                self._listeners[event.session_id] = self._listeners[parent]
        listener = self._listeners.get(event.session_id)
        if listener is not None:
            yield listener


def _free_port() -> int:
    # The program's own choice is the same for everybody on the machine, its second one at random.
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _refusal(status: int, answer: object) -> SpinneyError:
    if isinstance(answer, Mapping) and (about := config_errors.in_answer(answer)):
        return SpinneyError(clean_line(about), "backend_unavailable")
    told = answer.get("data") if isinstance(answer, Mapping) else None
    message = told.get("message") if isinstance(told, Mapping) else None
    said = f" It said: {clean_line(str(message))[:500]}" if message else ""
    kind: ErrorType = "not_found" if status == 404 else "invalid_request"
    if status >= 500:
        kind = "backend_error"
    return SpinneyError(f"{NAME} refused the request ({status}).{said}", kind)
