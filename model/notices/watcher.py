"""Decides which notices stand: raised when a reason appears, withdrawn when it is gone."""

import logging
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from model.base.errors import SpinneyError
from model.base.text import clean_line
from model.domain.events.base import Event
from model.domain.events.notices import NoticeRaised, NoticeWithdrawn
from model.domain.events.program import TaskCompleted
from model.domain.events.projects import ProjectRemoved
from model.domain.events.sessions import SessionArchived, SessionDeleted, SessionUpdated
from model.domain.events.worktrees import (
    WorktreeArchived,
    WorktreeDeleted,
    WorktreeEvent,
    WorktreeStatusUpdated,
    WorktreeUnarchived,
)
from model.domain.notices import REASONS, Notice, NoticeReason
from model.domain.sessions import Session
from model.domain.worktrees import Worktree
from model.notices import texts
from model.notices.reasons import Cause, find_session_causes, find_worktree_causes
from model.store.bus import EventBus
from model.store.store import Store

_SESSION_FIELDS: Final = frozenset(
    {"status", "waiting_for", "request", "unread", "archived_at", "pull_request_loop", "pause"}
)
"""Fields of a session that a reason depends on."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Dirty:
    """Sessions and worktrees to look at again."""

    sessions: dict[str, None]
    worktrees: dict[str, None]


class NoticeWatcher:
    """Follows the bus and keeps the standing notices in the state.

    Args:
        store: Provides sessions and worktrees, and records notices.
        bus: The source of events.
        prepare: Completes a new notice: the channels that it is for.
        on_changed: Called after notices were raised or withdrawn, with the withdrawn ones.
        clock: Returns seconds since 1970.
    """

    def __init__(
        self,
        store: Store,
        bus: EventBus,
        *,
        prepare: Callable[[Notice], Notice],
        on_changed: Callable[[Iterable[Notice]], None],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self._bus = bus
        self._prepare = prepare
        self._on_changed = on_changed
        self._clock = clock
        self._dirty = _Dirty({}, {})

    async def run(self) -> None:
        """Follow events until canceled."""
        with self._bus.follow() as news:
            await self.start()
            while True:
                entries, missed = await news.next()
                if missed is not None:
                    self._mark_all()
                for entry in entries:
                    self.note(entry.event)
                try:
                    await self.update()
                except Exception:
                    _log.exception("the notices could not follow")

    async def start(self) -> None:
        """Compare the notices of the last run with the state.

        What is found only now was there when Spinney ended or is older than notices: it is listed,
        and nothing is sent.
        """
        self._mark_all()
        await self.update(seen_at=self._clock())

    def raise_lasting(
        self, reason: NoticeReason, subject: str, occasion: str, text: str = ""
    ) -> None:
        """Raise a notice that stands until it is dismissed, about a worktree or (`disk`) none."""
        worktree = self._store.state.worktrees.get(subject)
        notice = Notice(
            id=f"{reason}.{subject}" if worktree else reason,
            reason=reason,
            worktree_id=worktree.id if worktree else None,
            title=texts.make_title(reason, worktree.name if worktree else "", occasion),
            text=texts.shorten(text),
            created_at=self._clock(),
            occasion=occasion,
            lasts=True,
        )
        self._store.record(NoticeRaised(notice=self._prepare(notice)))
        self._on_changed(())

    def withdraw(self, *notice_ids: str) -> None:
        """Withdraw standing notices; unknown ids are ignored."""
        notices = self._store.state.notices
        gone = [notices[key] for key in notice_ids if key in notices]
        for notice in gone:
            self._store.record(NoticeWithdrawn(notice_id=notice.id, session_id=notice.session_id))
        if gone:
            self._on_changed(gone)

    def _mark_all(self) -> None:
        state = self._store.state
        self._dirty.sessions.update(dict.fromkeys(state.sessions))
        self._dirty.worktrees.update(dict.fromkeys(state.worktrees))
        for notice in state.notices.values():
            if notice.session_id is not None:
                self._dirty.sessions[notice.session_id] = None
            elif notice.worktree_id is not None:
                self._dirty.worktrees[notice.worktree_id] = None

    def note(self, event: Event) -> None:
        """Note what an event may have changed, for the next `update`."""
        match event:
            case SessionUpdated():
                if not _SESSION_FIELDS.isdisjoint(event.updates):
                    self._dirty.sessions[event.session_id] = None
                    self._note_loop(event)
            case SessionArchived() | SessionDeleted():
                self._dirty.sessions[event.session_id] = None
            case WorktreeArchived() | WorktreeUnarchived():
                self._note_with_sessions(event.worktree)
            case WorktreeEvent():
                self._dirty.worktrees[event.worktree.id] = None
            case WorktreeStatusUpdated():
                self._dirty.worktrees[event.worktree_id] = None
            case WorktreeDeleted() | ProjectRemoved():
                self._mark_all()
            case TaskCompleted(task="check", worktree_id=str(worktree_id)):
                self._note_check(worktree_id, event)
            case TaskCompleted(task="review", worktree_id=str(worktree_id)):
                self.raise_lasting("review", worktree_id, "agent", event.detail)
            case _:
                pass

    def _note_loop(self, event: SessionUpdated) -> None:
        session = self._store.state.sessions.get(event.session_id)
        if session is not None and "pull_request_loop" in event.updates:
            self._dirty.worktrees[session.worktree_id] = None

    def _note_with_sessions(self, worktree: Worktree) -> None:
        self._dirty.worktrees[worktree.id] = None
        ids = (each.id for each in self._store.state.sessions_of(worktree.id, archived=True))
        self._dirty.sessions.update(dict.fromkeys(ids))

    def _note_check(self, worktree_id: str, event: TaskCompleted) -> None:
        known = self._store.state.notices.get(f"check_failed.{worktree_id}")
        if not event.ok:
            self.raise_lasting("check_failed", worktree_id, "script", event.detail)
        elif known is not None and known.lasts:
            self.withdraw(known.id)

    async def update(self, seen_at: float | None = None) -> None:
        """Raise and withdraw what follows from the changes so far."""
        dirty, self._dirty = self._dirty, _Dirty({}, {})
        withdrawn: list[Notice] = []
        raised = False
        for session_id in dirty.sessions:
            session = self._store.state.sessions.get(session_id)
            causes = list(find_session_causes(self._store.state, session)) if session else []
            withdrawn += self._withdraw_others(session_id, causes)
            for cause in causes if session else ():
                raised |= session is not None and await self._raise(session, cause, seen_at)
        for worktree_id in dirty.worktrees:
            worktree = self._store.state.worktrees.get(worktree_id)
            causes = list(find_worktree_causes(self._store.state, worktree)) if worktree else []
            withdrawn += self._withdraw_others(worktree_id, causes, worktree)
            for cause in causes if worktree else ():
                raised |= worktree is not None and await self._raise(worktree, cause, seen_at)
        if raised or withdrawn:
            self._on_changed(withdrawn)

    def _withdraw_others(
        self, subject: str, causes: Iterable[Cause], worktree: Worktree | None = None
    ) -> list[Notice]:
        """Withdraw the notices of a session or worktree that have no cause any more."""
        state = self._store.state
        held = {(cause.reason, cause.occasion) for cause in causes}
        is_there = worktree is not None and worktree.archived_at is None
        gone = []
        for reason in REASONS:
            notice = state.notices.get(f"{reason}.{subject}")
            if notice is None or (notice.reason, notice.occasion) in held:
                continue
            if not (notice.lasts and is_there):
                self._store.record(
                    NoticeWithdrawn(notice_id=notice.id, session_id=notice.session_id)
                )
                gone.append(notice)
        return gone

    async def _raise(
        self, subject: Session | Worktree, cause: Cause, seen_at: float | None
    ) -> bool:
        """Raise a notice unless it stands already; return whether it was raised."""
        notice_id = f"{cause.reason}.{subject.id}"
        if notice_id in self._store.state.notices:
            return False
        session = subject if isinstance(subject, Session) else None
        text = await self._describe(subject, cause)
        if session is not None and not self._holds(session.id, cause):
            return False  # It was answered while the text was read.
        notice = Notice(
            id=notice_id,
            reason=cause.reason,
            session_id=session.id if session else None,
            worktree_id=session.worktree_id if session else subject.id,
            title=texts.make_title(cause.reason, subject.name, cause.occasion),
            text=text,
            created_at=self._clock(),
            request_id=cause.request_id,
            answers=texts.list_answers(session.request) if session else [],
            occasion=cause.occasion,
            seen_at=seen_at,
        )
        self._store.record(NoticeRaised(notice=self._prepare(notice)))
        return True

    def _holds(self, session_id: str, cause: Cause) -> bool:
        state = self._store.state
        session = state.sessions.get(session_id)
        return session is not None and cause in find_session_causes(state, session)

    async def _describe(self, subject: Session | Worktree, cause: Cause) -> str:
        if isinstance(subject, Worktree):
            return f"Pull request {clean_line(cause.occasion)}"
        match cause.reason:
            case "failed":
                return texts.describe_end(subject)
            case "limit":
                return texts.shorten(subject.pause.text) if subject.pause is not None else ""
            case "finished":
                return await self._read_last_text(subject.id)
            case _:
                return texts.describe_request(subject.request)

    async def _read_last_text(self, session_id: str) -> str:
        with suppress(SpinneyError):
            page = await self._store.messages(session_id, 1)
            return texts.shorten(page.messages[-1].text) if page.messages else ""
        return ""
