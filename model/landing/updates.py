"""Publishes `landing:updated` soon after anything on a project's landing desk may have changed."""

import asyncio
from collections.abc import Callable
from typing import Final

from model.domain.events.base import Event
from model.domain.events.landing import LandingUpdated, PullRequestUpdated, ReviewUpdated
from model.domain.events.program import TaskCompleted
from model.domain.events.sessions import SessionUpdated
from model.domain.events.worktrees import (
    WorktreeConflictsUpdated,
    WorktreeDeleted,
    WorktreeEvent,
    WorktreeStatusUpdated,
)
from model.state import State
from model.store.bus import EventBus
from model.store.store import Store

_DELAY: Final = 0.3
"""Seconds for which changes are collected."""
_SESSION_FIELDS: Final = frozenset({"status", "waiting_for", "archived_at"})


class DeskUpdates:
    """Follows events, and publishes at most one update per project and `_DELAY`."""

    def __init__(
        self,
        store: Store,
        bus: EventBus,
        forget: Callable[[str], None],
        forget_review: Callable[[str], None],
    ) -> None:
        """`forget` is called with a worktree that was deleted, `forget_review` with one in whose
        review a person has decided something.
        """
        self._store = store
        self._bus = bus
        self._forget = forget
        self._forget_review = forget_review
        self._changed: set[str] = set()
        self._has_changed = asyncio.Event()

    def note(self, worktree_id: str) -> None:
        """Take note that something of a worktree has changed."""
        worktree = self._store.state.worktrees.get(worktree_id)
        if worktree is not None:
            self.note_project(worktree.project_id)

    def note_project(self, project_id: str) -> None:
        """Take note that something of a project has changed."""
        self._changed.add(project_id)
        self._has_changed.set()

    async def run(self) -> None:
        """Follow events and publish until canceled."""
        publishing = asyncio.create_task(self._publish())
        try:
            with self._bus.follow() as news:
                while True:
                    entries, _ = await news.next()
                    for entry in entries:
                        self._handle(entry.event)
        finally:
            publishing.cancel()
            await asyncio.gather(publishing, return_exceptions=True)

    async def _publish(self) -> None:
        while True:
            await self._has_changed.wait()
            await asyncio.sleep(_DELAY)
            self._has_changed.clear()
            changed, self._changed = self._changed, set()
            for project_id in sorted(changed & self._store.state.projects.keys()):
                self._store.record(LandingUpdated(project_id=project_id))

    def _handle(self, event: Event) -> None:
        match event:
            case SessionUpdated():
                if not _SESSION_FIELDS.isdisjoint(event.updates):
                    self._note_session(self._store.state, event.session_id)
            case WorktreeConflictsUpdated() | WorktreeStatusUpdated() | PullRequestUpdated():
                self.note(event.worktree_id)
            case ReviewUpdated():
                self._forget_review(event.worktree_id)
                self.note(event.worktree_id)
            case TaskCompleted(task="check") if event.worktree_id is not None:
                self.note(event.worktree_id)
            case WorktreeEvent():
                self.note_project(event.worktree.project_id)
            case WorktreeDeleted():
                self._forget(event.worktree_id)
                self.note_project(event.project_id)
            case _:
                pass

    def _note_session(self, state: State, session_id: str) -> None:
        session = state.sessions.get(session_id)
        if session is not None:
            self.note(session.worktree_id)
