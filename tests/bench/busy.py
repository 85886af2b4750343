"""The terminal while agents stream Markdown, wait or work: CPU, key latency, loop delays."""

import json
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.bench.at_work import UNWATCHED
from tests.bench.programs import ROOT
from tests.bench.tables import Table, percentile
from tests.bench.terminal import SSH, terminal

SECONDS = 8.0
WATCHED = 5.0
"""Seconds in which the screen's event loop is watched, or keys are pressed."""
REST = 12.0
SETTLED = 10.0
"""Seconds after which notifications have left the screen."""
KEYS = [chr(0x430 + n) for n in range(32)] * 2
"""Letters that no stream contains."""


@dataclass
class _Figures:
    """The figures of one scenario."""

    share: float
    """Share of a core, in all threads."""
    kib: float
    """Written to the terminal each second."""
    keys: list[float]
    """Seconds until each key was painted."""
    loop: dict[str, float]
    notes: list[dict[str, float]] = field(default_factory=list)

    def per_frame(self, first: int, last: int) -> float:
        """Return the CPU seconds of the screen's thread per frame, between two records."""
        begin, end = self.notes[first], self.notes[last]
        return (end["screen"] - begin["screen"]) / max(1.0, end["frames"] - begin["frames"])


def measure(runs: int) -> Table:
    """Measure each scenario in a new terminal; the table has the run with the least CPU."""
    table = Table("busy", "the terminal while agents work, 120×40")
    keys = KEYS
    one = _best(runs, 1, "markdown 2000", 3.0, SECONDS)
    _add(table, "one streams Markdown, 2,000 pieces/s", one)
    table.at_most("one stream: a fifth of a core", one.share, 0.2)
    table.at_most("one stream: no stall of 25 ms, by CPU", one.loop["busy_max"] * 1e3, 25)
    early, late = one.per_frame(2, 5), one.per_frame(UNWATCHED - 4, UNWATCHED - 1)
    table.at_most("one stream: a frame late beside one early", late / early, 1.5)
    growing = _best(runs, 1, "paragraph 2000", 3.0, SECONDS, keys)
    _add(table, "one paragraph of 100 KB grows, 2,000 pieces/s", growing)
    table.at_most("one paragraph: a fifth of a core", growing.share, 0.2)
    table.at_most("one paragraph: key to painted, p99 ms", percentile(growing.keys, 0.99) * 1e3, 33)
    over_ssh = _best(runs, 1, "markdown 2000", 3.0, SECONDS, ssh=True)
    _add(table, "the same over SSH", over_ssh)
    table.at_most("one stream over SSH, KiB/s", over_ssh.kib, 40)
    every = _best(runs, 20, "markdown 50", 3.0, SECONDS, keys)
    _add(table, "20 stream, 50 pieces/s each, one in sight", every)
    table.at_most("20 streams: a quarter of a core", every.share, 0.25)
    table.at_most("20 streams: key to painted, p99 ms", percentile(every.keys, 0.99) * 1e3, 33)
    for name, message, limit in (
        ("wait for a person", "ask", 0.003),
        ("work silently", "work", 0.01),
    ):
        found = _best(runs, 20, message, SETTLED, REST)
        _add(table, f"20 {name}", found)
        table.at_most(f"20 {name}: share of a core", found.share, limit)
    return table


def _best(
    runs: int,
    sessions: int,
    message: str,
    settle: float,
    seconds: float,
    keys: Sequence[str] = (),
    *,
    ssh: bool = False,
) -> _Figures:
    environ = SSH if ssh else {}
    every = (_run(sessions, message, settle, seconds, keys, environ) for _ in range(runs))
    return min(every, key=lambda found: found.share)


def _run(
    sessions: int,
    message: str,
    settle: float,
    seconds: float,
    keys: Sequence[str],
    environ: dict[str, str],
) -> _Figures:
    with tempfile.TemporaryDirectory() as folder:
        home, result = Path(folder), Path(folder) / "result.json"
        program = str(ROOT / "tests" / "bench" / "at_work.py")
        with terminal([program, str(result), str(sessions), message], home, **environ) as screen:
            screen.wait_for(b"Session 0")
            screen.read_for(settle)
            cpu, began = screen.cpu_seconds(), time.perf_counter()
            count = screen.read_for(seconds)
            passed = time.perf_counter() - began
            share = (screen.cpu_seconds() - cpu) / passed
            screen.read_for(max(0.0, UNWATCHED + 2 - settle - seconds))
            delays = screen.time_keys(keys)
            screen.read_for(0.0 if keys else WATCHED)
        written = json.loads(result.read_text())
    return _Figures(share, count / 1024 / passed, delays, written["loop"], written["notes"])


def _add(table: Table, name: str, found: _Figures) -> None:
    figures: dict[str, float | str] = {
        "CPU_of_a_core": f"{found.share:.1%}",
        "KiB_per_s": found.kib,
    }
    if found.loop:
        figures["CPU_ms_a_frame"] = found.per_frame(2, UNWATCHED - 1) * 1e3
    if found.keys:
        figures["key_p50_ms"] = percentile(found.keys, 0.5) * 1e3
        figures["key_p99_ms"] = percentile(found.keys, 0.99) * 1e3
    if found.loop:
        figures["busy_p99_ms"] = found.loop["busy_p99"] * 1e3
        figures["busy_max_ms"] = found.loop["busy_max"] * 1e3
        figures["held_max_ms"] = found.loop["held_max"] * 1e3
    table.add(name, **figures)
