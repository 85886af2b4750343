"""Deletes archived worktrees and sessions when their retention period is over, without losing work.

Nothing is deleted when it is first seen to be due: it must be due twice, one sweep apart on the
monotonic clock, so that a computer that wakes up in the wrong year deletes nothing.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final

from model.base.errors import SpinneyError
from model.domain.events.program import TaskCompleted
from model.domain.events.sessions import SessionDeleted
from model.domain.sessions import Session
from model.domain.worktrees import Worktree
from model.store.store import Store
from model.worktrees.removal import WorktreeRemover

SWEEP_INTERVAL: Final = 3600.0
"""Seconds between two sweeps."""

_DAY: Final = 86400.0


class Retention:
    """Deletes what was archived more than `archive_retention_days` ago."""

    def __init__(
        self,
        store: Store,
        removals: WorktreeRemover,
        end_session: Callable[[str], Awaitable[None]],
        keep_session: Callable[[str], Awaitable[None]],
    ) -> None:
        self._store = store
        self._removals = removals
        self._end_session = end_session
        self._keep_session = keep_session
        self._due_since: dict[str, float] = {}
        """When each item was first seen to be due (monotonic clock)."""
        self._reported: set[str] = set()

    async def run(self) -> None:
        """Sweep until canceled."""
        while True:
            await self.sweep(time.time(), time.monotonic())
            await asyncio.sleep(SWEEP_INTERVAL)

    async def sweep(self, now: float, monotonic_now: float) -> None:
        """Sweep once, at the wall-clock time `now` and the monotonic time `monotonic_now`."""
        days = self._store.state.preferences.archive_retention_days
        cutoff = now - days * _DAY if days else float("-inf")
        due = self._find_due(cutoff)
        self._due_since = {key: self._due_since.get(key, monotonic_now) for key in due}
        for key, item in due.items():
            if monotonic_now - self._due_since[key] >= SWEEP_INTERVAL:
                await self._delete(item)

    def _find_due(self, cutoff: float) -> dict[str, Worktree | Session]:
        state = self._store.state
        items: list[Worktree | Session] = [*state.worktrees.values(), *state.sessions.values()]
        return {
            item.id: item
            for item in items
            if item.archived_at is not None and item.archived_at < cutoff
        }

    async def _delete(self, item: Worktree | Session) -> None:
        try:
            if isinstance(item, Worktree):
                # Never forced: an item with unsaved work stays until the user decides.
                await self._removals.remove(item.id, force=False)
            elif item.id in self._store.state.sessions:
                await self._end_session(item.id)
                await self._keep_session(item.id)
                await self._store.accept(SessionDeleted(session_id=item.id))
        except SpinneyError as error:
            if item.id not in self._reported:
                self._reported.add(item.id)
                detail = f"'{item.name}' was not deleted from the archive: {error.message}"
                worktree_id = item.id if isinstance(item, Worktree) else item.worktree_id
                self._store.record(
                    TaskCompleted(
                        task="retention", ok=False, detail=detail, worktree_id=worktree_id
                    )
                )
