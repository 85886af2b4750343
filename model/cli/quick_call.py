"""One command to a Spinney on this machine, using only the standard library.

A script calls many commands, each in a process of its own. With the libraries of `RemoteClient`
such a call took 0.93 s on a busy machine, 0.32 s with this.
"""

import base64
import json
import os
import socket
import struct
from collections.abc import Iterator, Mapping
from typing import Any, Final, cast, get_args
from urllib.parse import urlsplit

from model.base.errors import ErrorType, NotRunningError, SpinneyError
from model.base.paths import resolve_directories
from model.client.local_instance import find_endpoint, timeout_error

CONNECT_TIMEOUT: Final = 10.0
"""Seconds to connect and for the upgrade to a WebSocket."""
SILENCE_TIMEOUT: Final = 60.0
"""Seconds without a frame while a command runs; the server pings every twenty."""

_TEXT, _CLOSE, _PING, _PONG = 0x1, 0x8, 0x9, 0xA
_FINAL: Final = 0x80
_ID: Final = "call"


def request(base_url: str, token: str, name: str, args: Mapping[str, Any]) -> Any:
    """Run a command and return its result. Raises `SpinneyError`, and `TimeoutError` without a
    response.
    """
    parts = urlsplit(base_url)
    try:
        connection = socket.create_connection((parts.hostname, parts.port), CONNECT_TIMEOUT)
    except TimeoutError:
        raise
    except OSError:
        raise NotRunningError(
            f"Nothing answers at {base_url}. Is Spinney running there?", "timeout"
        ) from None
    with connection:
        try:
            rest = _upgrade(connection, parts.netloc, token, base_url)
            connection.settimeout(SILENCE_TIMEOUT)
            message = {"id": _ID, "command": name, "args": dict(args)}
            _send(connection, _TEXT, json.dumps(message).encode())
            return _read_reply(connection, rest)
        except TimeoutError:
            raise
        except OSError:
            raise NotRunningError(f"The connection to {base_url} was lost.", "timeout") from None


def request_here(name: str, /, **arguments: Any) -> Any:
    """Run a command of the Spinney that runs on this machine. Raises `SpinneyError`."""
    paths = resolve_directories()
    base_url, token = find_endpoint(paths)
    try:
        return request(base_url, token, name, arguments)
    except TimeoutError:
        raise timeout_error(paths, base_url) from None


def _upgrade(connection: socket.socket, host: str, token: str, base_url: str) -> bytes:
    """Upgrade the connection to a WebSocket; returns bytes received after the response."""
    key = base64.b64encode(os.urandom(16)).decode()
    authorization = f"Authorization: Bearer {token}\r\n" if token else ""
    head = (
        f"GET /ws HTTP/1.1\r\nHost: {host}\r\n{authorization}"
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


def _read_reply(connection: socket.socket, rest: bytes) -> Any:
    # Events arrive in between, because every client receives them.
    frames = (json.loads(text) for text in _messages(connection, rest))
    reply = next(frame for frame in frames if frame.get("id") == _ID and "event" not in frame)
    if reply["type"] == "response":
        return reply["data"]
    kind = reply.get("error_type", "")
    known = cast(ErrorType, kind if kind in get_args(ErrorType) else "internal_error")
    raise SpinneyError(str(reply.get("error", "")), known)


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
