"""Database backups: one a day while Spinney runs, and the copies kept of damaged databases.

`backups/spinney-<date>-<time>.db` in the data directory, for this user only.
"""

import asyncio
import logging
import os
import re
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.paths import PRIVATE_FILE, create_private_directory, free_name_aside, unsaved
from model.store.sqlite_errors import decode_errors_as_damage, disk_error

MAX_BACKUPS: Final = 7
"""Backups that are kept."""
MAX_TOTAL_SIZE: Final = 2 * 1024**3
"""Bytes of all backups; if they are larger, fewer are kept, but at least two."""
INTERVAL: Final = 86400.0
"""Seconds between two backups."""
_CHECK_INTERVAL: Final = 3600.0
_FIRST_CHECK: Final = 30.0
_MIN_FREE: Final = 64 * 1024**2
"""Bytes that a backup leaves free on the disk."""
_NAME: Final = re.compile(r"spinney-\d{8}-\d{6}\.db")
_COMMIT_COUNT: Final = (
    "SELECT CAST(body AS INTEGER) FROM documents WHERE kind = 'written' AND id = ''"
)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Backup:
    """A copy of the database."""

    path: Path
    at: float
    """Time of the copied state, in seconds since 1970."""

    @property
    def when(self) -> str:
        """The backup's time, formatted for display."""
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(self.at))


def list_backups(database: Path) -> list[Backup]:
    """Return the backups, newest first."""
    backups = []
    for path in _folder(database).glob("spinney-*.db"):
        if _NAME.fullmatch(path.name) and path.is_file():
            backups.append(Backup(path, path.stat().st_mtime))
    return sorted(backups, key=lambda backup: (backup.at, backup.path.name), reverse=True)


def list_kept_copies(database: Path) -> list[Path]:
    """Return the copies kept of damaged or replaced databases, oldest first."""
    copies = database.parent.glob(f"{database.name}.broken-*")
    return sorted(path for path in copies if not path.name.endswith(("-wal", "-shm")))


def read_commit_count(connection: sqlite3.Connection) -> int:
    """Return how many transactions a database counts as written to it."""
    row = connection.execute(_COMMIT_COUNT).fetchone()
    return row[0] if row and isinstance(row[0], int) else 0


def count_unreadable_rows(connection: sqlite3.Connection) -> int:
    """Return how many rows of a database have an unreadable body."""
    tables = ("documents", "messages", "blocks")
    counts = (f"(SELECT count(*) FROM {table} WHERE NOT json_valid(body))" for table in tables)
    (count,) = connection.execute(f"SELECT {' + '.join(counts)}").fetchone()
    return int(count)


def read_file_commit_count(path: Path) -> int:
    """Return the count of a file that is not being written; 0 if it cannot be read."""
    try:
        with read_only(path) as connection:
            return read_commit_count(connection)
    except sqlite3.Error:
        return 0


@contextmanager
def read_only(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a read-only connection. Raises `sqlite3.Error`."""
    uri = path.absolute().as_uri()
    # A cleanly closed database has no side files, and reading must not create any.
    is_closed = not path.with_name(f"{path.name}-wal").exists()
    mode = "mode=ro&immutable=1" if is_closed else "mode=ro"
    with (
        decode_errors_as_damage(),
        closing(sqlite3.connect(f"{uri}?{mode}", uri=True)) as connection,
    ):
        yield connection


def copy_database(database: Path, destination: Path) -> None:
    """Copy the file in its current state, even while it is being written. The copy is atomic.

    Raises `sqlite3.Error` and `OSError`.
    """
    temporary = destination.with_name(f".{destination.name}.tmp")
    temporary.unlink(missing_ok=True)
    os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE_FILE))
    try:
        # Page by page and not by VACUUM, which would renumber the rows of messages.
        with read_only(database) as source, closing(sqlite3.connect(temporary)) as target:
            source.backup(target)
        temporary.replace(destination)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def keep_copy(database: Path) -> Path:
    """Copy the database to a free name beside it. Raises `sqlite3.Error` and `OSError`."""
    copy = free_name_aside(database)
    copy_database(database, copy)
    return copy


def back_up(database: Path, now: float) -> Path:
    """Make a backup and remove the oldest. Raises `SpinneyError` if that fails or it is damaged.

    The backup with the most transactions is kept longer, so that an empty database that replaced a
    lost one cannot push it out.
    """
    backup = copy_to_backups(database, now)
    try:
        with read_only(backup) as connection:
            (result,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    except sqlite3.Error as error:
        result = error
    if result != "ok":
        backup.unlink(missing_ok=True)
        raise SpinneyError(
            f"The database {database} is damaged ({str(result)[:200]}). Earlier backups are"
            " kept. Quit Spinney, then run: spinney doctor --repair"
        )
    _remove_oldest(database)
    return backup


def copy_to_backups(database: Path, now: float) -> Path:
    """Copy the database to the backups folder unchanged. Raises `SpinneyError`."""
    folder = _folder(database)
    create_private_directory(folder)
    for stale in folder.glob(".spinney-*.tmp"):
        stale.unlink(missing_ok=True)
    if shutil.disk_usage(folder).free < database.stat().st_size + _MIN_FREE:
        raise SpinneyError(f"Not enough disk space for a backup of {database}. Free some space.")
    backup = folder / time.strftime("spinney-%Y%m%d-%H%M%S.db", time.localtime(now))
    try:
        copy_database(database, backup)
        os.utime(backup, (now, now))
    except OSError as error:
        raise unsaved(backup, error, "saved") from error
    except sqlite3.Error as error:
        raise disk_error(error, f"a backup of {database}") from error
    return backup


class DailyBackups:
    """Makes a backup a day in the background; `notify` is called with error messages."""

    def __init__(self, database: Path, notify: Callable[[str], None]) -> None:
        self._database = database
        self._notify = notify
        self._reported: set[str] = set()
        self._has_checked = False
        """Whether damaged rows have been counted since startup."""

    async def run(self) -> None:
        """Check every hour until cancelled."""
        await asyncio.sleep(_FIRST_CHECK)
        while True:
            await self.check(time.time())
            await asyncio.sleep(_CHECK_INTERVAL)

    async def check(self, now: float) -> None:
        """Make a backup if the newest is a day old and something has been written since.

        Damaged rows are counted and reported after each backup and on the first check.
        """
        try:
            await asyncio.to_thread(self._check, now)
        except SpinneyError as error:
            _log.warning("daily backup: %s", error.message)
            if error.message not in self._reported:
                self._reported.add(error.message)
                self._notify(error.message)

    def _check(self, now: float) -> None:
        if self._is_due(now):
            back_up(self._database, now)
        elif self._has_checked:
            return
        self._has_checked = True
        try:
            with read_only(self._database) as connection:
                count = count_unreadable_rows(connection)
        except sqlite3.Error as error:
            raise disk_error(error, f"the database {self._database}") from error
        if count:
            raise SpinneyError(
                f"Parts of the database {self._database} are damaged ({count}) and are shown as"
                " unreadable. An earlier backup may contain them: quit Spinney, then run:"
                " spinney doctor --repair"
            )

    def _is_due(self, now: float) -> bool:
        """Whether the newest backup is a day old and something has been written since."""
        newest = next(iter(list_backups(self._database)), None)
        # A backup from the future was made before the clock was corrected.
        if newest is None or not -INTERVAL < now - newest.at < INTERVAL:
            if newest is None or read_file_commit_count(newest.path) != read_file_commit_count(
                self._database
            ):
                return True
            os.utime(newest.path, (now, now))
        return False


def _folder(database: Path) -> Path:
    return database.parent / "backups"


def _remove_oldest(database: Path) -> None:
    backups = list_backups(database)
    fullest = max(backups, key=lambda backup: (read_file_commit_count(backup.path), backup.at))
    size = 0
    for number, backup in enumerate(backups):
        size += backup.path.stat().st_size
        if (number >= MAX_BACKUPS or (number > 1 and size > MAX_TOTAL_SIZE)) and backup != fullest:
            backup.path.unlink(missing_ok=True)
