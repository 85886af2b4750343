"""Real agents at work at once, each kind with a stand-in for its provider: whether all answer, what
memory their programs and Spinney have, and how long Spinney's loop was held meanwhile.
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
_LOOK = 0.5
"""Seconds between two looks at memory while agents work."""

_PATIENCE = {"alone": 30.0, "first": 60.0, "again": 30.0}
"""Seconds for the answers of a round: of one session, whose program may have to make its files (20
`opencode acp` that do so at the same time spoil each other's database); of all, with programs that
must start; of all, with programs that run."""

_LEAVE_PATIENCE = 75.0
"""Seconds until nothing of the agents is left; a server that sessions share rests for 60."""


@dataclass(frozen=True)
class Memory:
    """Proportional memory (PSS, bytes: what programs share counts once) and processes."""

    spinney: int
    agents: int
    processes: int
    """Of the agents."""


def memory_of(pid: int) -> Memory:
    """Of the Spinney with this process id and of its agents' programs with all they started."""
    spinney = psutil.Process(pid)
    sizes = []
    for child in spinney.children(recursive=True):
        with suppress(psutil.Error):  # it ended while we looked
            if AGENT_VARIABLE in child.environ():  # others are Spinney's own looks at git
                sizes.append(child.memory_full_info().pss)
    return Memory(spinney.memory_full_info().pss, sum(sizes), len(sizes))


@contextmanager
def peak_of(pid: int) -> Iterator[list[Memory]]:
    """Look again and again; what was seen is in the list, which is not empty at the end."""
    seen: list[Memory] = []
    over = threading.Event()

    def look() -> None:
        while not over.wait(_LOOK):
            seen.append(memory_of(pid))

    looking = threading.Thread(target=look)
    looking.start()
    try:
        yield seen
    finally:
        over.set()
        looking.join()
        seen.append(memory_of(pid))


def work(kind: Kind, place: Path, sessions: int) -> dict[str, Any]:
    """Two rounds of answers and the end of all sessions.

    Raises `pytest.skip.Exception` with the reason where the agent's program is missing.
    """
    with kind.program(place) as made:
        repository = str(made.made_repository())
        with program("answering", repository, environment=made.environ) as spinney:
            begun = spinney.ask("begin", count=sessions, backend=kind.backend, model=kind.model)
            before = memory_of(spinney.pid)
            keys: list[str] = begun["sessions"]
            with peak_of(spinney.pid) as seen:
                alone = _round(kind, spinney, "alone", keys[:1])
                first, again = (_round(kind, spinney, name, keys) for name in ("first", "again"))
            idle = memory_of(spinney.pid)
            deleted = spinney.ask("delete", keys=keys)
            return {
                "alone": alone,
                "first": first,
                "again": again,
                "delete": deleted,
                "before": before,
                "peak": Memory(*(max(sizes) for sizes in _columns(seen))),
                "idle": idle,
                "deleted": _when_all_left(spinney.pid),
            }


def _round(kind: Kind, spinney: Program, name: str, keys: list[str]) -> dict[str, Any]:
    texts = {key: f"{name} thread {number}" for number, key in enumerate(keys)}
    messages = {key: kind.words(f"say: {text}") for key, text in texts.items()}
    ran = spinney.ask("answers", messages=messages, patience=_PATIENCE[name])
    wrong = {said for key, said in ran["said"].items() if said != texts[key]}
    answered = sum(said == texts[key] for key, said in ran["said"].items())
    return {**ran, "answered": answered, "wrong": sorted(map(str, wrong))}


def _columns(seen: Iterable[Memory]) -> Iterator[tuple[int, ...]]:
    return zip(*((look.spinney, look.agents, look.processes) for look in seen), strict=True)


def _when_all_left(pid: int) -> Memory:
    deadline = time.monotonic() + _LEAVE_PATIENCE
    while (memory := memory_of(pid)).processes and time.monotonic() < deadline:
        time.sleep(_LOOK)
    return memory


def measure(runs: int, sessions: int = 20, kinds: Iterable[str] = KINDS) -> Table:
    """Every kind of agent whose program is there."""
    table = Table("agents", f"{sessions} sessions of real agents at once, answered by stand-ins")
    for _ in range(runs):
        for name in kinds:
            # No temporary folder to Codex: its sandbox lets everybody write in those.
            with tempfile.TemporaryDirectory(dir="/var/tmp", ignore_cleanup_errors=True) as folder:
                try:
                    ran = work(KINDS[name], Path(folder), sessions)
                except pytest.skip.Exception as reason:
                    table.notes.append(f"{name}: not measured, {reason}")
                    continue
            _add(table, name, ran, sessions)
    return table


def _add(table: Table, name: str, ran: dict[str, Any], sessions: int) -> None:
    parts = [ran[part] for part in (*_PATIENCE, "delete")]
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
    for part in _PATIENCE:
        table.notes += [f"{name}, {part}: {said}" for said in ran[part]["wrong"]]
