"""Removes files that were kept for worktrees that no longer exist.

Removing a worktree removes its files at once. This catches the other cases: a project that was
removed with its worktrees, a worktree that could not be created, a kill in between.
"""

import asyncio
import shutil
import time
from collections.abc import Collection
from contextlib import suppress
from math import inf
from pathlib import Path
from typing import Final

from model.base.paths import Directories
from model.store.backups import list_kept_copies
from model.store.store import Store

SWEEP_INTERVAL: Final = 6 * 3600.0
"""Seconds between two sweeps."""
MIN_AGE: Final = 86400.0
"""Seconds for which a folder is kept in any case: its worktree may still be under creation."""
DEMO_MIN_AGE: Final = 90 * 86400.0
"""Seconds after which the demo agent's conversations are removed."""


async def sweep(store: Store, directories: Directories) -> None:
    """Remove orphaned folders regularly until canceled."""
    while True:
        await asyncio.to_thread(
            remove_orphaned_folders, directories, store.state.worktrees.keys(), time.time()
        )
        await asyncio.sleep(SWEEP_INTERVAL)


def remove_orphaned_folders(
    directories: Directories, worktree_ids: Collection[str], now: float
) -> None:
    """Remove folders of other worktrees, unless a database that was set aside may refer to them."""
    if list_kept_copies(directories.database):
        return
    folders = (
        directories.discarded, directories.contexts, directories.scripts, directories.reviews
    )  # fmt: skip
    for folder in folders:
        for path in _list_older(folder, now - MIN_AGE):
            if path.name not in worktree_ids:
                shutil.rmtree(path, ignore_errors=True)
    for path in _list_older(directories.data / "demo", now - DEMO_MIN_AGE):
        path.unlink(missing_ok=True)


def find_lost_sessions(directories: Directories, known_ids: Collection[str]) -> set[str]:
    """Return the sessions with files that only a database that was set aside may refer to."""
    if not list_kept_copies(directories.database):
        return set()
    folders = (directories.outputs, directories.pictures, directories.raw_logs)
    return {path.name for folder in folders for path in _list_older(folder, inf)}.difference(
        known_ids
    )


def _list_older(folder: Path, cutoff: float) -> list[Path]:
    with suppress(OSError):
        return [path for path in folder.iterdir() if path.lstat().st_mtime < cutoff]
    return []
