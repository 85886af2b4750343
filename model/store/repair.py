"""`spinney doctor --repair` and `--restore`: the database mended while no Spinney runs on it."""

import shutil
import sqlite3
from pathlib import Path

from model.base.errors import SpinneyError
from model.base.instance import hold_lock
from model.base.paths import PRIVATE_FILE, Directories, unsaved
from model.store.backups import Backup, backups_of, read_only, unreadable_parts
from model.store.commit_marker import Marker
from model.store.salvage import put_in_place, rescue
from model.store.schema import check, refuse_newer
from model.store.sqlite_errors import disk_error, is_damage


def mend(places: Directories, *, repair: bool, restore: str | None) -> str:
    """Do what is asked for, and tell what was done; nothing where nothing is asked for."""
    if repair:
        return repaired(places)
    return "" if restore is None else restored(places, restore)


def repaired(places: Directories) -> str:
    """Make a damaged database whole again, of itself and the newest backup; tells what was done.

    What it was is kept beside it. Raises `SpinneyError`, also while a Spinney runs here.
    """
    path = places.database
    if not path.is_file():
        raise SpinneyError(f"There is no database to repair: {path} does not exist.", "not_found")
    with hold_lock(places.lock):
        try:
            damage = found_damage(path)
            if not damage:
                return f"{path} is in order. Nothing was changed."
            return rescue(path, damage)
        except OSError as error:
            raise unsaved(path, error, "repaired") from error
        except sqlite3.Error as error:
            raise disk_error(error, f"the repaired {path}") from error


def restored(places: Directories, name: str) -> str:
    """Put the backup of this name (the newest for none) in the place of the database.

    That is kept. Tells what was done. Raises `SpinneyError`, also while a Spinney runs here.
    """
    path = places.database
    backup = _backup_named(path, name)
    with hold_lock(places.lock):
        made = path.with_name(f".{path.name}.restored")
        try:
            made.unlink(missing_ok=True)
            shutil.copyfile(backup.path, made)
            made.chmod(PRIVATE_FILE)
            aside = put_in_place(made, path)
        except OSError as error:
            raise unsaved(path, error, "restored") from error
        Marker(path).forget()
    told = f"The backup of {backup.when} is the database now."
    if aside is None:
        return told
    return f"{told} The one before is kept as {aside.name}; delete it when you miss nothing."


def found_damage(path: Path) -> str:
    """What is damaged in a database, in a few words; empty for one that is in order.

    Raises `SpinneyError` for one of a newer version, and `sqlite3.Error` where it cannot be looked
    at.
    """
    try:
        with read_only(path) as connection:
            check(connection)
            refuse_newer(connection, path)
            # More than a start has time for: the order of indexes, too.
            (told,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
            if told != "ok":
                return str(told)
            number = unreadable_parts(connection)
    except sqlite3.Error as error:
        if not is_damage(error):
            raise
        return str(error)
    return f"{number} of its parts cannot be read" if number else ""


def _backup_named(path: Path, name: str) -> Backup:
    found = backups_of(path)
    chosen = [b for b in found if name in ("", b.path.name, str(b.path))]
    if chosen:
        return chosen[0]
    if not found:
        raise SpinneyError(f"There is no backup in {path.parent / 'backups'} yet.", "not_found")
    there = ", ".join(backup.path.name for backup in found)
    raise SpinneyError(f"There is no backup named {name}. There are: {there}", "not_found")
