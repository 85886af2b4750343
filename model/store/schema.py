"""The tables of the SQLite file, how each version becomes the next, and what a whole file has."""

import sqlite3
import time
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.store.backups import copy_to_backups
from model.store.rows import INDEX_WORDS

SCHEMA_VERSION: Final = 2

_MOST_VERSIONS: Final = 1000
"""No version of Spinney writes a number like this; a damaged file may hold any."""

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
        # One place for every way in which messages go.
        "CREATE TRIGGER IF NOT EXISTS words_forgotten AFTER DELETE ON messages"
        " BEGIN DELETE FROM words WHERE rowid = old.rowid; END",
        INDEX_WORDS.format(which=""),
    ),
)
"""What leads from each version to the next; taken twice, a step changes nothing. A waiting message
has no position.
"""

_PARTS_OF_WORDS: Final = ("data", "idx", "content", "docsize", "config")

SEARCHABLE_ANEW: Final = (
    "DROP TRIGGER IF EXISTS words_forgotten",
    # A damaged one cannot be dropped as what it is; the tables that it consists of can.
    "PRAGMA writable_schema=ON",
    "DELETE FROM sqlite_master WHERE name = 'words'",
    "PRAGMA writable_schema=RESET",
    *(f"DROP TABLE IF EXISTS words_{part}" for part in _PARTS_OF_WORDS),
    *_MIGRATIONS[1],
)
"""Makes the index of what was said anew."""

COLUMNS: Final = {
    "documents": ("kind", "id", "body"),
    "messages": ("id", "session_id", "position", "body"),
    "blocks": ("message_id", "place", "body"),
}
"""What is kept; all else in the file is made from it."""


def check(connection: sqlite3.Connection) -> None:
    """Raise `sqlite3.DatabaseError` for a file whose pages or tables are damaged."""
    (told,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if told != "ok":
        raise sqlite3.DatabaseError("its check failed")
    version = _version(connection)
    if not 0 <= version < _MOST_VERSIONS:
        raise sqlite3.DatabaseError("its version is unreadable")
    if version == SCHEMA_VERSION:
        for table, columns in COLUMNS.items():
            connection.execute(f"SELECT {', '.join(columns)} FROM {table} LIMIT 1").fetchall()


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Bring the file to this version, all at once; an older file is copied to the backups first.

    Raises `SpinneyError` when a newer version wrote it; nothing is changed then.
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
    """Raise `SpinneyError` for a file that only a newer Spinney understands."""
    if _version(connection) > SCHEMA_VERSION:
        raise SpinneyError(
            f"{path} was written by a newer version of Spinney. Update Spinney to open it, or go"
            " back to a backup from before with: spinney doctor --restore",
            "internal_error",
        )


def make_searchable(connection: sqlite3.Connection) -> None:
    """Make the index of what was said anew, from the messages."""
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        for statement in SEARCHABLE_ANEW:
            connection.execute(statement)


def _version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)
