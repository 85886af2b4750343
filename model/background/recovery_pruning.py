"""Deletes old recovery points and snapshots, by the limits in the preferences.

Nothing is deleted in the first pass, nor after the clock has jumped: a computer that wakes up in
the wrong year deletes nothing.
"""

import asyncio
import logging
import time
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.paths import Directories
from model.git.snapshots.conversations import drop_unreachable
from model.git.snapshots.prune import prune_points, remove_damaged_refs, shorten_chains
from model.git.worktrees import path_exists
from model.store.store import Store

PASS_INTERVAL: Final = 3600.0
"""Seconds between two passes; one without anything to delete lists refs and nothing else."""
_MAX_JUMP: Final = 600.0
"""Seconds by which the clock may differ from the monotonic one in an hour."""
_DAY: Final = 86400.0
_MEGABYTE: Final = 1_000_000

_log = logging.getLogger(__name__)


class RecoveryPruning:
    """Prunes the repositories of all projects, and that of points without files."""

    def __init__(self, store: Store, directories: Directories) -> None:
        self._store = store
        self._archive = directories.recovery
        self._previous: tuple[float, float] | None = None

    async def run(self) -> None:
        """Prune regularly until canceled."""
        while True:
            await self.prune(time.time(), time.monotonic())
            await asyncio.sleep(PASS_INTERVAL)

    async def prune(self, now: float, monotonic_now: float) -> None:
        """Prune once, at the wall-clock time `now` and the monotonic time `monotonic_now`."""
        previous, self._previous = self._previous, (now, monotonic_now)
        if previous is None:
            return
        jump = (now - previous[0]) - (monotonic_now - previous[1])
        if abs(jump) > _MAX_JUMP:
            return
        projects = self._store.state.projects.values()
        for root in [*(Path(each.path) for each in projects if not each.is_folder), self._archive]:
            try:
                await self._prune_repository(root, now)
            except SpinneyError as error:
                _log.warning("%s was not pruned: %s", root, error.message)

    async def _prune_repository(self, root: Path, now: float) -> None:
        if root == self._archive and not await path_exists(root):
            return
        preferences = self._store.state.preferences
        days = preferences.recovery_keep_days
        cutoff = now - days * _DAY if days else float("-inf")
        known = self._store.state.worktrees.keys()
        await remove_damaged_refs(root, cutoff, known)
        await prune_points(root, cutoff, preferences.recovery_max_mb * _MEGABYTE)
        if root == self._archive:
            await drop_unreachable(root)
        elif days:
            await shorten_chains(root, cutoff, known)
