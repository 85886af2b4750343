"""Raises a notice when others have commented on one's own pull request.

The time of the newest comment that was noted is kept with the worktree: none is mentioned twice,
and what was written while Spinney did not run is found at the next start.
"""

import asyncio
import logging
from typing import Final

from model.base.errors import SpinneyError
from model.base.plural import count
from model.domain.events.base import Event
from model.domain.events.landing import PullRequestUpdated
from model.domain.events.worktrees import WorktreeUpdated
from model.domain.hosting import PullRequestDetails, ReviewThreadComment
from model.domain.notices import COMMENTS
from model.domain.worktrees import Worktree
from model.hosting.details import PullRequestCache
from model.hosting.news import list_comments_of_others
from model.notices.reasons import is_left_to_session
from model.notices.watcher import NoticeWatcher
from model.state import State
from model.store.bus import EventBus
from model.store.store import Store

_RETRY_DELAY: Final = 120.0
"""Seconds after the hosting service failed."""

_log = logging.getLogger(__name__)


class CommentWatch:
    """Reads the pull requests that have changed, and raises and withdraws their notices.

    Args:
        store: Provides the worktrees; keeps what was noted.
        bus: The source of events.
        watcher: Raises the notices.
        pull_requests: The details of pull requests.
    """

    def __init__(
        self, store: Store, bus: EventBus, watcher: NoticeWatcher, pull_requests: PullRequestCache
    ) -> None:
        self._store = store
        self._watcher = watcher
        self._pull_requests = pull_requests
        self._due: set[str] = set()
        """Worktrees to look at."""
        self._news = bus.follow()

    async def run(self) -> None:
        """Follow events until canceled. The poller reports every pull request after a start."""
        with self._news:
            while True:
                entries, missed = await self._news.next()
                if missed is not None:
                    self._due.update(self._store.state.worktrees)
                for entry in entries:
                    if isinstance(entry.event, PullRequestUpdated):
                        self._due.add(entry.event.worktree_id)
                due, self._due = self._due, set()
                for worktree_id in due:
                    await self._handle(worktree_id)

    async def _handle(self, worktree_id: str) -> None:
        try:
            await self.check(worktree_id)
        except SpinneyError as error:
            _log.debug("comments of %s: %s", worktree_id, error.message)
            delay = error.retry_after or _RETRY_DELAY
            asyncio.get_running_loop().call_later(delay, self._look_again, worktree_id)
        except Exception:
            _log.exception("comments of %s", worktree_id)

    def _look_again(self, worktree_id: str) -> None:
        self._due.add(worktree_id)
        self._news.wake()

    async def check(self, worktree_id: str) -> None:
        """Compare the comments with those that were noted. The first look raises nothing."""
        worktree = self._find_open(worktree_id)
        known = self._pull_requests.peek(worktree)[0] if worktree is not None else None
        if worktree is None or (known is not None and known.is_own is False):
            return
        details = await self._pull_requests.get(worktree)
        worktree = self._find_open(worktree_id)
        if worktree is None or worktree.pr_number != details.number or details.is_own is False:
            return
        comments = list_comments_of_others(details)
        if not comments and self._stands(worktree):
            self._watcher.withdraw(f"review.{worktree.id}")
        noted_at = worktree.comments_noted_at
        newest = max((each.created_at or 0.0 for each in comments), default=0.0)
        if noted_at is not None and newest <= noted_at:
            return
        if noted_at is not None and details.is_own:
            new = [each for each in comments if (each.created_at or 0.0) > noted_at]
            self._raise(worktree, details, new)
        await self._note(worktree.id, newest)

    def _find_open(self, worktree_id: str) -> Worktree | None:
        """Return the worktree if its pull request may get comments that are worth a word."""
        worktree = self._store.state.worktrees.get(worktree_id)
        if worktree is None or worktree.archived_at is not None or worktree.pr_number is None:
            return None
        return worktree if worktree.cached_pr_status not in ("merged", "closed") else None

    def _raise(
        self, worktree: Worktree, details: PullRequestDetails, new: list[ReviewThreadComment]
    ) -> None:
        state, last = self._store.state, new[-1]
        same = (each for each in state.worktrees.values() if each.pr_url == worktree.pr_url)
        if is_left_to_session(state, worktree) or any(map(self._stands, same)):
            return
        text = f"{count(len(new), 'comment')} on #{details.number}, {last.author}: {last.body}"
        self._watcher.raise_lasting("review", worktree.id, COMMENTS, text)

    def _stands(self, worktree: Worktree) -> bool:
        notice = self._store.state.notices.get(f"review.{worktree.id}")
        return notice is not None and notice.occasion == COMMENTS

    async def _note(self, worktree_id: str, noted_at: float) -> None:
        def make_events(state: State) -> list[Event]:
            worktree = state.worktrees.get(worktree_id)
            if worktree is None:
                return []
            noted = worktree.model_copy(update={"comments_noted_at": noted_at})
            return [WorktreeUpdated(worktree=noted)]

        await self._store.accept(make_events)
