"""What SQLite refuses, in sentences: a damaged file, a full disk, a file that may not be used."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from model.base.errors import SpinneyError

_OF_THE_MACHINE: Final = {
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
"""Codes that tell nothing of what is in the file."""


@contextmanager
def legible() -> Iterator[None]:
    """Damaged bytes in SQLite's own words are damage like any other: `sqlite3.DatabaseError`."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise sqlite3.DatabaseError("its tables are unreadable") from error


def is_damage(error: sqlite3.Error) -> bool:
    """Whether the file is to blame, and not the disk or who may use it."""
    code: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
    return isinstance(error, sqlite3.DatabaseError) and code & 0xFF not in _OF_THE_MACHINE


def is_full(error: BaseException) -> bool:
    """Whether there is no room on the disk."""
    return "full" in str(error) or getattr(error, "errno", None) == 28


def disk_error(error: Exception, what: str) -> SpinneyError:
    """The sentence for a failed write of `what`."""
    if is_full(error):
        return SpinneyError(
            f"The disk is full: {what} could not be saved. Free some space and try again.",
            "internal_error",
        )
    if isinstance(error, sqlite3.Error) and is_damage(error):
        return damaged(error, f"{what} could not be saved")
    return SpinneyError(
        f"{what[:1].upper()}{what[1:]} could not be saved: {error}", "internal_error"
    )


def damaged(error: Exception, what: str) -> SpinneyError:
    """The sentence for a file that turned out damaged while it was used."""
    return SpinneyError(
        f"The database is damaged ({error}): {what}. End Spinney, then run:"
        " spinney doctor --repair",
        "internal_error",
    )
