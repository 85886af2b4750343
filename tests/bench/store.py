"""Durable inserts of messages, and reading pages of a long session."""

import asyncio
import json
import sqlite3
import tempfile
import time
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path

from model.domain.events.messages import MessageQueued
from model.domain.events.sessions import SessionCreated
from model.domain.messages import Block, Message, TextBlock
from model.domain.sessions import Session
from model.state import State
from model.store.bus import EventBus
from model.store.database import Database
from model.store.store import Store
from tests.bench.long_session import write_sessions
from tests.bench.tables import Table, percentile

PAGE = 100
AT_ONCE = 32
_TEXT = "Please count the apples again. " * 25
_QUERY = (
    "SELECT messages.id, messages.body, blocks.body FROM messages"
    " LEFT JOIN blocks ON blocks.message_id = messages.id"
    " WHERE messages.session_id = ? AND position > ? AND position <= ?"
    " ORDER BY position, place"
)


def measure(runs: int, inserts: int = 1000, messages: int = 10_000) -> Table:
    """Measure inserts and pages, compared with bare sqlite3 on the same tables."""
    table = Table("store", f"durable inserts of messages, pages of {PAGE} of {messages:,}")
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_measure(table, Path(folder), runs, inserts, messages))
    return table


async def _measure(table: Table, place: Path, runs: int, inserts: int, messages: int) -> None:
    path = place / "spinney.db"
    await write_sessions(path, {"long": messages})
    database, problem = await Database.open(path)
    if problem:
        raise RuntimeError(problem)
    store = Store(database, EventBus(), State())
    try:
        await _measure_inserts(table, store, path, runs, inserts)
        await _measure_pages(table, store, path, runs, messages)
    finally:
        await store.close()


# Inserts -----------------------------------------------------------------------------------------


async def _measure_inserts(table: Table, store: Store, path: Path, runs: int, count: int) -> None:
    session = Session(id="new", worktree_id="w", name="new", created_at=1.0)
    await store.accept(SessionCreated(session=session))

    async def in_turn() -> None:
        for _ in range(count):
            await store.accept(_make_event())

    async def at_once() -> None:
        async def some() -> None:
            for _ in range(count // AT_ONCE):
                await store.accept(_make_event())

        await asyncio.gather(*(some() for _ in range(AT_ONCE)))

    raw = sqlite3.connect(path, isolation_level=None)
    raw.execute("PRAGMA synchronous=FULL")
    best = {"bare sqlite3": 0.0, "one after the other": 0.0, f"{AT_ONCE} at once": 0.0}
    try:
        for _ in range(runs):
            began = time.perf_counter()
            for _ in range(count):
                _insert(raw)
            _keep_best(best, "bare sqlite3", count / (time.perf_counter() - began))
            for name, work in (("one after the other", in_turn), (f"{AT_ONCE} at once", at_once)):
                began = time.perf_counter()
                await work()
                done = count if work is in_turn else count // AT_ONCE * AT_ONCE
                _keep_best(best, name, done / (time.perf_counter() - began))
        stored = raw.execute("SELECT count(*) FROM messages WHERE session_id = 'new'").fetchone()
    finally:
        raw.close()
    expected = runs * (2 * count + count // AT_ONCE * AT_ONCE)
    if stored[0] != expected:
        raise RuntimeError(f"{stored[0]} of {expected} messages are in the file")
    for name, rate in best.items():
        table.add(name, messages_per_s=rate, of_bare=rate / best["bare sqlite3"])
    table.at_least("at least 500 durable inserts a second", best["one after the other"], 500)


def _make_event() -> MessageQueued:
    content: list[Block] = [TextBlock(text=_TEXT)]
    message = Message(
        id=str(uuid.uuid4()), role="user", content=content, timestamp=1.0, session_id="new"
    )
    return MessageQueued(session_id="new", message=message, status="processing")


def _insert(raw: sqlite3.Connection) -> None:
    message = _make_event().message
    raw.execute("BEGIN IMMEDIATE")
    raw.execute(
        "INSERT INTO messages (id, session_id, position, body) VALUES (?1, ?2, (SELECT"
        " coalesce(max(position), 0) + 1 FROM messages WHERE session_id = ?2), ?3)",
        (message.id, "new", message.model_dump_json(exclude={"content"})),
    )
    body = message.content[0].model_dump_json()
    raw.execute("INSERT INTO blocks VALUES (?, 0, ?)", (message.id, body))
    raw.execute("COMMIT")


def _keep_best(best: dict[str, float], name: str, rate: float) -> None:
    best[name] = max(best[name], rate)


# Pages -------------------------------------------------------------------------------------------


async def _measure_pages(table: Table, store: Store, path: Path, runs: int, messages: int) -> None:
    raw = sqlite3.connect(path)

    async def read_with_sqlite(offset: int) -> int:
        return len(_raw_page(raw, messages - offset))

    async def read_with_store(offset: int) -> int:
        page = await store.messages("long", PAGE, offset)
        if page.total != messages:
            raise RuntimeError(f"the session has {page.total} messages, not {messages}")
        return len(page.messages)

    try:
        for name, offset in (("newest", 0), ("oldest", messages - PAGE)):
            times = {
                "bare sqlite3": await _page_time(read_with_sqlite, offset, runs),
                "spinney": await _page_time(read_with_store, offset, runs),
            }
            for store_name, seconds in times.items():
                ratio = seconds / times["bare sqlite3"]
                table.add(f"{name} page, {store_name}", ms_p50=seconds * 1e3, of_bare=ratio)
    finally:
        raw.close()


def _raw_page(raw: sqlite3.Connection, last: int) -> dict[str, list[object]]:
    page: dict[str, list[object]] = {}
    for message_id, body, block in raw.execute(_QUERY, ("long", last - PAGE, last)):
        page.setdefault(message_id, [json.loads(body)]).append(json.loads(block))
    return page


async def _page_time(read: Callable[[int], Awaitable[int]], offset: int, runs: int) -> float:
    times = []
    for _ in range(runs * 10):
        began = time.perf_counter()
        found = await read(offset)
        times.append(time.perf_counter() - began)
        if found != PAGE:
            raise RuntimeError(f"a page of {found} messages")
    return percentile(times, 0.5)
