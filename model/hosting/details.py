"""The details of the pull requests of worktrees, as they were read last."""

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from model.base.errors import SpinneyError
from model.domain.events.base import Event
from model.domain.events.landing import PullRequestUpdated
from model.domain.events.worktrees import WorktreeUpdated
from model.domain.hosting import PullRequestDetails
from model.domain.worktrees import Worktree
from model.hosting.forges import find_forge, is_pull_request_url
from model.state import State
from model.store.store import Store

MAX_AGE: Final = 300.0
"""Seconds after which an answer is read again even if nothing is known to have changed."""
RETRY: Final = 60.0
"""Seconds until details are read ahead again, after a failure."""
_CONCURRENCY: Final = 2
_MAX_ENTRIES: Final = 64
"""Worktrees whose details are kept, those that were used last."""

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Entry:
    pull_request: int | str
    details: PullRequestDetails
    started_at: float
    """When they were asked for, by the clock."""
    order: int
    """Orders this request among all calls."""


class PullRequestCache:
    """Reads the details of pull requests, and keeps them until something has changed.

    Args:
        store: Provides the worktrees; gets the events.
        clock: Returns seconds on a monotonic clock.
    """

    def __init__(self, store: Store, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._clock = clock
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._locks: dict[str, asyncio.Lock] = {}
        self._changes: dict[str, int] = {}
        """When each pull request changed last, in the order of calls."""
        self._calls = count()
        self._tried: dict[str, float] = {}
        """When details were read ahead last without success, by worktree."""
        self._limit = asyncio.Semaphore(_CONCURRENCY)

    async def get(self, worktree: Worktree, *, refresh: bool = False) -> PullRequestDetails:
        """Return the details of a worktree's pull request.

        With `refresh` they are not older than this call. Raises `not_found` if there is none.
        """
        asked = next(self._calls)
        pull_request = identify(worktree)
        lock = self._locks.setdefault(worktree.id, asyncio.Lock())
        async with lock:
            known = self._entries.get(worktree.id)
            if known is not None and self._is_current(
                worktree.id, known, pull_request, asked, refresh
            ):
                self._entries.move_to_end(worktree.id)
                return known.details
            started_at, order = self._clock(), next(self._calls)
            path = Path(worktree.path)
            forge = await find_forge(path)
            details = await forge.fetch_details(path, pull_request)
            self._keep(worktree.id, _Entry(details.url or pull_request, details, started_at, order))
        await self._follow_move(worktree, details)
        if known is not None and _without_time(known.details) != _without_time(details):
            self._store.record(PullRequestUpdated(worktree_id=worktree.id))
        return details

    def peek(self, worktree: Worktree) -> tuple[PullRequestDetails | None, bool]:
        """Return what was read last, without asking, and whether it has changed since."""
        known = self._entries.get(worktree.id)
        if known is None or known.details.number != worktree.pr_number:
            return None, False
        return known.details, self._is_outdated(worktree.id, known)

    def is_worth_reading(self, worktree: Worktree) -> bool:
        """Whether the details of an open pull request are missing or outdated.

        After a failure, only from time to time.
        """
        if worktree.pr_number is None or worktree.cached_pr_status in ("merged", "closed"):
            return False
        details, is_outdated = self.peek(worktree)
        last = self._tried.get(worktree.id)
        is_due = last is None or self._clock() - last >= RETRY
        return is_due and (details is None or is_outdated)

    async def read_ahead(self, worktree: Worktree) -> None:
        """Read the details before a client asks for them, and report them as a change."""
        self._tried[worktree.id] = self._clock()
        is_first = self.peek(worktree)[0] is None
        try:
            async with self._limit:
                await self.get(worktree)
        except SpinneyError as error:
            _log.debug("pull request of %s: %s", worktree.id, error.message)
            return
        self._tried.pop(worktree.id, None)
        if is_first:
            self._store.record(PullRequestUpdated(worktree_id=worktree.id))

    def note_change(self, worktree_id: str) -> None:
        """Read the details again when they are needed next, and report that they have changed."""
        self._changes[worktree_id] = next(self._calls)
        self._store.record(PullRequestUpdated(worktree_id=worktree_id))

    def _is_current(
        self, worktree_id: str, entry: _Entry, pull_request: int | str, asked: int, refresh: bool
    ) -> bool:
        if pull_request not in (entry.pull_request, entry.details.number):
            return False
        if refresh:
            return entry.order > asked
        is_old = self._clock() - entry.started_at >= MAX_AGE
        return not is_old and not self._is_outdated(worktree_id, entry)

    def _is_outdated(self, worktree_id: str, entry: _Entry) -> bool:
        """Whether it changed after it was asked for: the answer may be that of before."""
        return self._changes.get(worktree_id, -1) > entry.order

    def _keep(self, worktree_id: str, entry: _Entry) -> None:
        self._entries[worktree_id] = entry
        self._entries.move_to_end(worktree_id)
        while len(self._entries) > _MAX_ENTRIES:
            oldest, _ = self._entries.popitem(last=False)
            self._changes.pop(oldest, None)
            lock = self._locks.get(oldest)
            if lock is not None and not lock.locked():
                del self._locks[oldest]

    async def _follow_move(self, worktree: Worktree, details: PullRequestDetails) -> None:
        """Save the new address of a pull request whose repository was renamed or moved."""
        if details.url == worktree.pr_url or not is_pull_request_url(details.url):
            return
        if urlsplit(details.url).netloc != urlsplit(worktree.pr_url or details.url).netloc:
            return  # A service does not decide that another one is asked.

        def make_events(state: State) -> list[Event]:
            now = state.worktrees.get(worktree.id)
            if now is None or (now.pr_number, now.pr_url) != (worktree.pr_number, worktree.pr_url):
                return []
            moved = now.model_copy(update={"pr_url": details.url})
            return [WorktreeUpdated(worktree=moved)]

        await self._store.accept(make_events)


def identify(worktree: Worktree) -> int | str:
    """Return the URL of a worktree's pull request, or its number. Raises `not_found`."""
    if worktree.pr_number is None:
        raise SpinneyError(
            f"'{worktree.name}' has no pull request. Open one, or link one that exists.",
            "not_found",
        )
    return worktree.pr_url or worktree.pr_number


def _without_time(details: PullRequestDetails) -> PullRequestDetails:
    return details.model_copy(update={"fetched_at": 0.0})
