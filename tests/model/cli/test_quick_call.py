"""A command called over a plain socket: fragmented responses, and invalid ones."""

import json
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from model.base.errors import NotRunningError, SpinneyError
from model.cli import quick_call
from tests.patience import PATIENCE

REPLY = json.dumps({"type": "response", "id": "1", "data": {"text": "ü" * 40_000}}).encode()


def silent() -> SpinneyError:
    return SpinneyError("It does not answer.", "timeout")


def frame(kind: int, body: bytes, *, last: bool = True) -> bytes:
    size = len(body)
    head = struct.pack("!B", kind | (0x80 if last else 0))
    if size < 126:
        return head + struct.pack("!B", size) + body
    if size < 1 << 16:
        return head + struct.pack("!BH", 126, size) + body
    return head + struct.pack("!BQ", 127, size) + body


@contextmanager
def answering(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server for one client; `answer` responds to its upgrade request."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            client, _ = server.accept()
            with client:
                client.settimeout(PATIENCE)
                head = b""
                while b"\r\n\r\n" not in head:
                    head += client.recv(4096)
                answer(client)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        thread.join(PATIENCE)


def test_a_fragmented_response_among_events_and_pings_is_assembled() -> None:
    event = frame(1, b'{"event":"x","data":{"id":"1"}}')
    whole = [b"HTTP/1.1 101 Switching Protocols\r\n\r\n", event, frame(9, b"?")]
    whole += [frame(1, REPLY[:7], last=False), frame(9, b"again"), frame(0, REPLY[7:])]

    def answer(client: socket.socket) -> None:
        for piece in whole:
            for start in range(0, len(piece), 1000):
                client.sendall(piece[start : start + 1000])
        while client.recv(4096):
            pass

    with answering(answer) as url:
        connection = quick_call.Connection(url, "token", silent)
        response = connection.call("get_session", text="ö" * 70_000)
        connection.close()
    assert response == {"text": "ü" * 40_000}


@pytest.mark.parametrize(
    ("response", "kind", "message"),
    [
        (b"HTTP/1.1 401 Unauthorized\r\n\r\n", SpinneyError, "does not accept this token"),
        (b"HTTP/1.1 200 OK\r\n\r\n", SpinneyError, "Is it a Spinney"),
        (b"HTTP/1.1 101 Switching\r\n\r\n" + frame(8, b""), NotRunningError, "was lost"),
        (b"", NotRunningError, "was lost"),
        (b"no HTTP\r\n\r\n", SpinneyError, "Is it a Spinney"),
    ],
)
def test_an_invalid_response_is_reported(
    response: bytes, kind: type[SpinneyError], message: str
) -> None:
    with (
        answering(lambda client: client.sendall(response)) as url,
        pytest.raises(kind, match=message),
    ):
        quick_call.Connection(url, "", silent).call("list_projects")


def test_a_request_that_is_not_understood_fails_though_its_id_is_unknown() -> None:
    reply = b'{"type":"error","id":null,"error":"Invalid request: it is nested too deeply"}'

    def answer(client: socket.socket) -> None:
        client.sendall(b"HTTP/1.1 101 Switching Protocols\r\n\r\n" + frame(1, reply))
        while client.recv(4096):
            pass

    with answering(answer) as url:
        connection = quick_call.Connection(url, "", silent)
        with pytest.raises(SpinneyError, match="nested too deeply"):
            connection.call("list_projects")
        connection.close()


def test_nothing_is_sent_that_is_not_json() -> None:
    received: list[bytes] = []

    def answer(client: socket.socket) -> None:
        client.sendall(b"HTTP/1.1 101 Switching Protocols\r\n\r\n")
        received.append(client.recv(4096))

    with answering(answer) as url:
        connection = quick_call.Connection(url, "", silent)
        with pytest.raises(SpinneyError, match="not finite"):
            connection.call("get_messages", limit=float("nan"))
        connection.close()
    assert received == [b""]
