"""Rebuilds a damaged database: copies everything readable in it, and in backups, to a new file."""

import os
import shutil
import sqlite3
import struct
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

from model.base.paths import PRIVATE_FILE, find_backup_path
from model.base.plural import count
from model.store.backups import Backup, list_backups
from model.store.damaged_rows import find_traces, read_block, read_message, to_text
from model.store.schema import COLUMNS, migrate, rebuild_search_index, rebuild_sums
from model.store.sqlite_errors import decode_errors_as_damage, is_damage

_KEYS: Final = {
    "documents": ("kind", "id"),
    "messages": ("id",),
    "blocks": ("message_id", "place"),
}
"""The keys of the tables whose rows have a `body`."""
_HEADER: Final = 100
"""Bytes of a database file's header."""

_STORAGE_ORDERS: Final = {
    "documents": "kind {0}, id {0}",
    "messages": "rowid {0}",
    "blocks": "message_id {0}, place {0}",
    "turn_usage": "rowid {0}",
}
"""The order of a table's rows in the file: read from both ends, only the damaged part is lost."""

_NEWEST_TABLE: Final = "turn_usage"
"""A file of an older version does not have it, and nothing of it is missing then."""

_ORPHANS: Final = (
    "INSERT OR IGNORE INTO documents SELECT DISTINCT 'session', session_id, '' FROM messages"
)
"""Creates the session of each message whose session is lost; it is shown as unreadable."""

_STILL_REFERENCED: Final = {
    "documents": "",
    "messages": " WHERE session_id IN (SELECT id FROM main.documents WHERE kind = 'session')",
    "blocks": " WHERE message_id IN (SELECT id FROM main.messages)",
    "turn_usage": "",  # what deleted sessions used stays
}
"""Selects the rows of a backup whose parent still exists: what was deleted since stays deleted."""


def rescue(path: Path, reason: str) -> str:
    """Replace a damaged database with a rebuilt one, keeping the original; return a message.

    Raises `OSError` and `sqlite3.Error` if the disk has no space; nothing is changed then.
    """
    rebuilt = path.with_name(f".{path.name}.rescued")
    result = salvage_into(rebuilt, path)
    kept_copy = replace_database(rebuilt, path)
    note = f" The original was kept as {kept_copy.name}." if kept_copy else ""
    return f"The database was damaged ({reason}).{note} {result}"


def salvage_into(rebuilt: Path, path: Path) -> str:
    """Create a new database from everything readable in a damaged one; return a message."""
    _remove(rebuilt)
    try:
        with closing(create_database(rebuilt)) as target:
            is_complete = [_copy_table(path, target, table) for table in COLUMNS]
            if not any(_count(target, table) for table in COLUMNS):
                _copy_with_new_header(path, target, rebuilt)
            backup = _fill_from_backups(target, path, all(is_complete))
            if not is_complete[0]:
                target.execute(_ORPHANS)
            _repair_conversations(target)
            rebuild_search_index(target)
            rebuild_sums(target)
            return _summarize(target, backup)
    except BaseException:
        _remove(rebuilt)
        raise


def replace_database(new: Path, path: Path) -> Path | None:
    """Make `new` the database; return the name under which the old one and its journal are kept."""
    if not path.exists():
        new.replace(path)
        return None
    old = find_backup_path(path)
    try:
        os.link(path, old)
    except OSError:
        shutil.copy2(path, old)
    # Side files of the old database must be gone first, or SQLite would apply them to the new one.
    path.with_name(f"{path.name}-shm").unlink(missing_ok=True)
    journal = path.with_name(f"{path.name}-wal")
    if journal.exists() and journal.stat().st_size:
        journal.replace(old.with_name(f"{old.name}-wal"))
    journal.unlink(missing_ok=True)
    new.replace(path)
    return old


def create_database(path: Path) -> sqlite3.Connection:
    """Create a complete, empty database."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE_FILE))
    connection = sqlite3.connect(path, isolation_level=None, uri=True)
    connection.execute("PRAGMA synchronous=FULL")
    migrate(connection, path)
    return connection


def _remove(path: Path) -> None:
    for side in ("", "-journal", "-wal", "-shm"):
        path.with_name(path.name + side).unlink(missing_ok=True)


def _copy_table(path: Path, target: sqlite3.Connection, table: str) -> bool:
    """Copy the readable rows of a table; return whether that was all of them."""
    columns = ", ".join(COLUMNS[table])
    marks = ", ".join("?" * len(COLUMNS[table]))
    for order in ("ASC", "DESC"):
        query = f"SELECT {columns} FROM {table} ORDER BY {_STORAGE_ORDERS[table]}"
        rows = _read_rows(path, table, query, order)
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


def _copy_with_new_header(path: Path, target: sqlite3.Connection, rebuilt: Path) -> None:
    """Read a file with the header of another: if only its own is damaged, the rest is intact."""
    patched = path.with_name(f".{path.name}.patched")
    try:
        shutil.copyfile(path, patched)
        header = bytearray(rebuilt.read_bytes()[:_HEADER])
        pages = patched.stat().st_size // int.from_bytes(header[16:18], "big")
        header[28:40] = struct.pack(">III", pages, 0, 0)  # the size, and no free pages
        with patched.open("r+b") as file:
            file.write(header)
        for table in COLUMNS:
            _copy_table(patched, target, table)
    finally:
        _remove(patched)


class _UnreadableError(Exception):
    """The rest of a table cannot be read."""


def _has_table(connection: sqlite3.Connection, schema: str, table: str) -> bool:
    query = f"SELECT count(*) FROM {schema}.sqlite_master WHERE name = ?"
    (number,) = connection.execute(query, (table,)).fetchone()
    return bool(number)


def _read_rows(path: Path, table: str, query: str, order: str) -> Iterator[tuple[object, ...]]:
    try:
        address = f"{path.absolute().as_uri()}?mode=ro"
        with decode_errors_as_damage(), closing(sqlite3.connect(address, uri=True)) as source:
            source.text_factory = bytes
            source.execute("PRAGMA writable_schema=ON")  # A damaged table must not hide others.
            if table == _NEWEST_TABLE and not _has_table(source, "main", table):
                return
            for row in source.execute(query.format(order)):
                yield tuple(to_text(cell) if isinstance(cell, bytes) else cell for cell in row)
    except sqlite3.DatabaseError as error:
        raise _UnreadableError from error


def _fill_from_backups(target: sqlite3.Connection, path: Path, is_complete: bool) -> Backup | None:
    """Restore damaged rows from the newest backup that has them, and missing ones from the newest.

    Returns the first backup that contributed something.
    """
    used, restores_missing = None, not is_complete
    for backup in list_backups(path):
        try:
            has_changed = _fill_from(target, backup, restores_missing=restores_missing)
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
            continue  # the backup itself is damaged
        restores_missing = False
        if has_changed and used is None:
            used = backup
    return used


def _fill_from(target: sqlite3.Connection, backup: Backup, *, restores_missing: bool) -> bool:
    address = f"{backup.path.absolute().as_uri()}?mode=ro&immutable=1"
    before = target.total_changes
    target.execute("ATTACH ? AS backup", (address,))
    target.execute("BEGIN")
    try:
        for table, keys in _KEYS.items():
            same_key = " AND ".join(f"{table}.{key} = old.{key}" for key in keys)
            target.execute(
                f"UPDATE {table} SET body = old.body FROM backup.{table} AS old WHERE {same_key}"
                f" AND NOT json_valid({table}.body) AND json_valid(old.body)"
            )
        for table in COLUMNS if restores_missing else ():
            if not _has_table(target, "backup", table):
                continue  # written by an older version
            columns = ", ".join(COLUMNS[table])
            target.execute(
                f"INSERT OR IGNORE INTO {table} ({columns})"
                f" SELECT {columns} FROM backup.{table}{_STILL_REFERENCED[table]}"
            )
        target.execute("COMMIT")
        return target.total_changes > before
    except BaseException:
        target.execute("ROLLBACK")
        raise
    finally:
        target.execute("DETACH backup")


def _repair_conversations(target: sqlite3.Connection) -> None:
    """Replace the rest of the damaged messages and blocks with what is readable of them."""
    damaged = target.execute(
        "SELECT message_id, place, body FROM blocks WHERE NOT json_valid(body)"
    ).fetchall()
    for message_id, index, body in damaged:
        target.execute(
            "UPDATE blocks SET body = ? WHERE message_id = ? AND place = ?",
            (read_block(body).model_dump_json(), message_id, index),
        )
    damaged = target.execute(
        "SELECT id, session_id, body FROM messages WHERE NOT json_valid(body)"
    ).fetchall()
    traces = find_traces([key for key, *_ in damaged], target)
    for key, session_id, body in damaged:
        message = read_message(key, session_id, body, (), traces.get(key))
        target.execute(
            "UPDATE messages SET body = ? WHERE id = ?",
            (message.model_dump_json(exclude={"content"}), key),
        )
        target.execute(
            "INSERT INTO blocks SELECT ?1, coalesce(max(place), -1) + 1, ?2 FROM blocks"
            " WHERE message_id = ?1",
            (key, message.content[-1].model_dump_json()),
        )


def _summarize(target: sqlite3.Connection, backup: Backup | None) -> str:
    counts = {
        kind: _count(target, "documents", kind) for kind in ("project", "worktree", "session")
    }
    counts["message"] = _count(target, "messages")
    counted = [count(number, kind) for kind, number in counts.items()]
    if not any(_count(target, table) for table in COLUMNS):
        return (
            "None of it could be read, so this is a new, empty one. Add your projects again; their"
            " files and branches are unchanged."
        )
    summary = f"Recovered {', '.join(counted[:-1])} and {counted[-1]}."
    if backup is not None:
        summary += f" The rest was restored from the backup of {backup.when}."
    return summary


def _count(target: sqlite3.Connection, table: str, kind: str | None = None) -> int:
    query = f"SELECT count(*) FROM {table}" + (" WHERE kind = ?" if kind else "")
    (number,) = target.execute(query, (kind,) if kind else ()).fetchone()
    return int(number)
