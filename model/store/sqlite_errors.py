"""Converts SQLite errors to messages: a damaged file, a full disk, missing permissions."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from model.base.errors import SpinneyError

_ENVIRONMENT_CODES: Final = {
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_INTERRUPT,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_AUTH,
}
"""Error codes that say nothing about the content of the file."""


@contextmanager
def decode_errors_as_damage() -> Iterator[None]:
    """Convert decoding errors in SQLite's own texts to `sqlite3.DatabaseError`: both are damage."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise sqlite3.DatabaseError("unreadable table definitions") from error


def is_damage(error: sqlite3.Error) -> bool:
    """Whether the file is damaged, as opposed to a problem of the disk or of permissions."""
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
    return isinstance(error, sqlite3.DatabaseError) and code & 0xFF not in _ENVIRONMENT_CODES


def is_full(error: BaseException) -> bool:
    """Whether the disk is full."""
    return "full" in str(error) or getattr(error, "errno", None) == 28


def disk_error(error: Exception, subject: str) -> SpinneyError:
    """Return the error for a failed write of `what`."""
    if is_full(error):
        return SpinneyError(
            f"The disk is full: {subject} could not be saved. Free some space and try again.",
            "internal_error",
        )
    if isinstance(error, sqlite3.Error) and is_damage(error):
        return damage_error(error, f"{subject} could not be saved")
    return SpinneyError(
        f"{subject[:1].upper()}{subject[1:]} could not be saved: {error}", "internal_error"
    )


def damage_error(error: Exception, effect: str) -> SpinneyError:
    """Return the error for a database that proved damaged while in use."""
    return SpinneyError(
        f"The database is damaged ({error}): {effect}. Quit Spinney, then run:"
        " spinney doctor --repair",
        "internal_error",
    )
