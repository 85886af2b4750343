"""The tables of the SQLite file, the migrations between versions, and integrity checks."""

import sqlite3
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.store.backups import copy_to_backups
from model.store.rows import INDEX_WORDS
from model.store.usage_rows import REBUILD_DAILY_USAGE, TURN_COLUMNS, USAGE_TABLES

SCHEMA_VERSION: Final = 3

_MAX_VERSION: Final = 1000
"""An upper limit for version numbers; a damaged file may contain any number."""

_MIGRATIONS: Final[tuple[tuple[str, ...], ...]] = (
    (
        "CREATE TABLE IF NOT EXISTS documents (kind TEXT, id TEXT, body TEXT NOT NULL,"
        " PRIMARY KEY (kind, id)) WITHOUT ROWID",
        "CREATE TABLE IF NOT EXISTS messages (id TEXT PRIMARY KEY, session_id TEXT NOT NULL,"
        " position INTEGER, body TEXT NOT NULL)",
        "CREATE INDEX IF NOT EXISTS messages_by_position ON messages (session_id, position)",
        "CREATE TABLE IF NOT EXISTS blocks (message_id TEXT, place INTEGER, body TEXT NOT NULL,"
        " PRIMARY KEY (message_id, place)) WITHOUT ROWID",
    ),
    (
        "CREATE VIRTUAL TABLE IF NOT EXISTS words"
        " USING fts5 (text, tokenize='unicode61 remove_diacritics 2')",
        # A trigger covers all code paths that delete messages.
        "CREATE TRIGGER IF NOT EXISTS words_forgotten AFTER DELETE ON messages"
        " BEGIN DELETE FROM words WHERE rowid = old.rowid; END",
        INDEX_WORDS.format(which=""),
    ),
    USAGE_TABLES,
)
"""The statements that upgrade from each version to the next; running a step twice is harmless. A
queued message has no position.
"""

_INDEX_TABLES: Final = ("data", "idx", "content", "docsize", "config")

REBUILD_SEARCH_INDEX: Final = (
    "DROP TRIGGER IF EXISTS words_forgotten",
    # A damaged virtual table cannot be dropped as such, but its underlying tables can.
    "PRAGMA writable_schema=ON",
    "DELETE FROM sqlite_master WHERE name = 'words'",
    "PRAGMA writable_schema=RESET",
    *(f"DROP TABLE IF EXISTS words_{part}" for part in _INDEX_TABLES),
    *_MIGRATIONS[1],
)
"""Rebuilds the full-text index of messages."""

COLUMNS: Final = {
    "documents": ("kind", "id", "body"),
    "messages": ("id", "session_id", "position", "body"),
    "blocks": ("message_id", "place", "body"),
    "turn_usage": TURN_COLUMNS,
}
"""The tables that hold data; everything else in the file is derived from them."""


def check_integrity(connection: sqlite3.Connection) -> None:
    """Raise `sqlite3.DatabaseError` if the file's pages or tables are damaged."""
    (result,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if result != "ok":
        raise sqlite3.DatabaseError("integrity check failed")
    version = _version(connection)
    if not 0 <= version < _MAX_VERSION:
        raise sqlite3.DatabaseError("invalid schema version")
    if version == SCHEMA_VERSION:
        for table, columns in COLUMNS.items():
            connection.execute(f"SELECT {', '.join(columns)} FROM {table} LIMIT 1").fetchall()


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Migrate the file to this version in one transaction, after a backup of an older file.

    Raises `SpinneyError` if a newer version wrote the file; nothing is changed then.
    """
    refuse_newer(connection, path)
    version = _version(connection)
    if version == SCHEMA_VERSION:
        return
    if version:
        copy_to_backups(path, time.time())
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        for step in _MIGRATIONS[version:]:
            for statement in step:
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")


def refuse_newer(connection: sqlite3.Connection, path: Path) -> None:
    """Raise `SpinneyError` if the file was written by a newer version of Spinney."""
    if _version(connection) > SCHEMA_VERSION:
        raise SpinneyError(
            f"{path} was written by a newer version of Spinney. Update Spinney to open it, or"
            " restore an earlier backup with: spinney doctor --restore",
            "internal_error",
        )


def rebuild_search_index(connection: sqlite3.Connection) -> None:
    """Rebuild the full-text index from the messages."""
    _run(connection, REBUILD_SEARCH_INDEX)


def rebuild_sums(connection: sqlite3.Connection) -> None:
    """Rebuild the sums of what turns used from the turns."""
    _run(connection, REBUILD_DAILY_USAGE)


def _run(connection: sqlite3.Connection, statements: Iterable[str]) -> None:
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        for statement in statements:
            connection.execute(statement)


def _version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)
