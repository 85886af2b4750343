"""The SQLite file: resources as documents, messages with their blocks.

One connection writes, in one thread; another reads, so that a page never waits for a write. A
transaction is on disk before `write` returns (WAL, `synchronous=FULL`).
"""

import asyncio
import errno
import os
import shutil
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path
from typing import Final

import aiosqlite

from model.base.errors import SpinneyError
from model.base.paths import PRIVATE_FILE, unsaved
from model.store.backups import backups_of, count_in, keep_aside, written_count
from model.store.commit_marker import Marker
from model.store.queries import Reading, Saved
from model.store.rows import Statement
from model.store.salvage import rescue
from model.store.schema import SEARCHABLE_ANEW, check, make_searchable, migrate
from model.store.sqlite_errors import disk_error, is_damage, is_full, legible

_CACHE: Final = "PRAGMA cache_size=-512"
"""KiB of pages that a connection keeps. The check at the start would fill four times as much, which
is never looked at again; the system keeps the file's pages anyway."""

_FULL: Final = (
    "The disk was full when Spinney started: what is here can be read, and nothing can be saved"
    " until there is room."
)

_LITTLE: Final = 256 * 1024
"""Free bytes of a disk that may be too few for the file's own side files."""

_COUNT_UP: Final = (
    "INSERT INTO documents VALUES ('written', '', '1')"
    " ON CONFLICT DO UPDATE SET body = CAST(body + 1 AS TEXT) RETURNING CAST(body AS INTEGER)"
)


class Database(Reading):
    """The open file. `open` makes, migrates, mends or replaces it."""

    def __init__(
        self, path: Path, writer: aiosqlite.Connection, reader: aiosqlite.Connection, marker: Marker
    ) -> None:
        super().__init__(reader)
        self._path = path
        self._writer = writer
        self._reader = reader
        self._marker = marker

    @classmethod
    async def open(cls, path: Path) -> tuple["Database", str | None]:
        """The database at `path`, and a sentence when something of it was damaged or lost.

        Raises `SpinneyError` when a newer version wrote the file or the disk refuses it.
        """
        marker = Marker(path)
        try:
            problem, is_alone = await asyncio.to_thread(_prepared, path, marker)
            database = await cls._connect(path, marker, is_alone=is_alone)
        except sqlite3.Error as error:
            raise disk_error(error, f"the database {path}") from error
        except OSError as error:
            raise unsaved(path, error, "opened") from error
        return database, problem

    @classmethod
    async def _connect(cls, path: Path, marker: Marker, *, is_alone: bool) -> "Database":
        writer = await aiosqlite.connect(path, isolation_level=None)
        try:
            if is_alone:
                await writer.execute("PRAGMA locking_mode=EXCLUSIVE")
            await writer.execute("PRAGMA synchronous=FULL")
            await writer.execute("PRAGMA busy_timeout=5000")
            await writer.execute("PRAGMA temp_store=MEMORY")
            await writer.execute(_CACHE)
            await writer.create_function("noted", 1, marker.note)
            if is_alone:
                return cls(path, writer, writer, marker)
            reader = await aiosqlite.connect(path, isolation_level=None)
        except BaseException:
            await writer.close()
            raise
        await reader.execute("PRAGMA query_only=ON")
        await reader.execute(_CACHE)
        return cls(path, writer, reader, marker)

    async def close(self) -> None:
        """Finish writing and close the file."""
        await self._reader.close()
        await self._writer.close()
        self._marker.close()

    async def write(self, statements: Sequence[Statement]) -> None:
        """All of it or nothing, on disk before this returns. Raises `SpinneyError`."""
        if not statements:
            return
        try:
            try:
                await self._transaction(statements)
            except sqlite3.Error as error:
                if not is_damage(error):
                    raise
                # The index of what was said may be to blame, and is made from the rest.
                anew = [(statement, ()) for statement in SEARCHABLE_ANEW]
                await self._transaction([*anew, *statements])
        except sqlite3.Error as error:
            raise disk_error(error, "the change") from error

    @asynccontextmanager
    async def as_if_written(self, statements: Sequence[Statement]) -> AsyncIterator[Reading]:
        """Read the file as it would be with these, which the disk has no room for.

        Nothing may be written meanwhile. Raises `sqlite3.Error`.
        """
        await self._writer.execute("PRAGMA cache_spill=OFF")
        await self._writer.execute("BEGIN IMMEDIATE")
        try:
            for statement, values in statements:
                await self._writer.execute(statement, values)
            yield Reading(self._writer)
        finally:
            await self._rolled_back()

    async def keep_and_mend(self, saved: Saved) -> str:
        """Keep a copy of the file, then write its damaged rows as they were read; tells of it."""
        try:
            aside = await asyncio.to_thread(keep_aside, self._path)
        except (sqlite3.Error, OSError) as error:
            return f"{saved.damage} No copy of it could be made ({error}), so it is left as it is."
        await self.write(saved.mended)
        return f"{saved.damage} The database as it was is kept as {aside.name}."

    async def _transaction(self, statements: Sequence[Statement]) -> None:
        try:
            await self._writer.execute("BEGIN IMMEDIATE")
            for statement, values in statements:
                await self._writer.execute(statement, values)
            rows = list(await self._writer.execute_fetchall(_COUNT_UP))
            await self._writer.execute("COMMIT")
        except BaseException:
            await self._rolled_back()
            raise
        await self._writer.execute("SELECT noted(?)", (rows[0][0],))

    async def _rolled_back(self) -> None:
        # Asked of nobody whether there is a transaction: what begins it may still be under way.
        with suppress(sqlite3.OperationalError):
            await self._writer.execute("ROLLBACK")


def _prepared(path: Path, marker: Marker) -> tuple[str | None, bool]:
    """Make the file ready; what was wrong with it, and whether one connection must do alone."""
    _refuse_unusable(path)
    try:
        try:
            return _looked_after(path, marker), False
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
            problem = rescue(path, str(error))
            _looked_after(path, marker)
            return problem, False
    except sqlite3.Error as error:
        if not _may_be_full(error, path):
            raise
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            # Without the memory beside the file, for which there is no room.
            connection.execute("PRAGMA locking_mode=EXCLUSIVE")
            check(connection)
            migrate(connection, path)
        return _FULL, True


def _refuse_unusable(path: Path) -> None:
    """Raise for a file or a folder that nothing could be saved in."""
    if path.exists() and not path.is_file():
        raise IsADirectoryError(errno.EISDIR, "it is not a file")
    if path.exists() and not os.access(path, os.R_OK | os.W_OK):
        raise SpinneyError(
            f"You may not write in {path}, so nothing could be saved. If it belongs to another"
            " user, move it away or make it yours (chown), then start again.",
            "forbidden",
        )
    if not os.access(path.parent, os.R_OK | os.W_OK | os.X_OK):
        raise SpinneyError(
            f"You may not write in {path.parent}, so nothing could be saved. Change its permissions"
            " and start again.",
            "forbidden",
        )


def _looked_after(path: Path, marker: Marker) -> str | None:
    """Check and migrate the file; a sentence where it holds less than was written."""
    with legible(), closing(sqlite3.connect(path, isolation_level=None)) as connection:
        with suppress(PermissionError):  # another user's, who shares it
            path.chmod(PRIVATE_FILE)
        connection.execute("PRAGMA journal_mode=WAL")
        check(connection)
        migrate(connection, path)
        try:
            connection.execute("SELECT rowid FROM words LIMIT 1").fetchall()
        except sqlite3.DatabaseError:
            make_searchable(connection)
        written, expected = written_count(connection), marker.read()
        (known,) = connection.execute("SELECT count(*) FROM documents").fetchone()
    if written >= expected:
        return None
    marker.note(written)
    return _lost(path, written, expected, is_empty=not known)


def _lost(path: Path, written: int, expected: int, *, is_empty: bool) -> str:
    if is_empty:
        what = f"The database {path} was gone or empty, so this is a new one."
    else:
        what = (
            f"The database {path} is older than what was saved last: {expected - written:,} of"
            f" {expected:,} changes are not in it."
        )
    for backup in backups_of(path):
        if count_in(backup.path) > written:
            return (
                f"{what} There is a backup of {backup.when}. To go back to it, end Spinney, then"
                f" run: spinney doctor --restore {backup.path.name}"
            )
    return f"{what} There is no backup that holds more."


def _may_be_full(error: sqlite3.Error, path: Path) -> bool:
    """Whether a full disk is behind it, for which SQLite has several words."""
    return is_full(error) or shutil.disk_usage(path.parent).free < _LITTLE
