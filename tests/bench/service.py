"""`spinney serve` without a client: its start, its CPU time at rest, and `spinney ls`."""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.bench import start
from tests.bench.programs import ROOT, cpu_seconds
from tests.bench.tables import Table
from tests.bench.terminal import environment

SPINNEY = str(ROOT / "spinney.py")
_SETTLING = 15.0
"""Seconds in which what follows a start has ended."""


def measure(runs: int, rest: float = 15.0) -> Table:
    """Measure the start `runs` times, then rest, and `ls` beside a bare Python."""
    table = Table("service", "spinney serve without a client, six worktrees")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        asyncio.run(start.write_projects(home))
        answered = []
        for _ in range(runs):
            with _serving(home) as (_, seconds):
                answered.append(seconds)
        table.add("start to answer", best_ms=min(answered) * 1e3)
        with _serving(home) as (pid, _):
            time.sleep(_SETTLING)
            cpu = cpu_seconds(pid)
            time.sleep(rest)
            share = (cpu_seconds(pid) - cpu) / rest
            listed = [
                (_run([SPINNEY, "ls"], home), _run(["-c", ""], home)) for _ in range(runs * 5)
            ]
    table.add("at rest", CPU_of_a_core=f"{share:.2%}")
    for name, column in zip(("spinney ls", "python -c ''"), zip(*listed, strict=True), strict=True):
        best, cpu = (min(values) * 1e3 for values in zip(*column, strict=True))
        table.add(name, best_ms=best, CPU_ms=cpu)
    table.at_most("start to answer, s", min(answered), 1.5)
    table.at_most("at rest 0.3 % of a core", share, 0.003)
    table.at_most("spinney ls, ms", min(ls for (ls, _), _ in listed) * 1e3, 150)
    return table


@contextmanager
def _serving(home: Path) -> Iterator[tuple[int, float]]:
    """Run the service; yield its process id and the seconds until it answered."""
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, SPINNEY, "serve", "--port", "0"],
        cwd=home,
        env=environment(home),
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        if b"answers at" not in process.stdout.readline():
            raise RuntimeError("spinney serve did not start")
        yield process.pid, time.perf_counter() - began
    finally:
        process.terminate()
        process.wait(30)
        process.stdout.close()


def _run(arguments: list[str], home: Path) -> tuple[float, float]:
    """Run Python with these arguments; return its seconds and its CPU time."""
    began, before = time.perf_counter(), os.times()
    subprocess.run(
        [sys.executable, *arguments],
        cwd=home,
        env=environment(home),
        check=True,
        stdout=subprocess.DEVNULL,
    )
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user
    return time.perf_counter() - began, cpu - before.children_system
