"""A program: many WebSocket clients in one process, with as little work per byte as possible.

`count` only counts bytes (for broadcasts of frames of one size); `follow` parses the frames of one
streamed answer, in which every piece contains its number and the time at which it was sent.
"""

import json
import selectors
import socket
import sys
import time
from typing import Any

from tests.bench.programs import Progress, say
from tests.bench.tables import percentile

_UPGRADE = (
    "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
    "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    "Sec-WebSocket-Version: 13\r\n\r\n"
)
_TIMEOUT = 120
_GRACE = 2.0
"""Seconds to wait for missing pieces after the end of an answer."""


def connect(port: int, path: str) -> socket.socket:
    """Open a WebSocket. Data behind the response to the upgrade is left in the socket."""
    sock = socket.create_connection(("127.0.0.1", port))
    sock.sendall(_UPGRADE.format(path=path, port=port).encode())
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = sock.recv(1)
        if not byte:
            raise RuntimeError(f"the server closed: {head!r}")
        head += byte
    if b" 101 " not in head.split(b"\r\n", 1)[0]:
        raise RuntimeError(head.decode())
    sock.setblocking(False)
    return sock


class Clients:
    """Open sockets, and a selector for them."""

    def __init__(self, port: int, path: str, count: int) -> None:
        self.sockets = [connect(port, path) for _ in range(count)]
        self._selector = selectors.DefaultSelector()
        for i, sock in enumerate(self.sockets):
            self._selector.register(sock, selectors.EVENT_READ, i)

    def readable(self) -> list[int]:
        """Wait up to 0.5 s, and return the indexes of clients that have data."""
        return [key.data for key, _ in self._selector.select(0.5)]

    def close(self) -> None:
        """Close all."""
        self._selector.close()
        for sock in self.sockets:
            sock.close()


def count(clients: Clients, each: int, last: str, progress: Progress) -> dict[str, Any]:
    """Read `each` bytes at every client; `last` is the end of the last frame."""
    received = [0] * len(clients.sockets)
    buffer = bytearray(256 * 1024)
    ending, whole = last.encode(), True
    deadline = time.monotonic() + _TIMEOUT
    slowest = 0
    while slowest < each and time.monotonic() < deadline:
        for i in clients.readable():
            size = clients.sockets[i].recv_into(buffer)
            if not size:
                raise RuntimeError(f"client {i} was closed after {received[i]} bytes")
            received[i] += size
            if received[i] >= each:
                end = bytes(buffer[:size][-len(ending) :])
                whole = whole and received[i] == each and ending.endswith(end)
        slowest = min(received)
        progress.set(slowest)
    return {"received": sum(received), "complete": slowest >= each and whole}


class Follower:
    """One client of a streamed answer."""

    def __init__(self) -> None:
        self.pieces = 0
        self.ended = False
        self.in_order = True
        self._rest = b""

    def feed(self, data: bytes) -> list[bytes]:
        """Return the payloads of the text frames that are complete."""
        data = self._rest + data
        payloads, at = [], 0
        while len(data) - at >= 2:
            size, start = data[at + 1] & 127, at + 2
            if size == 126:
                size, start = int.from_bytes(data[at + 2 : at + 4], "big"), at + 4
            elif size == 127:
                size, start = int.from_bytes(data[at + 2 : at + 10], "big"), at + 10
            if len(data) < start + size:
                break
            if data[at] == 0x81:
                payloads.append(data[start : start + size])
            at = start + size
        self._rest = data[at:]
        return payloads


Pieces = tuple[list[int], list[float]]


def pieces_of(payload: bytes) -> Pieces | None:
    """Return the numbers and send times in a delta; `None` for the end of the answer."""
    frame = json.loads(payload)
    match frame.get("event"):
        case "content-delta":
            parts = [piece.split(":") for piece in frame["data"]["content"].split()]
            return [int(number) for number, _ in parts], [float(sent) for _, sent in parts]
        case "message-completed" | "message-error":
            return None
        case _:
            return [], []


def follow(clients: Clients, wanted: int) -> dict[str, Any]:
    """Read `wanted` pieces at every client; return the delays since they were sent."""
    followers = [Follower() for _ in clients.sockets]
    received: list[tuple[float, list[float]]] = []
    known: dict[bytes, Pieces | None] = {}
    frames = 0
    ended_at: float | None = None
    deadline = time.monotonic() + _TIMEOUT
    while not all(f.ended and f.pieces >= wanted for f in followers):
        if time.monotonic() > deadline or (ended_at and time.monotonic() > ended_at + _GRACE):
            break
        for i in clients.readable():
            follower = followers[i]
            payloads = follower.feed(clients.sockets[i].recv(256 * 1024))
            now = time.time()
            for payload in payloads:
                frames += 1
                if payload not in known:
                    known[payload] = pieces_of(payload)
                pieces = known[payload]
                if pieces is None:
                    follower.ended = True
                elif pieces[0]:
                    expected = follower.pieces + 1
                    follower.in_order &= pieces[0][0] == expected
                    follower.in_order &= pieces[0][-1] == follower.pieces + len(pieces[0])
                    follower.pieces += len(pieces[0])
                    received.append((now, pieces[1]))
        if ended_at is None and all(f.ended for f in followers):
            ended_at = time.monotonic()
    return {
        "pieces": [follower.pieces for follower in followers],
        "in_order": all(follower.in_order for follower in followers),
        "frames": frames,
        **_delays(received),
    }


def _delays(received: list[tuple[float, list[float]]]) -> dict[str, float]:
    delays = [now - sent for now, times in received for sent in times]
    if not delays:
        return {"p50": 0.0, "p99": 0.0, "max": 0.0, "seconds": 0.0}
    first = min(times[0] for _, times in received)
    return {
        "p50": percentile(delays, 0.50),
        "p99": percentile(delays, 0.99),
        "max": max(delays),
        "seconds": max(now for now, _ in received) - first,
    }


def main() -> None:
    """Execute the requests from stdin: connect, then count or follow, then close."""
    clients: Clients | None = None
    for line in sys.stdin:
        request = json.loads(line)
        match request["do"]:
            case "connect":
                clients = Clients(request["port"], request["path"], request["clients"])
                say({})
            case "count" if clients is not None:
                progress = Progress(request["progress"])
                say(count(clients, request["each"], request["last"], progress))
            case "follow" if clients is not None:
                say(follow(clients, request["pieces"]))
            case "close" if clients is not None:
                clients.close()
                say({})


if __name__ == "__main__":
    main()
