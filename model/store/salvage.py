"""A damaged database made whole: all that can be read of it, and of a backup, in a new file."""

import os
import shutil
import sqlite3
import struct
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

from model.base.paths import PRIVATE_FILE, free_name_aside
from model.store.backups import Backup, backups_of
from model.store.damaged_rows import read_block, read_message, text_of
from model.store.schema import COLUMNS, make_searchable, migrate
from model.store.sqlite_errors import is_damage, legible

_KEYS: Final = {
    "documents": ("kind", "id"),
    "messages": ("id",),
    "blocks": ("message_id", "place"),
}
_HEADER: Final = 100
"""Bytes at the begin of a file that say how to read it."""

_ORDERS: Final = {
    "documents": "kind {0}, id {0}",
    "messages": "rowid {0}",
    "blocks": "message_id {0}, place {0}",
}
"""In which a table lies in its file: read from both ends, only what is between damage is lost."""

_ORPHANS: Final = (
    "INSERT OR IGNORE INTO documents SELECT DISTINCT 'session', session_id, '' FROM messages"
)
"""Gives each message a session, which is shown as unreadable."""

_OF_WHAT_IS_THERE: Final = {
    "documents": "",
    "messages": " WHERE session_id IN (SELECT id FROM main.documents WHERE kind = 'session')",
    "blocks": " WHERE message_id IN (SELECT id FROM main.messages)",
}
"""Which rows of a backup belong to something: what was deleted since stays deleted."""


def rescue(path: Path, reason: str) -> str:
    """Put a whole database in the place of the damaged one, which is kept; tells what became of it.

    Raises `OSError` and `sqlite3.Error` where there is no room; nothing is changed then.
    """
    made = path.with_name(f".{path.name}.rescued")
    told = read_into(made, path)
    aside = put_in_place(made, path)
    kept = f" It is kept as {aside.name}." if aside else ""
    return f"The database was damaged ({reason}).{kept} {told}"


def read_into(made: Path, path: Path) -> str:
    """Make a new database of all that can be read of a damaged one; tells what that is."""
    _remove(made)
    try:
        with closing(new_file(made)) as target:
            copied = [_copied(path, target, table) for table in COLUMNS]
            if not any(_count(target, table) for table in COLUMNS):
                _copied_by_new_header(path, target, made)
            backup = _filled(target, path, all(copied))
            if not copied[0]:
                target.execute(_ORPHANS)
            _mend_conversations(target)
            make_searchable(target)
            return _told(target, backup)
    except BaseException:
        _remove(made)
        raise


def put_in_place(made: Path, path: Path) -> Path | None:
    """Make `made` the database; the name under which one from before is kept, with all of it."""
    if not path.exists():
        made.replace(path)
        return None
    aside = free_name_aside(path)
    try:
        os.link(path, aside)
    except OSError:
        shutil.copy2(path, aside)
    # What is beside it goes before the new file comes, for a part of which it would be taken.
    path.with_name(f"{path.name}-shm").unlink(missing_ok=True)
    journal = path.with_name(f"{path.name}-wal")
    if journal.exists() and journal.stat().st_size:
        journal.replace(aside.with_name(f"{aside.name}-wal"))
    journal.unlink(missing_ok=True)
    made.replace(path)
    return aside


def new_file(path: Path) -> sqlite3.Connection:
    """A new database, complete and empty."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE_FILE))
    connection = sqlite3.connect(path, isolation_level=None, uri=True)
    connection.execute("PRAGMA synchronous=FULL")
    migrate(connection, path)
    return connection


def _remove(path: Path) -> None:
    for side in ("", "-journal", "-wal", "-shm"):
        path.with_name(path.name + side).unlink(missing_ok=True)


def _copied(path: Path, target: sqlite3.Connection, table: str) -> bool:
    """Copy what can be read of a table; whether that was all."""
    columns = ", ".join(COLUMNS[table])
    marks = ", ".join("?" * len(COLUMNS[table]))
    for order in ("ASC", "DESC"):
        rows = _rows(path, f"SELECT {columns} FROM {table} ORDER BY {_ORDERS[table]}", order)
        target.execute("BEGIN")
        try:
            for row in rows:
                target.execute(f"INSERT OR IGNORE INTO {table} ({columns}) VALUES ({marks})", row)
            return True
        except _UnreadableError:
            continue
        finally:
            target.execute("COMMIT")
    return False


def _copied_by_new_header(path: Path, target: sqlite3.Connection, made: Path) -> None:
    """Read a file by the head of another: where its own is damaged, all the rest may be whole."""
    patched = path.with_name(f".{path.name}.patched")
    try:
        shutil.copyfile(path, patched)
        header = bytearray(made.read_bytes()[:_HEADER])
        pages = patched.stat().st_size // int.from_bytes(header[16:18], "big")
        header[28:40] = struct.pack(">III", pages, 0, 0)  # the size, and no free pages
        with patched.open("r+b") as file:
            file.write(header)
        for table in COLUMNS:
            _copied(patched, target, table)
    finally:
        _remove(patched)


class _UnreadableError(Exception):
    """The rest of a table cannot be read."""


def _rows(path: Path, query: str, order: str) -> Iterator[tuple[object, ...]]:
    try:
        address = f"{path.absolute().as_uri()}?mode=ro"
        with legible(), closing(sqlite3.connect(address, uri=True)) as source:
            source.text_factory = bytes
            source.execute("PRAGMA writable_schema=ON")  # A damaged table hides no other.
            for row in source.execute(query.format(order)):
                yield tuple(text_of(cell) if isinstance(cell, bytes) else cell for cell in row)
    except sqlite3.DatabaseError as error:
        raise _UnreadableError from error


def _filled(target: sqlite3.Connection, path: Path, is_whole: bool) -> Backup | None:
    """Take what is damaged from the newest backup that has it, and what is gone from the newest.

    Gives the first that something came from.
    """
    used, takes_gone = None, not is_whole
    for backup in backups_of(path):
        try:
            has_changed = _filled_from(target, backup, takes_gone=takes_gone)
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
            continue  # of the backup, that is
        takes_gone = False
        if has_changed and used is None:
            used = backup
    return used


def _filled_from(target: sqlite3.Connection, backup: Backup, *, takes_gone: bool) -> bool:
    address = f"{backup.path.absolute().as_uri()}?mode=ro&immutable=1"
    before = target.total_changes
    target.execute("ATTACH ? AS backup", (address,))
    target.execute("BEGIN")
    try:
        for table, keys in _KEYS.items():
            same = " AND ".join(f"{table}.{key} = old.{key}" for key in keys)
            target.execute(
                f"UPDATE {table} SET body = old.body FROM backup.{table} AS old WHERE {same}"
                f" AND NOT json_valid({table}.body) AND json_valid(old.body)"
            )
            if takes_gone:
                columns = ", ".join(COLUMNS[table])
                target.execute(
                    f"INSERT OR IGNORE INTO {table} ({columns})"
                    f" SELECT {columns} FROM backup.{table}{_OF_WHAT_IS_THERE[table]}"
                )
        target.execute("COMMIT")
        return target.total_changes > before
    except BaseException:
        target.execute("ROLLBACK")
        raise
    finally:
        target.execute("DETACH backup")


def _mend_conversations(target: sqlite3.Connection) -> None:
    """Write what is left of damaged messages and blocks in their place: the file is whole then."""
    damaged = target.execute(
        "SELECT message_id, place, body FROM blocks WHERE NOT json_valid(body)"
    ).fetchall()
    for message_id, place, body in damaged:
        target.execute(
            "UPDATE blocks SET body = ? WHERE message_id = ? AND place = ?",
            (read_block(body).model_dump_json(), message_id, place),
        )
    damaged = target.execute(
        "SELECT id, session_id, body FROM messages WHERE NOT json_valid(body)"
    ).fetchall()
    for key, session_id, body in damaged:
        message = read_message(key, session_id, body, ())
        target.execute(
            "UPDATE messages SET body = ? WHERE id = ?",
            (message.model_dump_json(exclude={"content"}), key),
        )


def _told(target: sqlite3.Connection, backup: Backup | None) -> str:
    numbers = {
        kind: _count(target, "documents", kind) for kind in ("project", "worktree", "session")
    }
    numbers["message"] = _count(target, "messages")
    counted = [f"{number} {kind}{'' if number == 1 else 's'}" for kind, number in numbers.items()]
    if not any(_count(target, table) for table in COLUMNS):
        return (
            "Nothing of it could be read, so this is a new, empty one; projects can be added"
            " again, their files and branches are untouched."
        )
    told = f"What could be read of it is here: {', '.join(counted[:-1])} and {counted[-1]}."
    if backup is not None:
        told += f" What could not was taken from the backup of {backup.when}."
    return told


def _count(target: sqlite3.Connection, table: str, kind: str | None = None) -> int:
    query = f"SELECT count(*) FROM {table}" + (" WHERE kind = ?" if kind else "")
    (number,) = target.execute(query, (kind,) if kind else ()).fetchone()
    return int(number)
