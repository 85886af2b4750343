"""`spinney doctor --repair` and `--restore`: repairs the database while Spinney is not running."""

import shutil
import sqlite3
from pathlib import Path

from model.base.errors import SpinneyError
from model.base.instance import hold_lock
from model.base.paths import PRIVATE_FILE, Directories, file_error
from model.base.plural import count
from model.store.backups import Backup, count_unreadable_rows, list_backups, open_read_only
from model.store.commit_marker import CommitMarker
from model.store.salvage import replace_database, rescue
from model.store.schema import check_integrity, refuse_newer
from model.store.sqlite_errors import disk_error, is_damage


def repair_or_restore(directories: Directories, *, repair: bool, restore: str | None) -> str:
    """Run the requested operation and return a message; empty if none was requested."""
    if repair:
        return repair_database(directories)
    return "" if restore is None else restore_backup(directories, restore)


def repair_database(directories: Directories) -> str:
    """Rebuild a damaged database from its readable data and the newest backup; return a message.

    The original is kept beside it. Raises `SpinneyError`, also if Spinney is running.
    """
    path = directories.database
    if not path.is_file():
        raise SpinneyError(f"No database to repair: {path} does not exist.", "not_found")
    with hold_lock(directories.lock):
        try:
            damage = find_damage(path)
            if not damage:
                return f"{path} is not damaged. Nothing was changed."
            return rescue(path, damage)
        except OSError as error:
            raise file_error(path, error, "repaired") from error
        except sqlite3.Error as error:
            raise disk_error(error, f"the repaired {path}") from error


def restore_backup(directories: Directories, name: str) -> str:
    """Replace the database with the backup of this name (the newest if empty); return a message.

    The original is kept. Raises `SpinneyError`, also if Spinney is running.
    """
    path = directories.database
    backup = _find_backup(path, name)
    with hold_lock(directories.lock):
        temporary = path.with_name(f".{path.name}.restored")
        try:
            temporary.unlink(missing_ok=True)
            shutil.copyfile(backup.path, temporary)
            temporary.chmod(PRIVATE_FILE)
            kept = replace_database(temporary, path)
        except OSError as error:
            raise file_error(path, error, "restored") from error
        CommitMarker(path).remove()
    message = f"Restored the backup from {backup.when}."
    if kept is None:
        return message
    return (
        f"{message} The previous database was kept as {kept.name}; delete it if nothing is missing."
    )


def find_damage(path: Path) -> str:
    """Describe the damage of a database in a few words; empty if there is none.

    Raises `SpinneyError` if a newer version wrote it, and `sqlite3.Error` if it cannot be checked.
    """
    try:
        with open_read_only(path) as connection:
            check_integrity(connection)
            refuse_newer(connection, path)
            # Too slow for startup: also checks the order of indexes.
            (result,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
            if result != "ok":
                return str(result)
            unreadable = count_unreadable_rows(connection)
    except sqlite3.Error as error:
        if not is_damage(error):
            raise
        return str(error)
    return f"{count(unreadable, 'row')} cannot be read" if unreadable else ""


def _find_backup(path: Path, name: str) -> Backup:
    backups = list_backups(path)
    matching = [b for b in backups if name in ("", b.path.name, str(b.path))]
    if matching:
        return matching[0]
    if not backups:
        raise SpinneyError(f"No backups in {path.parent / 'backups'} yet.", "not_found")
    names = ", ".join(backup.path.name for backup in backups)
    raise SpinneyError(f"No backup named '{name}'. Available backups: {names}", "not_found")
