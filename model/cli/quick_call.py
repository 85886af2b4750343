"""Commands to a Spinney on this machine, using only the standard library.

A script calls many commands, each in a process of its own. With the libraries of `RemoteClient`
such a call took 0.93 s on a busy machine, 0.32 s with this.
"""

import base64
import json
import os
import socket
import struct
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, Final, cast, get_args

from model.base.errors import ErrorType, NotRunningError, SpinneyError
from model.base.paths import resolve_directories
from model.base.strict_json import dump_json
from model.client.endpoint import find_endpoint, timeout_error

CONNECT_TIMEOUT: Final = 10.0
"""Seconds to connect and for the upgrade to a WebSocket."""
SILENCE_TIMEOUT: Final = 60.0
"""Seconds without a frame while a command runs; the server pings every twenty."""

_TEXT, _CLOSE, _PING, _PONG = 0x1, 0x8, 0x9, 0xA
_FINAL: Final = 0x80

Json = dict[str, Any]


class Connection:
    """A WebSocket over which commands are called, and on which events arrive.

    All methods raise `SpinneyError`; if there is no response, what `on_silence` returns.
    """

    def __init__(
        self, base_url: str, token: str, on_silence: Callable[[], SpinneyError], query: str = ""
    ) -> None:
        self._base_url = base_url
        self._on_silence = on_silence
        self._number = 0
        place = base_url.partition("://")[2].rstrip("/")
        host, _, port = place.rpartition(":")
        family = socket.AF_INET6 if host.startswith("[") else socket.AF_INET
        self._socket = socket.socket(family)
        self._socket.settimeout(CONNECT_TIMEOUT)
        try:
            # As bytes: Python loads the tables of international names for a text.
            self._socket.connect((host.strip("[]").encode(), int(port)))
        except OSError as error:
            self._socket.close()
            if isinstance(error, TimeoutError):
                raise on_silence() from None
            raise NotRunningError(
                f"Nothing answers at {base_url}. Is Spinney running there?", "timeout"
            ) from None
        try:
            rest = self._guard(lambda: _upgrade(self._socket, place, token, base_url, query))
        except SpinneyError:
            self._socket.close()
            raise
        self._socket.settimeout(SILENCE_TIMEOUT)
        self._messages = _messages(self._socket, rest)

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()

    def call(self, name: str, /, **arguments: Any) -> Any:
        """Run a command and return its result."""
        return self.call_all([(name, arguments)])[0]

    def call_all(self, calls: Sequence[tuple[str, Mapping[str, Any]]]) -> list[Any]:
        """Run commands at the same time and return their results in order.

        Events that arrive meanwhile are dropped: the results are newer.
        """
        first = self._number + 1
        self._number += len(calls)
        for number, (name, arguments) in enumerate(calls, first):
            self.send({"id": str(number), "command": name, "args": dict(arguments)})
        replies: dict[str, Json] = {}
        wanted = [str(number) for number in range(first, self._number + 1)]
        while len(replies) < len(calls):
            frame = self._receive()
            if frame.get("type") == "error" and frame.get("id") is None:
                _read_result(frame)  # A request was not understood, so that its id is unknown.
            if "event" not in frame and frame.get("id") in wanted:
                replies[frame["id"]] = frame
        return [_read_result(replies[key]) for key in wanted]

    def send(self, frame: Json) -> None:
        """Send a frame."""
        body = dump_json(frame).encode()
        self._guard(lambda: _send(self._socket, _TEXT, body))

    def events(self, until: float | None = None) -> Iterator[Json]:
        """Event frames as they arrive; ends at the time `until` of `time.monotonic`."""
        while True:
            if until is not None:
                left = until - time.monotonic()
                if left <= 0:
                    return
                self._socket.settimeout(min(left, SILENCE_TIMEOUT))
            try:
                frame = self._receive()
            except SpinneyError:
                if until is not None and time.monotonic() >= until:
                    return
                raise
            if "event" in frame:
                yield frame

    def _receive(self) -> Json:
        frame: Json = self._guard(lambda: json.loads(next(self._messages)))
        return frame

    def _guard(self, work: Callable[[], Any]) -> Any:
        """Convert what a socket raises."""
        try:
            return work()
        except TimeoutError:
            raise self._on_silence() from None
        except OSError:
            raise NotRunningError(
                f"The connection to {self._base_url} was lost.", "timeout"
            ) from None


def connect_here(query: str = "") -> "closing[Connection]":
    """Connect to the Spinney that runs on this machine: `with connect_here() as connection`.

    `query` is that of the WebSocket's address. Raises `SpinneyError`.
    """
    paths = resolve_directories()
    base_url, token = find_endpoint(paths)
    return closing(Connection(base_url, token, lambda: timeout_error(paths, base_url), query))


def request_here(name: str, /, **arguments: Any) -> Any:
    """Run a command of the Spinney that runs on this machine. Raises `SpinneyError`."""
    with connect_here() as connection:
        return connection.call(name, **arguments)


def _read_result(reply: Json) -> Any:
    if reply["type"] == "response":
        return reply["data"]
    kind = reply.get("error_type", "")
    known = cast(ErrorType, kind if kind in get_args(ErrorType) else "internal_error")
    raise SpinneyError(str(reply.get("error", "")), known)


def _upgrade(connection: socket.socket, host: str, token: str, base_url: str, query: str) -> bytes:
    """Upgrade the connection to a WebSocket; returns bytes received after the response."""
    key = base64.b64encode(os.urandom(16)).decode()
    authorization = f"Authorization: Bearer {token}\r\n" if token else ""
    head = (
        f"GET /ws{query} HTTP/1.1\r\nHost: {host}\r\n{authorization}"
        "Upgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n"
    )
    connection.sendall(head.encode())
    received = b""
    while b"\r\n\r\n" not in received:
        received += _receive(connection)
    response, _, rest = received.partition(b"\r\n\r\n")
    status = (*response.split(b" ", 2), b"", b"")[1].decode(errors="replace")
    if status == "401":
        raise SpinneyError(
            f"Spinney at {base_url} does not accept this token.", "authentication_error"
        )
    if status != "101":
        raise SpinneyError(f"{base_url} answered {status}. Is it a Spinney?")
    return rest


def _messages(connection: socket.socket, rest: bytes) -> Iterator[bytes]:
    """Complete text messages; answers pings. Raises `OSError` when the connection has ended."""
    buffer = bytearray(rest)

    def take(size: int) -> bytes:
        while len(buffer) < size:
            buffer.extend(_receive(connection))
        taken = bytes(buffer[:size])
        del buffer[:size]
        return taken

    text = b""
    while True:
        first, size = take(2)
        if size == 126:
            (size,) = struct.unpack("!H", take(2))
        elif size == 127:
            (size,) = struct.unpack("!Q", take(8))
        kind, body = first & 0xF, take(size)
        if kind == _CLOSE:
            raise ConnectionError
        if kind == _PING:
            _send(connection, _PONG, body)
        elif kind != _PONG:
            text += body
            if first & _FINAL:
                yield text
                text = b""


def _receive(connection: socket.socket) -> bytes:
    data = connection.recv(1 << 16)
    if not data:
        raise ConnectionError
    return data


def _send(connection: socket.socket, kind: int, body: bytes) -> None:
    mask, size = os.urandom(4), len(body)
    if size < 126:
        head = struct.pack("!BB", _FINAL | kind, 0x80 | size)
    elif size < 1 << 16:
        head = struct.pack("!BBH", _FINAL | kind, 0x80 | 126, size)
    else:
        head = struct.pack("!BBQ", _FINAL | kind, 0x80 | 127, size)
    keys = mask * (size // 4 + 1)
    masked = int.from_bytes(body, "big") ^ int.from_bytes(keys[:size], "big")
    connection.sendall(head + mask + masked.to_bytes(size, "big"))
