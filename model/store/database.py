"""The SQLite file: resources as documents, messages with their blocks.

One connection writes, in one thread; another one reads, so that a page never waits for a write. A
transaction is on disk before `write` returns (WAL, `synchronous=FULL`).
"""

import asyncio
import errno
import os
import shutil
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing, suppress
from functools import partial
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.paths import PRIVATE_FILE, file_error
from model.store.backups import keep_copy, list_backups, read_commit_count, read_file_commit_count
from model.store.commit_marker import CommitMarker
from model.store.connection import Connection
from model.store.queries import DatabaseReader, SavedState
from model.store.salvage import rescue
from model.store.schema import (
    REBUILD_SEARCH_INDEX,
    check_integrity,
    migrate,
    rebuild_search_index,
    rebuild_sums,
)
from model.store.sqlite_errors import decode_errors_as_damage, disk_error, is_damage, is_full
from model.store.usage_rows import Statement

_CACHE: Final = "PRAGMA cache_size=-512"
"""KiB of pages that a connection caches. The check at startup would fill four times as much with
pages that are not needed again; the operating system caches the file anyway."""

_DISK_FULL: Final = (
    "The disk was full when Spinney started: existing data can be read, but nothing can be saved"
    " until you free some space."
)

_LOW_SPACE: Final = 256 * 1024
"""Free bytes of a disk that may not be enough for SQLite's side files."""

_INCREMENT_COUNT: Final = (
    "INSERT INTO documents VALUES ('written', '', '1')"
    " ON CONFLICT DO UPDATE SET body = CAST(body + 1 AS TEXT) RETURNING CAST(body AS INTEGER)"
)


class Database(DatabaseReader):
    """The open file. `open` creates, migrates, repairs or replaces it."""

    def __init__(
        self,
        path: Path,
        writer: Connection,
        reader: Connection,
        marker: CommitMarker,
    ) -> None:
        super().__init__(reader)
        self._path = path
        self._writer = writer
        self._reader = reader
        self._marker = marker

    @classmethod
    async def open(cls, path: Path) -> tuple["Database", str | None]:
        """Open the database; return it with a message if it was damaged or data was lost.

        Raises `SpinneyError` if a newer version wrote the file or the disk refuses access.
        """
        marker = CommitMarker(path)
        try:
            problem, is_exclusive = await asyncio.to_thread(_prepare, path, marker)
            database = await cls._connect(path, marker, is_exclusive=is_exclusive)
        except sqlite3.Error as error:
            raise disk_error(error, f"the database {path}") from error
        except OSError as error:
            raise file_error(path, error, "opened") from error
        return database, problem

    @classmethod
    async def _connect(cls, path: Path, marker: CommitMarker, *, is_exclusive: bool) -> "Database":
        writer = await Connection.open(path)
        try:
            await writer.run(partial(_prepare_writer, is_exclusive=is_exclusive))
            if is_exclusive:
                return cls(path, writer, writer, marker)
            reader = await Connection.open(path)
        except BaseException:
            await writer.close()
            raise
        await reader.run(_prepare_reader)
        return cls(path, writer, reader, marker)

    async def close(self) -> None:
        """Finish writing and close the file."""
        await self._reader.close()
        await self._writer.close()
        self._marker.close()

    async def write(self, statements: Sequence[Statement]) -> None:
        """Write all statements or none; on disk when this returns. Raises `SpinneyError`."""
        if not statements:
            return
        try:
            try:
                await self._transaction(statements)
            except sqlite3.Error as error:
                if not is_damage(error):
                    raise
                # The search index may be damaged; it can be rebuilt from the messages.
                rebuild = [(statement, ()) for statement in REBUILD_SEARCH_INDEX]
                await self._transaction([*rebuild, *statements])
        except sqlite3.Error as error:
            raise disk_error(error, "the change") from error

    @asynccontextmanager
    async def with_uncommitted(
        self, statements: Sequence[Statement]
    ) -> AsyncIterator[DatabaseReader]:
        """Read the file as if these statements had been written, for which the disk has no space.

        Nothing may be written meanwhile. Raises `sqlite3.Error`.
        """
        try:
            await self._writer.run(partial(_execute_uncommitted, statements))
            yield DatabaseReader(self._writer)
        finally:
            await self._writer.run(sqlite3.Connection.rollback)

    async def back_up_and_repair(self, saved: SavedState) -> str:
        """Copy the file, then write the damaged rows as they were read; return a message."""
        try:
            copy = await asyncio.to_thread(keep_copy, self._path)
        except (sqlite3.Error, OSError) as error:
            return f"{saved.damage} It was left unchanged, because it could not be copied: {error}."
        await self.write(saved.repairs)
        return f"{saved.damage} The original database was kept as {copy.name}."

    async def _transaction(self, statements: Sequence[Statement]) -> None:
        await self._writer.run(partial(_write, statements, self._marker))


def _prepare_writer(connection: sqlite3.Connection, *, is_exclusive: bool) -> None:
    if is_exclusive:
        connection.execute("PRAGMA locking_mode=EXCLUSIVE")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute("PRAGMA busy_timeout=5000")
    connection.execute("PRAGMA temp_store=MEMORY")
    connection.execute(_CACHE)


def _prepare_reader(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA query_only=ON")
    connection.execute(_CACHE)


def _write(
    statements: Sequence[Statement], marker: CommitMarker, connection: sqlite3.Connection
) -> None:
    """Execute all statements in one transaction, or none."""
    try:
        connection.execute("BEGIN IMMEDIATE")
        for statement, values in statements:
            connection.execute(statement, values)
        ((count,),) = connection.execute(_INCREMENT_COUNT).fetchall()
        connection.execute("COMMIT")
    except BaseException:
        connection.rollback()
        raise
    marker.write(count)


def _execute_uncommitted(statements: Sequence[Statement], connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA cache_spill=OFF")
    connection.execute("BEGIN IMMEDIATE")
    for statement, values in statements:
        connection.execute(statement, values)


def _prepare(path: Path, marker: CommitMarker) -> tuple[str | None, bool]:
    """Prepare the file; return a message about problems and whether to use a single connection."""
    _refuse_unusable(path)
    try:
        try:
            return _check_and_migrate(path, marker), False
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
            problem = rescue(path, str(error))
            _check_and_migrate(path, marker)
            return problem, False
    except sqlite3.Error as error:
        if not _may_be_full(error, path):
            raise
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            # Without the shared-memory file, for which there is no disk space.
            connection.execute("PRAGMA locking_mode=EXCLUSIVE")
            check_integrity(connection)
            migrate(connection, path)
        return _DISK_FULL, True


def _refuse_unusable(path: Path) -> None:
    """Raise if the path is not a file, or cannot be read and written."""
    if path.exists() and not path.is_file():
        raise IsADirectoryError(errno.EISDIR, "not a file")
    if path.exists() and not os.access(path, os.R_OK | os.W_OK):
        raise SpinneyError(
            f"You have no write access to {path}. If it belongs to another"
            " user, move it or change its owner (chown), then start Spinney again.",
            "forbidden",
        )
    if not os.access(path.parent, os.R_OK | os.W_OK | os.X_OK):
        raise SpinneyError(
            f"You have no write access to {path.parent}. Change its permissions, then start Spinney"
            " again.",
            "forbidden",
        )


def _check_and_migrate(path: Path, marker: CommitMarker) -> str | None:
    """Check and migrate the file; return a message if it holds less than was written."""
    with (
        decode_errors_as_damage(),
        closing(sqlite3.connect(path, isolation_level=None)) as connection,
    ):
        with suppress(PermissionError):  # owned by another user who shares it
            path.chmod(PRIVATE_FILE)
        connection.execute("PRAGMA journal_mode=WAL")
        check_integrity(connection)
        migrate(connection, path)
        try:
            connection.execute("SELECT rowid FROM words LIMIT 1").fetchall()
        except sqlite3.DatabaseError:
            rebuild_search_index(connection)
        try:
            connection.execute("SELECT turns FROM daily_usage LIMIT 1").fetchall()
        except sqlite3.DatabaseError:
            rebuild_sums(connection)
        written, expected = read_commit_count(connection), marker.read()
        (documents,) = connection.execute("SELECT count(*) FROM documents").fetchone()
    if written >= expected:
        return None
    marker.write(written)
    return _describe_loss(path, written, expected, is_empty=not documents)


def _describe_loss(path: Path, written: int, expected: int, *, is_empty: bool) -> str:
    if is_empty:
        problem = f"The database {path} was missing or empty, so a new one was created."
    else:
        problem = (
            f"The database {path} is out of date: {expected - written:,} of"
            f" {expected:,} changes are missing."
        )
    for backup in list_backups(path):
        if read_file_commit_count(backup.path) > written:
            return (
                f"{problem} There is a backup from {backup.when}. To restore it, quit Spinney, then"
                f" run: spinney doctor --restore {backup.path.name}"
            )
    return f"{problem} No backup contains more."


def _may_be_full(error: sqlite3.Error, path: Path) -> bool:
    """Whether a full disk is the cause, for which SQLite has several error codes."""
    return is_full(error) or shutil.disk_usage(path.parent).free < _LOW_SPACE
