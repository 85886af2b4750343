"""Sends red checks and new review comments to the sessions that deal with them by themselves.

Each failed check of a commit and each comment is sent once. What is sent is recorded before it is,
so that a crash between the two loses a message rather than repeating it. A session that works or
waits is left alone until it is idle.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.plural import count
from model.domain.events.base import Event
from model.domain.events.landing import PullRequestUpdated
from model.domain.events.program import TaskCompleted
from model.domain.events.sessions import SessionUpdated
from model.domain.hosting import PullRequestDetails
from model.domain.sessions import PullRequestLoop, Session
from model.domain.worktrees import Worktree
from model.git.run import git
from model.hosting.agent_messages import compose_comments, compose_failed_checks, with_push
from model.hosting.details import PullRequestCache
from model.hosting.news import News, add_handled, find_news, list_keys
from model.state import State
from model.store.bus import EventBus
from model.store.store import Store

TASK: Final = "pull_request_loop"

_RETRY_DELAY: Final = 120.0
"""Seconds after a failure."""

_log = logging.getLogger(__name__)


class PullRequestLoops:
    """Follows the pull requests of sessions whose switch is on.

    Args:
        store: Provides sessions and worktrees; records what was sent.
        bus: The source of the events after which something may have to be sent.
        pull_requests: The details of pull requests.
        send: Sends a message to a session.
        clock: Returns seconds since 1970.
    """

    def __init__(
        self,
        store: Store,
        bus: EventBus,
        pull_requests: PullRequestCache,
        send: Callable[[str, str], Awaitable[object]],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self._pull_requests = pull_requests
        self._send = send
        self._clock = clock
        self._due: set[str] = set()
        """Sessions to look at."""
        self._timers: dict[str, asyncio.TimerHandle] = {}
        """When sessions are looked at again though nothing happened."""
        self._news = bus.follow()

    async def run(self) -> None:
        """Follow events until canceled; begins with all sessions."""
        self._due.update(self._store.state.sessions)
        try:
            with self._news:
                while True:
                    entries, missed = await self._news.next()
                    if missed is not None:
                        self._due.update(self._store.state.sessions)
                    for entry in entries:
                        self._note(entry.event)
                    due, self._due = self._due, set()
                    for session_id in due:
                        await self._handle(session_id)
        finally:
            for timer in self._timers.values():
                timer.cancel()

    def _note(self, event: Event) -> None:
        match event:
            case PullRequestUpdated():
                self._due.update(one.id for one in self._store.state.sessions_of(event.worktree_id))
            case SessionUpdated() if event.updates.keys() & {"status", "pull_request_loop"}:
                self._due.add(event.session_id)
            case _:
                pass

    async def _handle(self, session_id: str) -> None:
        try:
            await self.check(session_id)
        except SpinneyError as error:
            _log.info("pull request of session %s: %s", session_id, error.message)
            self._look_again(session_id, error.retry_after or _RETRY_DELAY)
        except Exception:
            _log.exception("pull request of session %s", session_id)

    async def check(self, session_id: str) -> None:
        """Send what is new to the session, if its switch is on and it is idle."""
        session = self._find_ready(self._store.state, session_id)
        if session is None or session.pull_request_loop is None:
            return
        worktree = self._store.state.worktrees[session.worktree_id]
        details = await self._pull_requests.get(worktree)
        if details.phase in ("merged", "closed", "queued"):
            return
        news = find_news(details, session.pull_request_loop, self._clock())
        if news.wait:
            self._look_again(session_id, news.wait)
        if news.checks and await _is_ahead(Path(worktree.path), details.head_commit):
            # They are about a commit that was left behind; the push is still to come.
            news = News((), news.threads, list_keys(details, (), news.threads))
        if not news.checks and not news.threads:
            return
        if session.pull_request_loop.used >= session.pull_request_loop.limit:
            await self._wait_for_person(session, details, news)
            return
        await self._deliver(session, worktree, details, news)

    def _look_again(self, session_id: str, delay: float) -> None:
        """Look at the session again after `delay` seconds."""

        def request() -> None:
            self._timers.pop(session_id, None)
            self._due.add(session_id)
            self._news.wake()

        if (known := self._timers.pop(session_id, None)) is not None:
            known.cancel()
        loop = asyncio.get_running_loop()
        self._timers[session_id] = loop.call_later(delay, request)

    async def _deliver(
        self, session: Session, worktree: Worktree, details: PullRequestDetails, news: News
    ) -> None:
        state = self._store.state
        parts = []
        if news.checks:
            project = state.projects.get(worktree.project_id)
            parts.append(
                await compose_failed_checks(
                    state.preferences, project, worktree, details, news.checks
                )
            )
        if news.threads:
            parts.append(compose_comments(details, news.threads))
        text = with_push("\n\n".join(parts))
        before = session.pull_request_loop
        assert before is not None
        if not await self._change(session.id, before, add_handled(before, news.keys, used=1)):
            return
        try:
            await self._send(session.id, text)
        except SpinneyError as error:
            after = add_handled(before, news.keys, used=1)
            await self._change(session.id, after, before)
            self._report(session, f"Nothing was sent to '{session.name}': {error.message}")
            raise

    async def _wait_for_person(
        self, session: Session, details: PullRequestDetails, news: News
    ) -> None:
        before = session.pull_request_loop
        assert before is not None
        if not await self._change(session.id, before, before.model_copy(update={"waits": True})):
            return
        found = [
            count(len(items), noun)
            for items, noun in ((news.checks, "failed check"), (news.threads, "comment"))
            if items
        ]
        self._report(
            session,
            f"'{session.name}' has dealt with #{details.number} {count(before.used, 'time')} by "
            f"itself, and there is more: {' and '.join(found)}. Look at it, then switch it on "
            "again.",
        )

    async def _change(
        self, session_id: str, before: PullRequestLoop, after: PullRequestLoop
    ) -> bool:
        """Save the loop if it and the idle session are still as they were; return whether."""
        saved = False

        def make_events(state: State) -> list[Event]:
            nonlocal saved
            session = self._find_ready(state, session_id)
            saved = session is not None and session.pull_request_loop == before
            if not saved:
                return []
            updates = {"pull_request_loop": after.model_dump(mode="json")}
            return [SessionUpdated(session_id=session_id, updates=updates)]

        await self._store.accept(make_events)
        return saved

    @staticmethod
    def _find_ready(state: State, session_id: str) -> Session | None:
        """Return the session if it may get a message of the loop now."""
        session = state.sessions.get(session_id)
        if session is None or session.archived_at is not None or session.is_unfinished:
            return None
        loop = session.pull_request_loop
        worktree = state.worktrees.get(session.worktree_id)
        if loop is None or loop.waits or worktree is None or worktree.pr_number is None:
            return None
        is_usable = worktree.status == "ready" and worktree.archived_at is None
        return session if is_usable and not state.queued.get(session_id) else None

    def _report(self, session: Session, detail: str) -> None:
        event = TaskCompleted(task=TASK, ok=False, detail=detail, worktree_id=session.worktree_id)
        self._store.record(event)


async def _is_ahead(path: Path, commit: str) -> bool:
    """Whether the worktree has commits on top of this one."""
    if not commit.isalnum():
        return False
    head = await git(path, "rev-parse", "--verify", "--quiet", "HEAD", check=False)
    if head.stdout.strip() == commit:
        return False
    found = await git(path, "merge-base", "--is-ancestor", commit, "HEAD", check=False)
    return found.returncode == 0
