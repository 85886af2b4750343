"""An SQLite connection in a thread of its own, which does one piece of work after the other.

A piece of work is a function of the connection, such as a whole transaction: to cross to the thread
and back takes longer than most statements.
"""

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import TypeVar

T = TypeVar("T")


class Connection:
    """An open connection, without transactions of its own: work begins and ends them."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """`connection` may be used by any thread."""
        self._connection = connection
        self._work: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._is_closed = False
        Thread(target=self._do_work, name="sqlite").start()

    @classmethod
    async def open(cls, path: Path, *, read_only: bool = False) -> "Connection":
        """Open a file, or create it. Raises `sqlite3.Error`."""
        return cls(await asyncio.to_thread(_connect, path, "ro" if read_only else "rwc"))

    async def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Return what `work` returns; raises what it raises.

        It goes to its end even if the caller is canceled. Raises `sqlite3.ProgrammingError` once
        the connection is closed: the work would never be done.
        """
        if self._is_closed:
            raise sqlite3.ProgrammingError("Cannot operate on a closed database.")
        return await self._run(work)

    async def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._work.put(partial(self._answer, work, loop, future))
        return await future

    async def close(self) -> None:
        """Close the connection once all work is done; a second time does nothing."""
        if not self._is_closed:
            self._is_closed = True
            try:
                await self._run(sqlite3.Connection.close)
            finally:  # Also if canceled: the process does not end before its threads.
                self._work.put(None)

    def _answer(
        self,
        work: Callable[[sqlite3.Connection], T],
        loop: asyncio.AbstractEventLoop,
        future: "asyncio.Future[T]",
    ) -> None:
        settle: Callable[[], None]
        try:
            settle = partial(_set_result, future, work(self._connection))
        except BaseException as error:
            settle = partial(_set_exception, future, error)
        with suppress(RuntimeError):  # The loop is closed, so no caller waits.
            loop.call_soon_threadsafe(settle)

    def _do_work(self) -> None:
        while work := self._work.get():
            work()
            del work  # It holds what was written or read, which may be megabytes.


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    address = f"{path.absolute().as_uri()}?mode={mode}"
    return sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)


def _set_result(future: "asyncio.Future[T]", result: T) -> None:
    if not future.done():
        future.set_result(result)


def _set_exception(future: "asyncio.Future[T]", error: BaseException) -> None:
    if not future.done():
        future.set_exception(error)
