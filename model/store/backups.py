"""Copies of the database: one a day while Spinney runs, and what was kept of a damaged one.

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
from model.store.sqlite_errors import disk_error, legible

KEPT: Final = 7
"""Backups that are kept."""
KEPT_BYTES: Final = 2 * 1024**3
"""Bytes of all of them; beyond that there are fewer, and two at least."""
EVERY: Final = 86400.0
"""Seconds between two."""
_LOOK: Final = 3600.0
_FIRST_LOOK: Final = 30.0
_SPARE: Final = 64 * 1024**2
"""Bytes that a backup leaves free on the disk."""
_NAME: Final = re.compile(r"spinney-\d{8}-\d{6}\.db")
_COUNT: Final = "SELECT CAST(body AS INTEGER) FROM documents WHERE kind = 'written' AND id = ''"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Backup:
    """A copy of the database."""

    path: Path
    at: float
    """When the database was like this, in seconds since 1970."""

    @property
    def when(self) -> str:
        """Its time, for people."""
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(self.at))


def backups_of(database: Path) -> list[Backup]:
    """The backups, newest first."""
    found = []
    for path in _folder(database).glob("spinney-*.db"):
        if _NAME.fullmatch(path.name) and path.is_file():
            found.append(Backup(path, path.stat().st_mtime))
    return sorted(found, key=lambda backup: (backup.at, backup.path.name), reverse=True)


def kept_aside(database: Path) -> list[Path]:
    """What was kept of damaged or replaced databases, oldest first."""
    beside = database.parent.glob(f"{database.name}.broken-*")
    return sorted(path for path in beside if not path.name.endswith(("-wal", "-shm")))


def written_count(connection: sqlite3.Connection) -> int:
    """How many transactions have been written to a database, as it says itself."""
    row = connection.execute(_COUNT).fetchone()
    return row[0] if row and isinstance(row[0], int) else 0


def unreadable_parts(connection: sqlite3.Connection) -> int:
    """How many rows of a database hold what cannot be read."""
    tables = ("documents", "messages", "blocks")
    counts = (f"(SELECT count(*) FROM {table} WHERE NOT json_valid(body))" for table in tables)
    (number,) = connection.execute(f"SELECT {' + '.join(counts)}").fetchone()
    return int(number)


def count_in(path: Path) -> int:
    """The same, of a file that nobody writes; 0 where it cannot be read."""
    try:
        with read_only(path) as connection:
            return written_count(connection)
    except sqlite3.Error:
        return 0


@contextmanager
def read_only(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that changes nothing. Raises `sqlite3.Error`."""
    address = path.absolute().as_uri()
    # What was closed in order has no files beside it, and none must appear by being read.
    alone = not path.with_name(f"{path.name}-wal").exists()
    how = "mode=ro&immutable=1" if alone else "mode=ro"
    with legible(), closing(sqlite3.connect(f"{address}?{how}", uri=True)) as connection:
        yield connection


def copy_database(database: Path, to: Path) -> None:
    """Copy the file as it is now, also while others write it; `to` is there whole or not at all.

    Raises `sqlite3.Error` and `OSError`.
    """
    beside = to.with_name(f".{to.name}.tmp")
    beside.unlink(missing_ok=True)
    os.close(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE_FILE))
    try:
        # Page by page and not by VACUUM, which would number the rows of messages anew.
        with read_only(database) as source, closing(sqlite3.connect(beside)) as target:
            source.backup(target)
        beside.replace(to)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def keep_aside(database: Path) -> Path:
    """A copy of the database as it is, beside it. Raises `sqlite3.Error` and `OSError`."""
    aside = free_name_aside(database)
    copy_database(database, aside)
    return aside


def back_up(database: Path, now: float) -> Path:
    """Make a backup; the oldest go. Raises `SpinneyError` where it cannot be made, or is damaged.

    The one that holds most is kept longer, so that a database that was lost cannot push it out.
    """
    made = copy_to_backups(database, now)
    try:
        with read_only(made) as connection:
            (told,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    except sqlite3.Error as error:
        told = error
    if told != "ok":
        made.unlink(missing_ok=True)
        raise SpinneyError(
            f"The database {database} is damaged ({str(told)[:200]}). The backups from before are"
            " kept. End Spinney, then run: spinney doctor --repair"
        )
    _make_room(database)
    return made


def copy_to_backups(database: Path, now: float) -> Path:
    """Copy the database among the backups, as it is. Raises `SpinneyError`."""
    folder = _folder(database)
    create_private_directory(folder)
    for stale in folder.glob(".spinney-*.tmp"):
        stale.unlink(missing_ok=True)
    if shutil.disk_usage(folder).free < database.stat().st_size + _SPARE:
        raise SpinneyError(f"There is no room on the disk for a backup of {database}.")
    made = folder / time.strftime("spinney-%Y%m%d-%H%M%S.db", time.localtime(now))
    try:
        copy_database(database, made)
        os.utime(made, (now, now))
    except OSError as error:
        raise unsaved(made, error, "saved") from error
    except sqlite3.Error as error:
        raise disk_error(error, f"a backup of {database}") from error
    return made


class DailyBackups:
    """Makes a backup a day, beside the program's other work; `tell` is given what goes wrong."""

    def __init__(self, database: Path, tell: Callable[[str], None]) -> None:
        self._database = database
        self._tell = tell
        self._told: set[str] = set()
        self._has_looked = False
        """Whether what is damaged was counted since the start."""

    async def run(self) -> None:
        """Look every hour until cancelled."""
        await asyncio.sleep(_FIRST_LOOK)
        while True:
            await self.look(time.time())
            await asyncio.sleep(_LOOK)

    async def look(self, now: float) -> None:
        """Make a backup if the newest is a day old and something has been written since.

        Then, and at the first look, what is damaged is counted and told of.
        """
        try:
            await asyncio.to_thread(self._look, now)
        except SpinneyError as error:
            _log.warning("the backup of the day: %s", error.message)
            if error.message not in self._told:
                self._told.add(error.message)
                self._tell(error.message)

    def _look(self, now: float) -> None:
        if self._is_due(now):
            back_up(self._database, now)
        elif self._has_looked:
            return
        self._has_looked = True
        try:
            with read_only(self._database) as connection:
                number = unreadable_parts(connection)
        except sqlite3.Error as error:
            raise disk_error(error, f"the database {self._database}") from error
        if number:
            raise SpinneyError(
                f"Parts of the database {self._database} are damaged ({number}) and stand as"
                " unreadable in their places. A backup from before may have them: end Spinney, then"
                " run: spinney doctor --repair"
            )

    def _is_due(self, now: float) -> bool:
        """Whether the newest backup is a day old, and something has been written since."""
        newest = next(iter(backups_of(self._database)), None)
        # A backup of the future is one from before the clock was set.
        if newest is None or not -EVERY < now - newest.at < EVERY:
            if newest is None or count_in(newest.path) != count_in(self._database):
                return True
            os.utime(newest.path, (now, now))
        return False


def _folder(database: Path) -> Path:
    return database.parent / "backups"


def _make_room(database: Path) -> None:
    found = backups_of(database)
    most = max(found, key=lambda backup: (count_in(backup.path), backup.at))
    size = 0
    for number, backup in enumerate(found):
        size += backup.path.stat().st_size
        if (number >= KEPT or (number > 1 and size > KEPT_BYTES)) and backup != most:
            backup.path.unlink(missing_ok=True)
