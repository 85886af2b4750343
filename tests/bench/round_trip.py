"""Round trips of commands over a WebSocket, beside an aiohttp server that only answers.

The client is a bare socket that waits for each reply, so that its own cost is small and the same
for both servers. The two are asked in turn, round by round, because the machine has other work.
"""

import itertools
import json
import struct
import tempfile
import time
from typing import Any

from tests.bench.clients import connect
from tests.bench.programs import Program, cpu_seconds, program
from tests.bench.tables import Table, percentile

ROUNDS = 8
_CREATED = "create_session"


def measure(runs: int, count: int = 100, sessions: int = 1000) -> Table:
    """Measure each command `runs * count` times, with `sessions` sessions only for the lists."""
    table = Table("roundtrip", "commands over a WebSocket, beside an answer of the same size")
    with (
        tempfile.TemporaryDirectory() as folder,
        program("served", folder) as spinney,
        program("bare_echo") as bare,
    ):
        client = _Client(spinney, "/ws")
        session = json.loads(client.call(_CREATED, worktreeId="w", backend="demo"))["data"]["id"]
        add = {"worktreeId": "w", "backend": "demo"}
        total = runs * count
        found = {
            "list_projects": _compare(table, client, bare, total, "list_projects"),
            "get_session": _compare(table, client, bare, total, "get_session", sessionId=session),
            _CREATED: _compare(table, client, bare, total // 4, _CREATED, **add),
        }
        created = json.loads(client.call("list_sessions", worktreeId="w"))["data"]
        for _ in range(sessions - len(created)):
            client.call(_CREATED, **add)
        found["list"] = _compare(table, client, bare, total // 8, "list_sessions", worktreeId="w")
        found["rows"] = _compare(table, client, bare, total // 8, "list_all_sessions", limit=1000)
    for name in ("list_projects", "get_session"):
        table.at_most(f"{name}, p50, µs", found[name] * 1e6, 200)
    table.at_most("create_session, p50, ms", found[_CREATED] * 1e3, 2.5)
    table.at_most(f"list of {sessions:,} sessions, p50, ms", found["list"] * 1e3, 8)
    return table


def _compare(
    table: Table, client: "_Client", bare: Program, count: int, command: str, **arguments: Any
) -> float:
    """Add a row for a command; return the median of its round trips in seconds."""
    size = len(client.call(command, **arguments))
    echo = _Client(bare, f"/ws/{size}")
    for each in (client, echo):
        each.measure(5, command, arguments)
        each.forget()
    for _ in range(ROUNDS):
        for each in (client, echo):
            each.measure(max(1, count // ROUNDS), command, arguments)
    echo.close()
    p50, bare_p50 = percentile(client.times, 0.5), percentile(echo.times, 0.5)
    table.add(
        f"{command}, {size / 1024:,.1f} KiB",
        p50_us=p50 * 1e6,
        p99_us=percentile(client.times, 0.99) * 1e6,
        CPU_us=client.cpu / len(client.times) * 1e6,
        bare_p50_us=bare_p50 * 1e6,
        bare_CPU_us=echo.cpu / len(echo.times) * 1e6,
        p50_of_bare=p50 / bare_p50,
        CPU_of_bare=client.cpu / echo.cpu,
    )
    return p50


class _Client:
    """One WebSocket to a server, the times of its round trips and the CPU time of the server."""

    def __init__(self, server: Program, path: str) -> None:
        self.times: list[float] = []
        self.cpu = 0.0
        self._pid = server.pid
        self._socket = connect(server.ask("port")["port"], path)
        self._socket.setblocking(True)
        self._numbers = itertools.count()
        self._rest = b""

    def forget(self) -> None:
        """Forget what was measured up to now."""
        self.times, self.cpu = [], 0.0

    def measure(self, count: int, command: str, arguments: dict[str, Any]) -> None:
        """Call a command `count` times, and add what that took."""
        cpu = cpu_seconds(self._pid)
        for _ in range(count):
            began = time.perf_counter()
            self.call(command, **arguments)
            self.times.append(time.perf_counter() - began)
        self.cpu += cpu_seconds(self._pid) - cpu

    def call(self, command: str, **arguments: Any) -> bytes:
        """Return the reply to a command."""
        frame = {"id": str(next(self._numbers)), "command": command, "args": arguments}
        self._socket.sendall(_masked(json.dumps(frame).encode()))
        while True:
            reply = self._read_frame()
            if reply.startswith(b'{"type": "error"'):
                raise RuntimeError(reply.decode())
            if reply.startswith((b'{"type":"response"', b".")):
                return reply

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def _read_frame(self) -> bytes:
        size = self._take(2)[1]
        if size == 126:
            size = int.from_bytes(self._take(2), "big")
        elif size == 127:
            size = int.from_bytes(self._take(8), "big")
        return self._take(size)

    def _take(self, size: int) -> bytes:
        pieces, missing = [self._rest], size - len(self._rest)
        while missing > 0:
            pieces.append(self._socket.recv(1 << 20))
            if not pieces[-1]:
                raise ConnectionError("the server closed the connection")
            missing -= len(pieces[-1])
        data = b"".join(pieces)
        self._rest = data[size:]
        return data[:size]


def _masked(payload: bytes) -> bytes:
    """Return a text frame of a client; its mask is zero, which leaves the payload as it is."""
    head = struct.pack("!BBH", 0x81, 0xFE, len(payload))
    return head + b"\x00\x00\x00\x00" + payload
