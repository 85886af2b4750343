"""Real agents that work concurrently, with a stub for the provider of each kind.

Measures whether all answer, the memory of their programs and of Spinney, and how long Spinney's
event loop was blocked.
"""

import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from model.backends.process import AGENT_VARIABLE
from tests.bench.programs import Program, program
from tests.bench.tables import Table
from tests.live.every_backend.kinds import KINDS, Kind

_MIB = 2**20
_INTERVAL = 0.5
"""Seconds between two measurements of memory while agents work."""

_TIMEOUTS = {"alone": 30.0, "first": 60.0, "again": 30.0}
"""Timeouts in seconds for the answers of a round: of one session, whose program may have to create
its files (20 `opencode acp` that do so concurrently corrupt each other's database); of all, with
programs that must start; of all, with programs that run."""

_END_TIMEOUT = 75.0
"""Seconds until all agent processes have ended; a server shared by sessions stays for 60."""


@dataclass(frozen=True)
class Memory:
    """Proportional memory (PSS, bytes: what programs share counts once) and processes."""

    spinney: int
    agents: int
    processes: int
    """The number of agent processes."""


def measure_memory(pid: int) -> Memory:
    """Measure the Spinney with this process id, and its agents' programs with all descendants."""
    spinney = psutil.Process(pid)
    sizes = []
    for child in spinney.children(recursive=True):
        with suppress(psutil.Error):  # it ended meanwhile
            if AGENT_VARIABLE in child.environ():  # others are git processes of Spinney
                sizes.append(child.memory_full_info().pss)
    return Memory(spinney.memory_full_info().pss, sum(sizes), len(sizes))


@contextmanager
def record_memory(pid: int) -> Iterator[list[Memory]]:
    """Measure memory periodically in a thread and append to the yielded list, at least once."""
    seen: list[Memory] = []
    over = threading.Event()

    def record() -> None:
        while not over.wait(_INTERVAL):
            seen.append(measure_memory(pid))

    recording = threading.Thread(target=record)
    recording.start()
    try:
        yield seen
    finally:
        over.set()
        recording.join()
        seen.append(measure_memory(pid))


def work(kind: Kind, place: Path, sessions: int) -> dict[str, Any]:
    """Run two rounds of answers and delete all sessions.

    Raises `pytest.skip.Exception` with the reason if the agent's program is missing.
    """
    with kind.program(place) as made:
        repository = str(made.make_repository())
        with program("answering", repository, environment=made.environ) as spinney:
            begun = spinney.ask("begin", count=sessions, backend=kind.backend, model=kind.model)
            before = measure_memory(spinney.pid)
            keys: list[str] = begun["sessions"]
            with record_memory(spinney.pid) as seen:
                alone = _run_round(kind, spinney, "alone", keys[:1])
                first, again = (
                    _run_round(kind, spinney, name, keys) for name in ("first", "again")
                )
            idle = measure_memory(spinney.pid)
            deleted = spinney.ask("delete", keys=keys)
            return {
                "alone": alone,
                "first": first,
                "again": again,
                "delete": deleted,
                "before": before,
                "peak": Memory(*(max(sizes) for sizes in _columns(seen))),
                "idle": idle,
                "deleted": _wait_until_ended(spinney.pid),
            }


def _run_round(kind: Kind, spinney: Program, name: str, keys: list[str]) -> dict[str, Any]:
    texts = {key: f"{name} thread {number}" for number, key in enumerate(keys)}
    messages = {key: kind.words(f"say: {text}") for key, text in texts.items()}
    ran = spinney.ask("answers", messages=messages, patience=_TIMEOUTS[name])
    wrong = {said for key, said in ran["said"].items() if said != texts[key]}
    answered = sum(said == texts[key] for key, said in ran["said"].items())
    return {**ran, "answered": answered, "wrong": sorted(map(str, wrong))}


def _columns(seen: Iterable[Memory]) -> Iterator[tuple[int, ...]]:
    return zip(*((record.spinney, record.agents, record.processes) for record in seen), strict=True)


def _wait_until_ended(pid: int) -> Memory:
    deadline = time.monotonic() + _END_TIMEOUT
    while (memory := measure_memory(pid)).processes and time.monotonic() < deadline:
        time.sleep(_INTERVAL)
    return memory


def measure(runs: int, sessions: int = 20, kinds: Iterable[str] = KINDS) -> Table:
    """Measure every kind of agent whose program is installed."""
    table = Table("agents", f"{sessions} sessions of real agents at once, answered by stand-ins")
    for _ in range(runs):
        for name in kinds:
            # Not below /tmp: the sandbox of Codex always allows writing there.
            with tempfile.TemporaryDirectory(dir="/var/tmp", ignore_cleanup_errors=True) as folder:
                try:
                    ran = work(KINDS[name], Path(folder), sessions)
                except pytest.skip.Exception as reason:
                    table.notes.append(f"{name}: not measured, {reason}")
                    continue
            _add(table, name, ran, sessions)
    return table


def _add(table: Table, name: str, ran: dict[str, Any], sessions: int) -> None:
    parts = [ran[part] for part in (*_TIMEOUTS, "delete")]
    before, peak, idle, deleted = (ran[at] for at in ("before", "peak", "idle", "deleted"))
    table.add(
        name,
        alone_s=ran["alone"]["seconds"],
        first_s=ran["first"]["seconds"],
        again_s=ran["again"]["seconds"],
        held_ms_max=max(part["held_max"] for part in parts) * 1e3,
        busy_ms_max=max(part["busy_max"] for part in parts) * 1e3,
        late_ms_max=max(part["late_max"] for part in parts) * 1e3,
        spinney_cpu_s=sum(part["cpu"] for part in parts),
        spinney_MiB_before=before.spinney / _MIB,
        peak=peak.spinney / _MIB,
        idle=idle.spinney / _MIB,
        deleted=deleted.spinney / _MIB,
        agents_MiB_peak=peak.agents / _MIB,
        agents_idle=idle.agents / _MIB,
        idle_per_session=(idle.agents + idle.spinney - before.spinney) / sessions / _MIB,
        processes_idle=idle.processes,
        processes_left=deleted.processes,
    )
    answered = min(ran["first"]["answered"], ran["again"]["answered"])
    table.at_least(f"all sessions answer, {name}", answered, sessions)
    table.at_most(f"no process is left, {name}", deleted.processes, 0)
    held = max(part["held_max"] for part in parts) * 1e3
    table.at_most(f"nothing holds the loop for 50 ms, {name}", held, 50)
    for part in _TIMEOUTS:
        table.notes += [f"{name}, {part}: {said}" for said in ran[part]["wrong"]]
