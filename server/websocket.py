"""The WebSocket channel: commands, chat messages and subscriptions in; replies and events out.

How events get out is the fan-out's business; here are the upgrade, what clients may say, and the
watch over clients that say nothing any more.
"""

import asyncio
import json
import logging
from typing import TYPE_CHECKING, Any

from aiohttp import WSCloseCode, WSMsgType, web

import model
from model.api.command import Command, find_command
from model.api.sessions import send_chat_message
from model.base.errors import SpinneyError, as_user_error, session_not_found
from model.commands.dispatch import run
from model.store.bus import Missed
from server.block_feed import BlockFeed
from server.fanout import Connection, Fanout, Form, missed_frame, text_frame
from server.limits import Limits
from server.wire import PROTOCOL, dump_result, error_body, parse_json

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace

ID_LIMIT = 1000
"""Characters of a request's id."""

_PING = b"\x89\x00"
_WATCH = 1.0
"""Seconds between two looks at which clients are gone."""

_log = logging.getLogger(__name__)


class WebSockets:
    """Every open WebSocket of the server."""

    def __init__(
        self, workspace: "Workspace", limits: Limits, run: str, *, own: bool = False
    ) -> None:
        """`own`: the clients may call what is for Spinney's own terminals alone."""
        self._run = run
        self._own = own
        self._workspace = workspace
        self._limits = limits
        self._fanout = Fanout(workspace.bus, limits)
        self._blocks = BlockFeed(workspace.bus, lambda: workspace.store.state, self._fanout.frame)
        self._open: dict[Connection, web.WebSocketResponse] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._watch = asyncio.create_task(self._keep_watch())

    def __len__(self) -> int:
        return len(self._open)

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        """The WebSocket: commands in, replies and events out, until one side leaves."""
        since = _since(request)
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
            raise SpinneyError("The client left during the upgrade.") from None
        if request.transport is None:
            return socket
        is_page = since is not None and request.query.get("blocks") == "1"
        form: Form = "blocks" if is_page else "plain" if since is None else "numbered"
        connection = self._connect(request.transport, since, form)
        self._open[connection] = socket
        try:
            await self._listen(socket, connection)
        finally:
            del self._open[connection]
            self._blocks.forget(connection)
            self._fanout.remove(connection)
        return socket

    async def close(self, code: int, message: str) -> None:
        """Close all connections; those that don't answer are cut off."""
        await asyncio.gather(
            *(self._close_one(connection, code, message) for connection in tuple(self._open))
        )

    async def stop(self) -> None:
        """Close all connections because the server ends."""
        self._watch.cancel()
        await self.close(WSCloseCode.GOING_AWAY, "The server stops.")
        self._blocks.close()
        self._fanout.close()

    def _connect(self, transport: asyncio.Transport, since: int | None, form: Form) -> Connection:
        bus = self._workspace.bus
        bus.seal()
        unknown = since is not None and since > bus.seq
        reader = bus.reader(None if unknown else since or None)
        connection = Connection(transport, reader, form=form, limits=self._limits)
        if since is not None:
            payload = {
                "seq": bus.seq,
                "version": model.__version__,
                "protocol": model.PROTOCOL,
                "run": self._run,
            }
            hello = {"type": "event", "event": "hello", "payload": payload}
            transport.write(text_frame(json.dumps(hello).encode()))
        if unknown:
            transport.write(missed_frame(Missed(1, bus.seq)))
        self._fanout.add(connection)
        return connection

    async def _listen(self, socket: web.WebSocketResponse, connection: Connection) -> None:
        clock = asyncio.get_running_loop().time
        client = _Client(self, connection, own=self._own)
        commands = self._limits.commands
        async for message in socket:
            connection.heard = clock()
            if message.type is WSMsgType.TEXT:
                client.take(message.data)
                if client.running >= commands or not connection.room.is_set():
                    await client.wait_for_room(commands)
            elif message.type is WSMsgType.BINARY:
                client.refuse(None, SpinneyError("Invalid request: send text, not bytes"))
            elif message.type is WSMsgType.PING:
                await socket.pong(message.data)

    async def _close_one(self, connection: Connection, code: int, message: str) -> None:
        # No event may follow the close frame.
        self._fanout.remove(connection)
        try:
            async with asyncio.timeout(self._limits.shutdown):
                await self._open[connection].close(code=code, message=message.encode())
        except Exception as error:
            # A client that is gone or reads nothing; closing it is what was wanted.
            _log.debug("a WebSocket did not close well: %r", error)
        connection.transport.abort()

    async def _keep_watch(self) -> None:
        """Ping quiet clients, cut off those that are gone."""
        loop = asyncio.get_running_loop()
        pause = min(_WATCH, self._limits.ping / 4, self._limits.stuck / 4)
        last = loop.time()
        while True:
            await asyncio.sleep(pause)
            now = loop.time()
            late, last = now - last - pause, now
            for connection in tuple(self._open):
                connection.excuse(late, now)
                self._look_at(connection, now)

    def _look_at(self, connection: Connection, now: float) -> None:
        limits = self._limits
        if connection.stuck_for(now) > limits.stuck:
            _log.info("cut off a client that takes nothing")
            connection.transport.abort()
        elif now - connection.heard > limits.silence:
            connection.transport.abort()
        elif now - max(connection.heard, connection.pinged) >= limits.ping:
            connection.pinged = now
            if connection.transport.get_write_buffer_size() <= limits.buffer:
                connection.transport.write(_PING)


class _Client:
    """What one client asked for. Nothing of it is kept when the connection ends."""

    def __init__(self, sockets: WebSockets, connection: Connection, *, own: bool) -> None:
        self._own = own
        self.running = 0
        self._workspace = sockets._workspace
        self._fanout = sockets._fanout
        self._blocks = sockets._blocks
        self._tasks = sockets._tasks
        self._connection = connection
        self._ended = asyncio.Event()

    def take(self, text: str) -> None:
        """Act on one frame; whatever is wrong with it is told and the connection stays."""
        request_id = None
        try:
            frame = parse_json(text)
            if not isinstance(frame, dict):
                raise SpinneyError("Invalid request: it is not a JSON object")
            given_id = frame.get("id")
            if isinstance(given_id, str) and len(given_id) <= ID_LIMIT:
                request_id = given_id
            self._act(frame, request_id)
        except Exception as error:
            self.refuse(request_id, as_user_error(error, "a WebSocket request"))

    def refuse(self, request_id: str | None, error: SpinneyError) -> None:
        """Answer with an error."""
        told = error_body(error)
        told.pop("session_id", None)
        self._send({"type": "error", "id": request_id, **told})

    async def wait_for_room(self, commands: int) -> None:
        """Until the client has read its answers and some of its commands are done."""
        await self._connection.room.wait()
        while self.running >= commands:
            self._ended.clear()
            await self._ended.wait()

    def _act(self, frame: dict[str, Any], request_id: str | None) -> None:
        kind = frame.get("type")
        if "command" not in frame and kind in ("send_message", "subscribe", "unsubscribe"):
            self._take_chat_message(frame, kind, request_id)
            return
        if "command" not in frame and kind == "show" and self._connection.form == "blocks":
            self._show(frame.get("session_id"))
            return
        if "id" not in frame:
            raise SpinneyError("Missing field: id")
        if request_id is None:
            raise SpinneyError(f"Invalid field 'id': must be text of at most {ID_LIMIT} letters")
        name = frame.get("command")
        if name is None:
            raise SpinneyError("Missing field: command")
        if not isinstance(name, str):
            raise SpinneyError("Invalid field 'command': must be text")
        arguments = frame.get("args")
        if arguments is not None and not isinstance(arguments, dict):
            raise SpinneyError("Invalid field 'args': must be an object")
        command = find_command(name)
        if not command.remote and not self._own:
            raise SpinneyError(
                f"'{name}' can only be called in Spinney's own terminal.", "forbidden"
            )
        self._start(command, arguments or {}, request_id, answered=True)

    def _take_chat_message(self, frame: dict[str, Any], kind: str, request_id: str | None) -> None:
        if kind == "send_message":
            names = ("session_id", "message", "files", "images", "message_id")
            arguments = {name: frame[name] for name in names if name in frame}
            answered = request_id is not None
            self._start(send_chat_message, arguments, request_id, answered=answered)
            return
        session_id = frame.get("session_id")
        if session_id is None:
            raise SpinneyError("Missing field: session_id")
        if not isinstance(session_id, str):
            raise SpinneyError("Invalid field 'session_id': must be text")
        if kind == "subscribe":
            if session_id not in self._workspace.store.state.sessions:
                raise session_not_found(session_id)
            self._connection.reader.subscribe(session_id)
        else:
            self._connection.reader.unsubscribe(session_id)
        if request_id is not None:
            self._send({"type": "response", "id": request_id, "data": None})

    def _show(self, session_id: object) -> None:
        """A page looks at another session, or at none."""
        if session_id is not None and not isinstance(session_id, str):
            raise SpinneyError("Invalid field 'session_id': must be text")
        if session_id is not None and session_id not in self._workspace.store.state.sessions:
            raise session_not_found(session_id)
        self._blocks.show(self._connection, session_id)

    def _start(
        self,
        command: Command[..., Any],
        arguments: dict[str, Any],
        request_id: str | None,
        *,
        answered: bool,
    ) -> None:
        # Not ended with the connection: a commit or a message must not stop half way.
        task = asyncio.create_task(self._run(command, arguments, request_id, answered=answered))
        self.running += 1
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self.running -= 1
        self._ended.set()

    async def _run(
        self,
        command: Command[..., Any],
        arguments: dict[str, Any],
        request_id: str | None,
        *,
        answered: bool,
    ) -> None:
        try:
            result = await run(self._workspace, command, arguments)
            data = dump_result(command.result, result)
        except Exception as error:
            self.refuse(request_id, as_user_error(error, command.name))
            return
        if answered:
            head = f'{{"type":"response","id":{json.dumps(request_id)},"data":'
            warnings = command.unknown_arguments(arguments)
            tail = f',"warnings":{json.dumps(warnings)}}}' if warnings else "}"
            self._fanout.send(self._connection, head.encode() + data + tail.encode())

    def _send(self, frame: dict[str, Any]) -> None:
        self._fanout.send(self._connection, json.dumps(frame).encode())


def _since(request: web.Request) -> int | None:
    """The number after which a client wants events, `None` for one that connects plainly."""
    given = request.query.get("since")
    if given is None:
        return None
    if not given.isascii() or not given.isdecimal() or len(given) > 16:
        raise SpinneyError("Invalid field 'since': must be a whole number, 0 or more")
    return int(given)
