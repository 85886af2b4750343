"""Archived worktrees and sessions deleted when their time is over, and never what would be missed.

Nothing is deleted at first sight: it must have been due twice, a sweep apart by the clock that
cannot be set, so that a computer that woke up in the wrong year deletes nothing.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final

from model.base.errors import SpinneyError
from model.domain.events import SessionDeleted, TaskCompleted
from model.domain.resources import Session, Worktree
from model.store.store import Store
from model.worktrees.removal import Removals

SWEEP_EVERY: Final = 3600.0
"""Seconds between two looks."""

_DAY: Final = 86400.0


class Retention:
    """Deletes what was archived longer than `archive_retention_days` ago."""

    def __init__(
        self, store: Store, removals: Removals, end_session: Callable[[str], Awaitable[None]]
    ) -> None:
        self._store = store
        self._removals = removals
        self._end_session = end_session
        self._due_since: dict[str, float] = {}
        """When each was first seen to be due, on the clock that cannot be set."""
        self._told: set[str] = set()

    async def run(self) -> None:
        """Sweep until cancelled."""
        while True:
            await self.sweep(time.time(), time.monotonic())
            await asyncio.sleep(SWEEP_EVERY)

    async def sweep(self, now: float, moment: float) -> None:
        """Look once, at `now` by the calendar and `moment` by the clock that cannot be set."""
        days = self._store.state.preferences.archive_retention_days
        before = now - days * _DAY if days else float("-inf")
        due = self._due(before)
        self._due_since = {key: self._due_since.get(key, moment) for key in due}
        for key, item in due.items():
            if moment - self._due_since[key] >= SWEEP_EVERY:
                await self._delete(item)

    def _due(self, before: float) -> dict[str, Worktree | Session]:
        state = self._store.state
        items: list[Worktree | Session] = [*state.worktrees.values(), *state.sessions.values()]
        return {
            item.id: item
            for item in items
            if item.archived_at is not None and item.archived_at < before
        }

    async def _delete(self, item: Worktree | Session) -> None:
        try:
            if isinstance(item, Worktree):
                # Never forced: what would lose work stays until a person decides.
                await self._removals.remove(item.id, force=False)
            elif item.id in self._store.state.sessions:
                await self._end_session(item.id)
                await self._store.accept(SessionDeleted(session_id=item.id))
        except SpinneyError as error:
            if item.id not in self._told:
                self._told.add(item.id)
                detail = f"'{item.name}' stays in the archive: {error.message}"
                worktree_id = item.id if isinstance(item, Worktree) else item.worktree_id
                self._store.record(
                    TaskCompleted(
                        task="retention", ok=False, detail=detail, worktree_id=worktree_id
                    )
                )
