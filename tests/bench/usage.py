"""What agents use: the cost of recording a turn, and of reports over 100,000 turns."""

import asyncio
import sqlite3
import tempfile
import time
import tracemalloc
import uuid
from pathlib import Path

from model.api.usage import UsageBy
from model.domain.events.sessions import SessionUpdated, UsageRecorded
from model.domain.sessions import Session
from model.domain.usage import TurnUsage, Usage
from model.state import State
from model.store.bus import EventBus
from model.store.database import Database
from model.store.store import Store
from model.store.usage_rows import REBUILD_DAILY_USAGE, TURN_COLUMNS
from model.usage.reports import UsageReports
from tests.bench.tables import Table

SESSIONS = 1000
PER_SESSION = 100
PER_DAY = 60
"""Turns of a session on one day: each works on two."""
RECORDED = 500
GROUPS: tuple[UsageBy, ...] = ("day", "model", "project", "session")


def measure(runs: int) -> Table:
    """Measure the CPU time of records and reports, and memory, at 100,000 turns."""
    table = Table("usage", f"records of turns, and reports over {SESSIONS * PER_SESSION:,} of them")
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_measure(table, Path(folder) / "spinney.db", runs))
    return table


async def _measure(table: Table, path: Path, runs: int) -> None:
    database, problem = await Database.open(path)
    if problem:
        raise RuntimeError(problem)
    sessions = {
        f"s{number}": Session(
            id=f"s{number}", worktree_id=f"w{number // 4}", name=f"task {number}", created_at=1.0
        )
        for number in range(SESSIONS)
    }
    store = Store(database, EventBus(), State(sessions=sessions))
    try:
        await _add_row(table, store, runs, "no others")
        _fill(path)
        added = await _add_row(table, store, runs, "100,000 others")
        table.at_most("CPU time that usage adds to the end of a turn, ms", added, 1.0)
        times = {by: min([await _report(store, by) for _ in range(runs)]) for by in GROUPS}
        for by, (taken, rows) in times.items():
            table.add(f"report by {by}", ms=taken, rows=rows, us_a_row=1000 * taken / rows)
        tracemalloc.start()
        for _ in range(3):  # more than the bus keeps
            await _record(store)
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(4):
            await _record(store)
        grown = tracemalloc.get_traced_memory()[0] - before
        tracemalloc.stop()
        table.add(f"memory after {4 * RECORDED:,} more turns", kB=grown / 1000)
    finally:
        await store.close()


async def _add_row(table: Table, store: Store, runs: int, others: str) -> float:
    """Measure the end of a turn with and without what it used; return the difference in ms."""
    pairs = [(await _record(store, has_usage=False), await _record(store)) for _ in range(runs)]
    bare, whole = (min(times) for times in zip(*pairs, strict=True))
    table.add(f"the end of a turn, {others}", ms=whole, without_usage=bare, added=whole - bare)
    return whole - bare


async def _record(store: Store, *, has_usage: bool = True) -> float:
    """Return the CPU time of recording and writing the end of one turn, in ms."""
    began = time.process_time()
    for number in range(RECORDED):
        updates = {"status": "idle", "updated_at": time.time()}
        store.record(SessionUpdated(session_id=f"s{number % SESSIONS}", updates=updates))
        if has_usage:
            store.record(UsageRecorded(turn=_make_turn(number)))
        await store.flush()
    return 1000 * (time.process_time() - began) / RECORDED


async def _report(store: Store, by: UsageBy) -> tuple[float, int]:
    """Return the CPU time of a report in ms, and its rows."""
    began = time.process_time()
    report = await UsageReports(store, str).make(by)
    return 1000 * (time.process_time() - began), len(report.rows)


def _make_turn(number: int) -> TurnUsage:
    return TurnUsage(
        id=str(uuid.uuid4()),
        session_id=f"s{number % SESSIONS}",
        worktree_id=f"w{number % SESSIONS // 4}",
        project_id="p",
        backend="demo",
        account="demo",
        model="loom",
        started_at=1.0,
        ended_at=2.0,
        day="2026-11-28",
        usage=Usage(input_tokens=100, output_tokens=20),
        cost_usd=0.01,
        cost_source="reported",
    )


def _fill(path: Path) -> None:
    """Write the turns with their sums at once."""
    rows = []
    for number in range(SESSIONS * PER_SESSION):
        session, place = divmod(number, PER_SESSION)
        day = session // 12 + place // PER_DAY
        rows.append((
            str(number), f"s{session}", f"w{session // 4}", f"p{session // 50}", "", "demo", "demo",
            f"loom-{session % 4}", float(number), number + 5.0,
            f"2026-{8 + day // 30:02}-{1 + day % 30:02}", 100, 20, 0, 1000, 0.01, "reported",
        ))  # fmt: skip
    connection = sqlite3.connect(path)
    try:
        places = ", ".join("?" * len(TURN_COLUMNS))
        connection.executemany(f"INSERT INTO turn_usage VALUES ({places})", rows)
        for statement in REBUILD_DAILY_USAGE:
            connection.execute(statement)
        connection.commit()
    finally:
        connection.close()
