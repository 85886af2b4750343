"""The terminal in use: key latency, streaming, CPU when idle, memory, and bytes over SSH."""

import asyncio
import json
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.bench import start
from tests.bench.bare_tree import MESSAGES
from tests.bench.long_session import write_sessions
from tests.bench.programs import ROOT
from tests.bench.tables import Table, percentile
from tests.bench.terminal import SSH, Terminal, terminal
from tests.ports import find_free_port

SPINNEY = str(ROOT / "spinney.py")
KEYS = [chr(0x430 + n) for n in range(32)] * 3
"""Letters that no stream contains."""
REST = 15.0
STREAM = "/demo stream 30000 2000"


def measure(runs: int, messages: int = 10_000) -> Table:
    """Measure each in a new terminal; of key latencies, use the run with the lowest median."""
    table = Table("living", "the terminal in use, 120×40")
    for name, streams in (("at rest", False), ("while one session streams 2,000 a second", True)):
        delays = min((_keys(streams) for _ in range(runs)), key=lambda d: percentile(d, 0.5))
        p50, p99 = (percentile(delays, share) * 1e3 for share in (0.5, 0.99))
        table.add(f"key to painted, {name}", p50_ms=p50, p99_ms=p99)
        if not streams:
            table.at_most("key to painted, p50 6 ms", p50, 6)
        table.at_most(f"key to painted, p99, {name}", p99, 33 if streams else 20)
    _add_stream(table)
    _add_rest(table, messages)
    return table


@contextmanager
def _demo(**environ: str) -> Iterator[Terminal]:
    with (
        tempfile.TemporaryDirectory() as folder,
        terminal([SPINNEY, "demo"], Path(folder), TMPDIR=folder, **environ) as screen,
    ):
        # The cursor is on the first letter, which is therefore drawn by itself.
        screen.wait_for(b"essage Demo agent")
        screen.read_for(2.0)
        yield screen


def _keys(streams: bool) -> list[float]:
    with _demo() as screen:
        if streams:
            screen.type(STREAM + "\r")
            screen.wait_for(b"running")
            screen.read_for(1.0)
        return screen.time_keys(KEYS)


def _add_stream(table: Table) -> None:
    for name, environ in (("here", {}), ("over SSH", SSH)):
        with _demo(**environ) as screen:
            screen.type(STREAM + "\r")
            screen.wait_for(b"running")
            screen.read_for(1.0)
            cpu, began = screen.cpu_seconds(), time.perf_counter()
            count = screen.read_for(8.0)
            seconds = time.perf_counter() - began
            share = (screen.cpu_seconds() - cpu) / seconds
        table.add(
            f"streaming 2,000 pieces/s {name}",
            CPU_of_a_core=f"{share:.0%}",
            KiB_per_s=count / 1024 / seconds,
        )
        if environ:
            table.at_most("KiB/s over SSH", count / 1024 / seconds, 40)
        else:
            table.at_most("a fifth of a core while streaming", share, 0.2)


def _add_rest(table: Table, messages: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        asyncio.run(start.write_projects(home))
        with terminal([SPINNEY], home) as screen:
            screen.wait_for(f"(mark {MESSAGES - 1})".encode())
            screen.wait_for(start.SERVING)
            screen.read_for(5.0)
            cpu = screen.cpu_seconds()
            count = screen.read_for(REST)
            share = (screen.cpu_seconds() - cpu) / REST
        table.add("at rest, six worktrees, server on", CPU_of_a_core=f"{share:.2%}", bytes=count)
        table.at_most("at rest 0.3 % of a core", share, 0.003)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        for name in ("data", "config"):
            (home / name).mkdir(mode=0o700)
        wanted = {**start.SERVER_ON, "http_server_port": find_free_port()}
        (home / "config" / "preferences.json").write_text(json.dumps(wanted))
        asyncio.run(write_sessions(home / "data" / "spinney.db", {"long": messages}))
        with terminal([SPINNEY], home) as screen:
            screen.wait_for(f"(mark {messages - 1})".encode())
            screen.wait_for(start.SERVING)
            screen.read_for(3.0)
            memory = screen.memory() / 2**20
        table.add(f"{messages:,} messages open, server on", MiB=memory)
        table.at_most("memory with server and a long session, MiB", memory, 70)
