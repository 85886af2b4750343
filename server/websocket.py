"""The WebSocket channel: commands, chat messages and subscriptions in; replies and events out.

This module does the upgrade, the requests and the keep-alive; `server.fanout` sends the events.
"""

import asyncio
import itertools
import json
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from aiohttp import WSCloseCode, WSMsgType, web

import model
from model.api.command import Command, find_command
from model.api.sessions import send_chat_message
from model.base.caller import CALLER
from model.base.errors import SpinneyError, as_user_error, session_not_found
from model.state import State
from model.store.bus import EventBus, Missed
from server.block_feed import BlockFeed
from server.event_filter import EventFilter, parse_event_filter
from server.fanout import Connection, EventFormat, Fanout, missed_frame, text_frame
from server.limits import Limits
from server.live_lines import LiveLines
from server.wire import PROTOCOL, dump_result, error_body, parse_json

RunCommand = Callable[[Command[..., Any], dict[str, Any]], Awaitable[Any]]
"""Runs a command with its wire arguments, for the client of a connection."""

ID_LIMIT = 1000
"""Maximum characters of a request's id."""

_LOOK_INTERVAL = 1.0
"""Seconds until it is noticed that a client has left which waits for its commands."""

MAX_WATCHED = 100
"""Sessions whose last lines one page can watch."""
_PING = b"\x89\x00"
_WATCH_INTERVAL = 1.0
"""Seconds between two checks for dead clients."""

_CLIENTS = itertools.count(1)

_log = logging.getLogger(__name__)


class WebSockets:
    """All open WebSockets of the server."""

    def __init__(
        self,
        bus: EventBus,
        state: Callable[[], State],
        limits: Limits,
        run_id: str,
        *,
        is_local: bool = False,
        on_left: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`is_local`: clients may also call the commands reserved for Spinney's own terminals.

        `on_left` is called with the id of a connection that has ended, as in `CALLER`.
        """
        self._run_id = run_id
        self._is_local = is_local
        self._on_left = on_left
        self._bus = bus
        self._state = state
        self._limits = limits
        self._fanout = Fanout(bus, limits)
        self._blocks = BlockFeed(bus, state, self._fanout.send_frame)
        self._live_lines = LiveLines(bus, state, self._fanout.send_frame)
        self._open: dict[Connection, web.WebSocketResponse] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._watchdog: asyncio.Task[None] | None = None
        """Runs while a client is connected: nothing wakes an idle program without one."""

    def __len__(self) -> int:
        return len(self._open)

    async def serve(self, request: web.Request, run: RunCommand) -> web.WebSocketResponse:
        """The WebSocket: commands in, replies and events out, until one side leaves."""
        since = _parse_since(request)
        accepts = parse_event_filter(
            request.query.getall("session", ()), request.query.getall("only", ())
        )
        socket = web.WebSocketResponse(
            protocols=(PROTOCOL,),
            autoping=False,
            compress=False,
            max_msg_size=self._limits.frame_size,
            timeout=1,
        )
        if not socket.can_prepare(request):
            raise SpinneyError("This address is for WebSockets; ask for an upgrade.")
        try:
            await socket.prepare(request)
        except ConnectionError:
            raise SpinneyError("The client disconnected during the upgrade.") from None
        if request.transport is None:
            return socket
        is_page = since is not None and request.query.get("blocks") == "1"
        event_format: EventFormat = (
            "blocks" if is_page else "plain" if since is None else "numbered"
        )
        connection = self._connect(request.transport, since, event_format, accepts)
        self._open[connection] = socket
        if self._watchdog is None:
            self._watchdog = asyncio.create_task(self._watch_clients())
        client = _Client(self, connection, run, is_local=self._is_local)
        try:
            await self._receive(socket, connection, client)
        finally:
            self._on_left(client.id)
            del self._open[connection]
            self._blocks.forget(connection)
            self._live_lines.forget(connection)
            self._fanout.remove(connection)
        return socket

    async def close(self, code: int, message: str) -> None:
        """Close all connections; abort those that do not respond."""
        await asyncio.gather(
            *(self._close_one(connection, code, message) for connection in tuple(self._open))
        )

    async def stop(self) -> None:
        """Close all connections because the server stops."""
        if self._watchdog is not None:
            self._watchdog.cancel()
        await self.close(WSCloseCode.GOING_AWAY, "The server stops.")
        self._blocks.close()
        self._live_lines.close()
        self._fanout.close()

    def _connect(
        self,
        transport: asyncio.Transport,
        since: int | None,
        event_format: EventFormat,
        accepts: EventFilter | None,
    ) -> Connection:
        bus = self._bus
        bus.seal()
        unknown = since is not None and since > bus.seq
        reader = bus.reader(None if unknown else since or None)
        connection = Connection(
            transport, reader, event_format=event_format, limits=self._limits, accepts=accepts
        )
        if since is not None:
            payload = {
                "seq": bus.seq,
                "version": model.__version__,
                "protocol": model.PROTOCOL,
                "run": self._run_id,
            }
            hello = {"type": "event", "event": "hello", "payload": payload}
            transport.write(text_frame(json.dumps(hello).encode()))
        if unknown:
            transport.write(missed_frame(Missed(1, bus.seq)))
        self._fanout.add(connection)
        return connection

    async def _receive(
        self, socket: web.WebSocketResponse, connection: Connection, client: "_Client"
    ) -> None:
        clock = asyncio.get_running_loop().time
        commands = self._limits.commands
        async for message in socket:
            connection.last_received = clock()
            if message.type is WSMsgType.TEXT:
                client.handle_frame(message.data)
                if client.running >= commands or not connection.writable.is_set():
                    await client.wait_for_capacity(commands)
            elif message.type is WSMsgType.BINARY:
                client.send_error(None, SpinneyError("Invalid request: send text, not bytes"))
            elif message.type is WSMsgType.PING:
                with suppress(ConnectionError):  # The client may have left since.
                    await socket.pong(message.data)

    async def _close_one(self, connection: Connection, code: int, message: str) -> None:
        # No event may follow the close frame.
        self._fanout.remove(connection)
        try:
            async with asyncio.timeout(self._limits.shutdown):
                await self._open[connection].close(code=code, message=message.encode())
        except Exception as error:
            # The client is gone or reads nothing; its connection is aborted below.
            _log.debug("a WebSocket did not close cleanly: %r", error)
        connection.transport.abort()

    async def _watch_clients(self) -> None:
        """Ping idle clients and abort dead ones."""
        loop = asyncio.get_running_loop()
        interval = min(_WATCH_INTERVAL, self._limits.ping / 4, self._limits.stuck / 4)
        last_check = loop.time()
        while self._open:
            await asyncio.sleep(interval)
            now = loop.time()
            overslept, last_check = now - last_check - interval, now
            for connection in tuple(self._open):
                connection.exclude_suspension(overslept, now)
                self._check_client(connection, now)
        self._watchdog = None

    def _check_client(self, connection: Connection, now: float) -> None:
        limits = self._limits
        if connection.stuck_for(now) > limits.stuck:
            _log.info("aborted a client that reads nothing")
            connection.transport.abort()
        elif now - connection.last_received > limits.silence:
            connection.transport.abort()
        elif now - max(connection.last_received, connection.last_pinged) >= limits.ping:
            connection.last_pinged = now
            if connection.transport.get_write_buffer_size() <= limits.buffer:
                connection.transport.write(_PING)


class _Client:
    """The requests of one client. Nothing is kept when the connection ends."""

    def __init__(
        self, sockets: WebSockets, connection: Connection, run: RunCommand, *, is_local: bool
    ) -> None:
        self._is_local = is_local
        self.id = f"socket-{next(_CLIENTS)}"
        self.running = 0
        self._run = run
        self._state = sockets._state
        self._fanout = sockets._fanout
        self._blocks = sockets._blocks
        self._live_lines = sockets._live_lines
        self._tasks = sockets._tasks
        self._connection = connection
        self._command_done = asyncio.Event()

    def handle_frame(self, text: str) -> None:
        """Handle one frame; errors are sent to the client and the connection stays open."""
        request_id = None
        try:
            frame = parse_json(text)
            if not isinstance(frame, dict):
                raise SpinneyError("Invalid request: it is not a JSON object")
            given_id = frame.get("id")
            if isinstance(given_id, str) and len(given_id) <= ID_LIMIT:
                request_id = given_id
            self._dispatch(frame, request_id)
        except Exception as error:
            self.send_error(request_id, as_user_error(error, "a WebSocket request"))

    def send_error(self, request_id: str | None, error: SpinneyError) -> None:
        """Send an error reply."""
        body = error_body(error)
        body.pop("session_id", None)
        self._send({"type": "error", "id": request_id, **body})

    async def wait_for_capacity(self, commands: int) -> None:
        """Wait until the client has read its replies and runs fewer than `commands` commands.

        Ends, too, when it has left.
        """
        await self._connection.writable.wait()
        while self.running >= commands and not self._connection.transport.is_closing():
            self._command_done.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_INTERVAL):
                    await self._command_done.wait()

    def _dispatch(self, frame: dict[str, Any], request_id: str | None) -> None:
        kind = frame.get("type")
        if "command" not in frame and kind in ("send_message", "subscribe", "unsubscribe"):
            self._handle_chat_message(frame, kind, request_id)
            return
        if "command" not in frame and kind == "show" and self._connection.event_format == "blocks":
            self._show_session(frame.get("session_id"))
            return
        if "command" not in frame and kind == "watch" and self._connection.event_format == "blocks":
            self._watch_sessions(frame.get("session_ids"))
            return
        if "id" not in frame:
            raise SpinneyError("Missing field: id")
        if request_id is None:
            raise SpinneyError(f"Invalid field 'id': must be text of at most {ID_LIMIT} characters")
        name = frame.get("command")
        if name is None:
            raise SpinneyError("Missing field: command")
        if not isinstance(name, str):
            raise SpinneyError("Invalid field 'command': must be text")
        arguments = frame.get("args")
        if arguments is not None and not isinstance(arguments, dict):
            raise SpinneyError("Invalid field 'args': must be an object")
        command = find_command(name)
        if not command.remote and not self._is_local:
            raise SpinneyError(
                f"'{name}' can only be called in Spinney's own terminal.", "forbidden"
            )
        self._start_command(command, arguments or {}, request_id, wants_reply=True)

    def _handle_chat_message(
        self, frame: dict[str, Any], kind: str, request_id: str | None
    ) -> None:
        if kind == "send_message":
            names = ("session_id", "message", "files", "images", "message_id")
            arguments = {name: frame[name] for name in names if name in frame}
            wants_reply = request_id is not None
            self._start_command(send_chat_message, arguments, request_id, wants_reply=wants_reply)
            return
        session_id = frame.get("session_id")
        if session_id is None:
            raise SpinneyError("Missing field: session_id")
        if not isinstance(session_id, str):
            raise SpinneyError("Invalid field 'session_id': must be text")
        if kind == "subscribe":
            if session_id not in self._state().sessions:
                raise session_not_found(session_id)
            self._connection.reader.subscribe(session_id)
        else:
            self._connection.reader.unsubscribe(session_id)
        if request_id is not None:
            self._send({"type": "response", "id": request_id, "data": None})

    def _show_session(self, session_id: object) -> None:
        """Subscribe the page to the text of another session, or of none."""
        if session_id is not None and not isinstance(session_id, str):
            raise SpinneyError("Invalid field 'session_id': must be text")
        if session_id is not None and session_id not in self._state().sessions:
            raise session_not_found(session_id)
        self._blocks.show(self._connection, session_id)

    def _watch_sessions(self, session_ids: object) -> None:
        """Send the page the last lines that these sessions write."""
        if not isinstance(session_ids, list) or len(session_ids) > MAX_WATCHED:
            raise SpinneyError(f"Invalid field 'session_ids': must be a list of {MAX_WATCHED} ids")
        known = self._state().sessions
        self._live_lines.watch(
            self._connection,
            [each for each in session_ids if isinstance(each, str) and each in known],
        )

    def _start_command(
        self,
        command: Command[..., Any],
        arguments: dict[str, Any],
        request_id: str | None,
        *,
        wants_reply: bool,
    ) -> None:
        # Not canceled with the connection: a commit or a message must not stop halfway.
        task = asyncio.create_task(
            self._run_command(command, arguments, request_id, wants_reply=wants_reply)
        )
        self.running += 1
        self._tasks.add(task)
        task.add_done_callback(self._on_done)

    def _on_done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self.running -= 1
        self._command_done.set()

    async def _run_command(
        self,
        command: Command[..., Any],
        arguments: dict[str, Any],
        request_id: str | None,
        *,
        wants_reply: bool,
    ) -> None:
        CALLER.set(self.id)
        try:
            result = await self._run(command, arguments)
            data = dump_result(command.result, result)
        except Exception as error:
            self.send_error(request_id, as_user_error(error, command.name))
            return
        if wants_reply:
            head = f'{{"type":"response","id":{json.dumps(request_id)},"data":'
            warnings = command.unknown_arguments(arguments)
            tail = f',"warnings":{json.dumps(warnings)}}}' if warnings else "}"
            # Joined at once: a long list is copied as rarely as possible.
            self._fanout.send(self._connection, b"".join((head.encode(), data, tail.encode())))

    def _send(self, frame: dict[str, Any]) -> None:
        self._fanout.send(self._connection, json.dumps(frame).encode())


def _parse_since(request: web.Request) -> int | None:
    """The event number to continue after, or `None` if the client did not ask for numbers."""
    text = request.query.get("since")
    if text is None:
        return None
    if not text.isascii() or not text.isdecimal() or len(text) > 16:
        raise SpinneyError("Invalid field 'since': must be a whole number, 0 or more")
    return int(text)
