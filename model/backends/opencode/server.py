"""A running `opencode serve`: its process, HTTP calls to it, and its events, dispatched to their
conversations.
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

from model.backends.json_values import as_object
from model.backends.opencode import config_errors
from model.backends.opencode.event_stream import EventFeed, ServerEvent
from model.backends.process import AgentProcess, InvalidLine
from model.backends.traffic import NULL_RECORDER, SharedRecorder, TrafficRecorder
from model.base.errors import ErrorType, SpinneyError
from model.base.text import clean_line

NAME: Final = "OpenCode"

START_TIMEOUT: Final = 60.0
"""Seconds until it listens; it usually takes two, but many programs may start at once."""

CALL_TIMEOUT: Final = 60.0
"""Seconds for a response; the first call for a directory takes several."""

_MAX_STARTS: Final = 2
"""Conversations that start at a time: a new directory takes seconds and delays other calls."""

_HEALTH_TIMEOUT: Final = 2.0

_STREAM_TIMEOUT: Final = 35.0
"""Seconds without data until the event stream, which has a heartbeat every ten, is reopened."""

_RECONNECT_DELAY: Final = 0.2
"""Seconds before the event stream is reopened."""

_LISTENS: Final = re.compile(r"listening on (http://\S+)")
_USER: Final = "spinney"

_log = logging.getLogger(__name__)


class Listener(Protocol):
    """A conversation of the server."""

    record: TrafficRecorder
    """Records the messages of the program to it."""

    def on_event(self, event: ServerEvent | InvalidLine) -> None:
        """Handle an event of the conversation, or an unreadable one."""
        ...

    def on_events_missed(self) -> None:
        """Handle that events may have been lost."""
        ...

    def on_exit(self, reason: str) -> None:
        """Handle the exit of the program; `reason` is a message for the user."""
        ...


class Server(Protocol):
    """The interface that a session needs of its server; see `OpenCodeServer`."""

    def attach(self, conversation: str, listener: Listener) -> None:
        """Dispatch the events of a conversation to `listener`."""
        ...

    def detach(self, listener: Listener) -> None:
        """Stop dispatching events to `listener`."""
        ...

    async def call(
        self,
        method: str,
        path: str,
        directory: Path,
        body: Mapping[str, Any] | None = None,
        timeout: float = CALL_TIMEOUT,
        record: TrafficRecorder = NULL_RECORDER,
    ) -> Any:
        """Return the response. Raises `SpinneyError`."""
        ...

    async def kill_if_unresponsive(self) -> None:
        """Kill the server if it does not respond."""
        ...


class OpenCodeServer:
    """A running server. Make one with `start`."""

    def __init__(
        self,
        process: AgentProcess,
        http: aiohttp.ClientSession,
        listeners: dict[str, Listener],
        shared: TrafficRecorder,
    ) -> None:
        self.process = process
        self.start_limit = asyncio.Semaphore(_MAX_STARTS)
        """Must be held while a conversation starts."""
        self._http = http
        self._address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._connected = asyncio.Event()
        self._listeners = listeners
        self._shared = shared
        self._tasks = [asyncio.create_task(self._read_output())]

    @classmethod
    async def start(cls, program: str, environment: Mapping[str, str]) -> "OpenCodeServer":
        """Start the program and wait until its event stream is connected.

        Raises `backend_unavailable` with its last output if it fails to start.
        """
        # Access to the server allows running anything, so it is protected by a password.
        password = secrets.token_urlsafe(32)
        listeners: dict[str, Listener] = {}
        shared = SharedRecorder(lambda: {each.record for each in listeners.values()})
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
            async with asyncio.timeout(START_TIMEOUT):
                await asyncio.shield(server._address)
                server._tasks.append(asyncio.create_task(server._listen()))
                await server._connected.wait()
        except (TimeoutError, EOFError) as error:
            await process.wait_settled()
            output = process.stderr_tail or "It had no output."
            await server.close()
            text = config_errors.describe_output(output) or (
                f"{NAME} did not start. Run 'opencode serve' to see why. {output}"
            )
            raise SpinneyError(text, "backend_unavailable") from error
        except BaseException:
            await server.close()
            raise
        return server

    @property
    def is_running(self) -> bool:
        """Whether it accepts conversations."""
        return self.process.returncode is None and not self._tasks[0].done()

    @property
    def address(self) -> str:
        """The URL it listens on, such as `http://127.0.0.1:4096`."""
        return self._address.result()

    def attach(self, conversation: str, listener: Listener) -> None:
        """Dispatch the events of a conversation and of its sub-agents to `listener`."""
        self._listeners[conversation] = listener

    def detach(self, listener: Listener) -> None:
        """Stop dispatching events to `listener`."""
        for conversation in [key for key, each in self._listeners.items() if each is listener]:
            del self._listeners[conversation]

    async def call(
        self,
        method: str,
        path: str,
        directory: Path,
        body: Mapping[str, Any] | None = None,
        timeout: float = CALL_TIMEOUT,
        record: TrafficRecorder = NULL_RECORDER,
    ) -> Any:
        """Return the parsed JSON response; `None` if it is empty.

        Raises `backend_error` if the server does not respond, `not_found` for an unknown resource
        and `invalid_request` for a rejected request.
        """
        record("\u2192", body or "", f"{method} {path}")
        try:
            async with self._http.request(
                method,
                self.address + path,
                params={"directory": str(directory)},
                json=body,
                timeout=aiohttp.ClientTimeout(total=timeout),
            ) as response:
                raw, status = await response.read(), response.status
                record("\u2190", raw, f"{status} {method} {path}")
                answer = await response.json(content_type=None)
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
            text = f"{NAME} does not respond. Send the message again."
            raise SpinneyError(text, "backend_error") from error
        if status >= 400:
            raise _response_error(status, answer)
        return answer

    async def kill_if_unresponsive(self) -> None:
        """Kill the server if it does not respond; all its conversations are notified."""
        try:
            await self.call("GET", "/global/health", Path("/"), timeout=_HEALTH_TIMEOUT)
        except SpinneyError:
            await self.process.kill()

    async def close(self) -> None:
        """End the server and all processes that it started."""
        if self._address.done() and not self._address.exception() and self.is_running:
            with suppress(SpinneyError):  # lets it end the MCP servers that it started
                await self.call("POST", "/global/dispose", Path("/"), timeout=1.0)
        await self.process.kill()
        for task in self._tasks[1:]:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._http.close()

    # Output and events -------------------------------------------------------------------------

    async def _read_output(self) -> None:
        """Find the address in the output, and drain the pipe until the program exits."""
        async for line in self.process.read_lines():
            self._shared("\u2190", line.raw, "stdout")
            text = line.text if isinstance(line, InvalidLine) else ""
            if (match := _LISTENS.search(text)) and not self._address.done():
                self._address.set_result(match[1])
        if not self._address.done():
            self._address.set_exception(EOFError())
            self._address.exception()  # mark as retrieved: nothing may be waiting for it any more
        await self.process.wait_settled()
        reason = self.process.describe_exit(NAME)
        for listener in set(self._listeners.values()):
            listener.on_exit(reason)

    async def _listen(self) -> None:
        while self.is_running:
            try:
                await self._read_events()
            except (aiohttp.ClientError, TimeoutError, OSError) as error:
                _log.info("The event stream of %s was interrupted: %r", NAME, error)
            await asyncio.sleep(_RECONNECT_DELAY)

    async def _read_events(self) -> None:
        feed = EventFeed()
        timeout = aiohttp.ClientTimeout(total=None, sock_read=_STREAM_TIMEOUT)
        url = self.address + "/global/event"
        async with self._http.get(url, timeout=timeout, raise_for_status=True) as response:
            is_reconnected = self._connected.is_set()
            async for chunk in response.content.iter_any():
                for event in feed.feed(chunk):
                    self.route(event)
                if not self._connected.is_set():
                    self._connected.set()
                if is_reconnected:
                    is_reconnected = False
                    for listener in set(self._listeners.values()):
                        listener.on_events_missed()

    def route(self, event: ServerEvent | InvalidLine) -> None:
        """Dispatch an event to its conversation."""
        for listener in self._listeners_for(event):
            listener.record("\u2190", event.raw, "event")
            listener.on_event(event)

    def _listeners_for(self, event: ServerEvent | InvalidLine) -> Iterator[Listener]:
        if isinstance(event, InvalidLine):
            _log.warning("%s sent an invalid message, ignored (%s)", NAME, event.reason)
            yield from set(self._listeners.values())
            return
        if event.kind == "session.created":
            parent = as_object(event.properties.get("info")).get("parentID")
            if isinstance(parent, str) and parent in self._listeners:
                self._listeners[event.session_id] = self._listeners[parent]
        listener = self._listeners.get(event.session_id)
        if listener is not None:
            yield listener


def _free_port() -> int:
    # The program's default port is the same for all users of the machine, its fallback is random.
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _response_error(status: int, answer: object) -> SpinneyError:
    if text := config_errors.describe_response(as_object(answer)):
        return SpinneyError(clean_line(text), "backend_unavailable")
    message = as_object(as_object(answer).get("data")).get("message")
    quoted = f" It said: {clean_line(str(message))[:500]}" if message else ""
    kind: ErrorType = "not_found" if status == 404 else "invalid_request"
    if status >= 500:
        kind = "backend_error"
    return SpinneyError(f"{NAME} refused the request ({status}).{quoted}", kind)
