"""What is kept for a worktree that is gone is removed by and by.

Removing a worktree removes it at once. Here goes what other ways leave behind: a project that was
removed with its worktrees, a worktree that could not be made, a kill in between.
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

SWEEP_EVERY: Final = 6 * 3600.0
"""Seconds between two looks."""
AGE: Final = 86400.0
"""Seconds that a folder stays in any case: its worktree may just be in the making."""
DEMO_AGE: Final = 90 * 86400.0
"""Seconds until the demo agent forgets a conversation."""


async def sweep(store: Store, directories: Directories) -> None:
    """Look now and again until cancelled."""
    while True:
        await asyncio.to_thread(clear, directories, store.state.worktrees.keys(), time.time())
        await asyncio.sleep(SWEEP_EVERY)


def clear(directories: Directories, worktree_ids: Collection[str], now: float) -> None:
    """Remove what belongs to none of these worktrees, unless a lost database may still name it."""
    if list_kept_copies(directories.database):
        return
    for folder in (directories.discarded, directories.contexts, directories.scripts):
        for path in _older(folder, now - AGE):
            if path.name not in worktree_ids:
                shutil.rmtree(path, ignore_errors=True)
    for path in _older(directories.data / "demo", now - DEMO_AGE):
        path.unlink(missing_ok=True)


def lost_sessions(directories: Directories, known: Collection[str]) -> set[str]:
    """Sessions that only a database which was kept aside may name: those that have files."""
    if not list_kept_copies(directories.database):
        return set()
    folders = (directories.outputs, directories.pictures, directories.raw_logs)
    return {path.name for folder in folders for path in _older(folder, inf)}.difference(known)


def _older(folder: Path, than: float) -> list[Path]:
    with suppress(OSError):
        return [path for path in folder.iterdir() if path.lstat().st_mtime < than]
    return []
