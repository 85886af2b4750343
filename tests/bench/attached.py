"""Another terminal attached to a running Spinney: time until it is live, and memory."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.bench import start
from tests.bench.long_session import write_sessions
from tests.bench.tables import Table
from tests.bench.terminal import environment, terminal

_SPINNEY = start.PROGRAMS["spinney"]
_BARE = start.PROGRAMS["bare Textual"]


def measure(runs: int, messages: int = 10_000) -> Table:
    """Measure the best start of `runs`, and the memory once."""
    table = Table("attached", "a screen of a Spinney that runs already, 120×40")
    with tempfile.TemporaryDirectory() as folder:
        _add_starts(table, Path(folder), runs)
    with tempfile.TemporaryDirectory() as there, tempfile.TemporaryDirectory() as here:
        _add_memory(table, Path(there), Path(here), messages)
    return table


def _add_starts(table: Table, home: Path, runs: int) -> None:
    """Measure until the first frame, and until the server is shown as connected."""
    asyncio.run(start.write_projects(home))
    bare, screens = [], []
    with _run_detached(home):
        for _ in range(runs + 1):
            with terminal([_BARE], home) as screen:
                bare.append(screen.wait_for(start.TREE))
            with terminal([_SPINNEY], home) as screen:
                screens.append((screen.wait_for(start.TREE), screen.wait_for(start.SERVING)))
    # For the first one the running process imports modules.
    first, *others = screens
    frame, live = (min(times) for times in zip(*others, strict=True))
    table.add("bare Textual", frame_ms=min(bare) * 1e3)
    table.add("its first screen", frame_ms=first[0] * 1e3, live_ms=first[1] * 1e3)
    table.add("another screen", frame_ms=frame * 1e3, live_ms=live * 1e3)
    table.at_most("a live frame within a second, s", live, 1)


@contextmanager
def _run_detached(home: Path) -> Iterator[None]:
    """Run a Spinney without a terminal, with its server on."""
    with terminal([_SPINNEY], home) as screen:
        screen.wait_for(start.TAIL)
        screen.wait_for(start.SERVING)
        os.kill(screen.pid, signal.SIGHUP)
        screen.wait_for_end()
    try:
        yield
    finally:
        words = [sys.executable, _SPINNEY, "stop"]
        subprocess.run(words, env=environment(home), check=True, stdout=subprocess.DEVNULL)


def _add_memory(table: Table, there: Path, here: Path, messages: int) -> None:
    for home in (there, here):
        for name in ("data", "config"):
            (home / name).mkdir(mode=0o700)
    asyncio.run(write_sessions(there / "data" / "spinney.db", {"long": messages}))
    words = [sys.executable, _SPINNEY, "serve", "--port", "0", "--json"]
    with subprocess.Popen(words, env=environment(there), stdout=subprocess.PIPE) as serving:
        try:
            assert serving.stdout is not None
            server = json.loads(serving.stdout.readline())
            attach, token = [_SPINNEY, "attach", server["base_url"]], server["token"]
            with terminal(attach, here, SPINNEY_TOKEN=token) as screen:
                screen.wait_for(f"(mark {messages - 1})".encode())
                screen.read_for(3.0)
                memory = screen.memory() / 2**20
        finally:
            serving.terminate()
    with terminal([_BARE], here) as screen:
        screen.wait_for(start.TAIL)
        screen.read_for(1.0)
        bare = screen.memory() / 2**20
    table.add(f"attached to a server, {messages:,} messages open", MiB=memory)
    table.add("bare Textual, open", MiB=bare)
    table.at_most("memory attached to a server, MiB", memory, 55)
