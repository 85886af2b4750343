"""What a connection's thread promises: its work goes to its end, in order."""

import asyncio
import sqlite3
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from model.store.connection import Connection
from tests.patience import PATIENCE


async def test_work_goes_to_its_end_though_its_caller_was_canceled(tmp_path: Path) -> None:
    connection = await Connection.open(tmp_path / "file.db")
    begun, may_end = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def work(opened: sqlite3.Connection) -> None:
        loop.call_soon_threadsafe(begun.set)
        may_end.wait()
        opened.execute("CREATE TABLE written (id)")

    caller = asyncio.create_task(connection.run(work))
    await begun.wait()
    caller.cancel()
    with suppress(asyncio.CancelledError):
        await caller
    may_end.set()
    await connection.close()
    await connection.close()
    again = await Connection.open(tmp_path / "file.db", read_only=True)
    assert await again.run(lambda opened: opened.execute("SELECT * FROM written").fetchall()) == []
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        await again.run(lambda opened: opened.execute("DROP TABLE written"))
    await again.close()


async def test_work_for_a_closed_connection_fails_and_never_waits(tmp_path: Path) -> None:
    connection = await Connection.open(tmp_path / "file.db")
    await connection.close()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        async with asyncio.timeout(PATIENCE):
            await connection.run(lambda opened: opened.execute("SELECT 1"))
