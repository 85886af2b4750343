"""Decides when which notice is sent on which channel.

Nothing is sent in quiet hours, nor while a client shows the session. What could not be sent in its
time is sent as one summary, never in a flood. A notice is recorded as sent before it is sent: a
crash in between may lose a message, whose reminder still comes, and never repeats one.
"""

import asyncio
import heapq
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from model.domain.events.notices import NoticesSeen, NoticesSent
from model.domain.notices import CHANNELS, WAITING, Notice, NoticeChannel
from model.notices.delivery import Delivery
from model.notices.focus import Focus
from model.notices.outgoing import Channel, Outgoing, compose
from model.notices.quiet_hours import parse_quiet_hours
from model.preferences.schema import Preferences
from model.state import State
from model.store.store import Store

OWN_SCREENS: Final[tuple[NoticeChannel, ...]] = ("terminal", "page")
"""Channels that show a notice when they receive `notice:sent`."""

LATE: Final = 60.0
"""Seconds after which what was not sent in its time is sent together with the rest."""

BURST: Final = 3
"""Notices that are sent one by one; more at once are sent as a summary."""

_CHECK: Final = 60.0
"""Seconds between two looks at the wall clock while something waits for it: timers do not run while
the machine sleeps, and the clock may be set."""

_JUMP: Final = 30.0
"""Seconds by which the wall clock may run behind before it counts as set back."""


@dataclass(frozen=True, slots=True)
class Clock:
    """The two clocks: seconds since 1970, and seconds that are never set back."""

    wall: Callable[[], float] = time.time
    monotonic: Callable[[], float] = time.monotonic


@dataclass(slots=True)
class _Pending:
    """Notices that a channel is to carry, by id, with the time when that was due."""

    first: dict[str, float] = field(default_factory=dict)
    reminders: dict[str, float] = field(default_factory=dict)


class Dispatcher:
    """Sends the standing notices on their channels, with one timer for all of them.

    Args:
        store: Provides notices and preferences, and records what was sent.
        focus: What clients show.
        channels: The channels besides Spinney's own screens.
        report: Called with a channel and why it fails, or `None` when it works again.
        clock: The clocks.
    """

    def __init__(
        self,
        store: Store,
        focus: Focus,
        channels: Mapping[NoticeChannel, Channel],
        *,
        report: Callable[[NoticeChannel, str | None], None],
        clock: Clock | None = None,
    ) -> None:
        self._store = store
        self._focus = focus
        self._channels = channels
        self._clock = clock or Clock()
        self._pending = {name: _Pending() for name in CHANNELS}
        self._reminders: list[tuple[float, str, str]] = []
        """A heap of times, notice ids and occasions."""
        self._known: set[tuple[str, str, float]] = set()
        """The notices that are pending or were sent: id, occasion, time of creation."""
        self._wake = asyncio.Event()
        self._offset = self._read_offset()
        self._delay = self._reminder_delay(store.state.preferences)
        self._deliveries = {
            name: Delivery(channel, store, self.wake, report, self._clock.monotonic)
            for name, channel in channels.items()
        }

    def prepare(self, notice: Notice) -> Notice:
        """Return a new notice with the channels that it is for."""
        preferences = self._store.state.preferences
        wanted = preferences.notify_matrix[notice.reason]
        ready = [name for name in wanted if self.is_ready(name, preferences)]
        return notice.model_copy(update={"channels": ready})

    def is_ready(self, name: NoticeChannel, preferences: Preferences) -> bool:
        """Whether a channel is set up."""
        channel = self._channels.get(name)
        return name in OWN_SCREENS or (channel is not None and channel.is_ready(preferences))

    def wake(self) -> None:
        """Look again at what is to be sent."""
        self._wake.set()

    def show(self, name: NoticeChannel, message: Outgoing) -> None:
        """Show a message on Spinney's own screens that is about no notice."""
        event = NoticesSent(
            channel=name,
            notice_ids=[],
            at=self._clock.wall(),
            title=message.title,
            text=message.text,
        )
        self._store.record(event)

    def withdraw(self, notices: Iterable[Notice]) -> None:
        """Take back what was sent of notices that no longer apply."""
        for notice in notices:
            for name, delivery in self._deliveries.items():
                if name in notice.sent:
                    delivery.withdraw(notice.id)
        self.wake()

    async def run(self) -> None:
        """Send what is to be sent until canceled."""
        self._focus.on_changed = self.wake
        try:
            while True:
                self._wake.clear()
                seconds = self.step()
                try:
                    # Not wait_for: before 3.12 it can swallow a cancellation.
                    async with asyncio.timeout(seconds):
                        await self._wake.wait()
                except TimeoutError:
                    pass
        finally:
            await asyncio.gather(*(one.close() for one in self._deliveries.values()))

    def step(self) -> float | None:
        """Send what is due now; return the seconds until the next look, `None` for no timer."""
        state, now = self._store.state, self._clock.wall()
        self._follow_clock(now)
        self._collect(state, now)
        quiet = parse_quiet_hours(state.preferences.notify_quiet_hours)
        if quiet is not None and quiet.contains(now):
            waits = any(one.first or one.reminders for one in self._pending.values())
            end = quiet.find_end(now) if waits else None
            return self._until(now, end, self._next_reminder())
        retries = [self._send_due(name, state, now) for name in CHANNELS]
        known = [at for at in (self._next_reminder(), *retries) if at is not None]
        return self._until(now, *known)

    @staticmethod
    def _until(now: float, *times: float | None) -> float | None:
        known = [at for at in times if at is not None]
        return min(_CHECK, max(0.0, min(known) - now)) if known else None

    # What is due -------------------------------------------------------------------------------

    def _read_offset(self) -> float:
        return self._clock.wall() - self._clock.monotonic()

    def _follow_clock(self, now: float) -> None:
        """Move the reminders if the clock was set back or their delay was changed.

        After a jump forward, as after a sleep of the machine, they are due.
        """
        offset = self._read_offset()
        behind, self._offset = self._offset - offset, offset
        delay = self._reminder_delay(self._store.state.preferences)
        if behind <= _JUMP and delay == self._delay:
            return
        self._delay = delay
        back = behind if behind > _JUMP else 0.0
        self._reminders = [
            (min(at - back, now + delay), key, occasion)
            for at, key, occasion in self._reminders
            if delay
        ]
        heapq.heapify(self._reminders)

    def _collect(self, state: State, now: float) -> None:
        """Take up new notices and forget withdrawn ones."""
        standing = {(n.id, n.occasion, n.created_at): n for n in state.notices.values()}
        for gone in self._known - standing.keys():
            self._forget(gone[0])
        for key in standing.keys() - self._known:
            self._forget(key[0])
            self._take_up(standing[key], now)
        self._known = set(standing)
        while self._reminders and self._reminders[0][0] <= now:
            at, notice_id, occasion = heapq.heappop(self._reminders)
            notice = state.notices.get(notice_id)
            if notice is not None and notice.occasion == occasion and not notice.reminded:
                for name in notice.channels:
                    self._pending[name].reminders[notice_id] = at

    def _take_up(self, notice: Notice, now: float) -> None:
        for name in notice.channels:
            if name not in notice.sent and notice.seen_at is None:
                self._pending[name].first[notice.id] = min(notice.created_at, now)
        if notice.sent or notice.seen_at is not None:  # of the last run
            self._plan_reminder(notice, min(now, notice.seen_at or min(notice.sent.values())))

    def _forget(self, notice_id: str) -> None:
        for pending in self._pending.values():
            pending.first.pop(notice_id, None)
            pending.reminders.pop(notice_id, None)

    def _plan_reminder(self, notice: Notice, since: float) -> None:
        delay = self._reminder_delay(self._store.state.preferences)
        if delay and notice.reason in WAITING and not notice.reminded:
            heapq.heappush(self._reminders, (since + delay, notice.id, notice.occasion))

    @staticmethod
    def _reminder_delay(preferences: Preferences) -> float:
        return 60.0 * preferences.notify_reminder_minutes

    def _next_reminder(self) -> float | None:
        return self._reminders[0][0] if self._reminders else None

    # Sending -----------------------------------------------------------------------------------

    def _send_due(self, name: NoticeChannel, state: State, now: float) -> float | None:
        """Send on a channel what is due; return when to try again, if it fails."""
        pending = self._pending[name]
        if not pending.first and not pending.reminders:
            return None
        delivery = self._deliveries.get(name)
        if delivery is not None and not delivery.is_free:
            return None  # It wakes this when it is.
        if delivery is not None and (delay := delivery.delay) > 0:
            return now + delay
        self._drop_seen(state, now)
        for is_reminder, due in ((False, pending.first), (True, pending.reminders)):
            sent = self._take(due, state, is_reminder=is_reminder)
            for notices in _group(sent, now):
                self._send_one(name, notices, now, is_reminder=is_reminder)
        return None

    def _drop_seen(self, state: State, now: float) -> None:
        """Drop first words about sessions that a client shows; their reminders wait."""
        waiting = {key for pending in self._pending.values() for key in pending.first}
        seen = [
            notice
            for key in waiting
            if (notice := state.notices.get(key)) is not None
            and self._focus.covers(state, notice.session_id, notice.worktree_id)
        ]
        if not seen:
            return
        for pending in self._pending.values():
            for notice in seen:
                pending.first.pop(notice.id, None)
        self._store.record(NoticesSeen(notice_ids=[notice.id for notice in seen], at=now))
        for notice in seen:
            self._plan_reminder(notice, now)

    def _take(
        self, due: dict[str, float], state: State, *, is_reminder: bool
    ) -> list[tuple[Notice, float]]:
        """Remove and return what can be sent now, with the times when it was due."""
        taken = []
        for key, at in list(due.items()):
            notice = state.notices.get(key)
            if notice is None:
                del due[key]
                continue
            if is_reminder and self._focus.covers(state, notice.session_id, notice.worktree_id):
                continue  # until the person looks elsewhere
            del due[key]
            taken.append((notice, at))
        return taken

    def _send_one(
        self, name: NoticeChannel, notices: list[Notice], now: float, *, is_reminder: bool
    ) -> None:
        preferences = self._store.state.preferences
        message = compose(notices, details=preferences.notify_details, is_reminder=is_reminder)
        event = NoticesSent(
            channel=name,
            notice_ids=[notice.id for notice in notices],
            at=now,
            title=message.title,
            text=message.text,
            session_id=message.session_id,
            is_reminder=is_reminder,
        )
        if not is_reminder:
            for notice in notices:
                current = self._store.state.notices[notice.id]
                if not current.sent:
                    self._plan_reminder(notice, now)
        self._store.record(event)
        if (delivery := self._deliveries.get(name)) is not None:
            delivery.send(message, event, self._put_back)

    def _put_back(self, event: NoticesSent, due: float) -> None:
        """Send it later, as it could not be sent now."""
        self._store.record(event.model_copy(update={"undone": True}))
        pending = self._pending[event.channel]  # type: ignore[index]
        target = pending.reminders if event.is_reminder else pending.first
        for key in event.notice_ids:
            if key in self._store.state.notices:
                target[key] = due


def _group(sent: list[tuple[Notice, float]], now: float) -> list[list[Notice]]:
    """Return the notices of each message: a summary if they are many or late, else one each."""
    if not sent:
        return []
    is_late = any(now - at > LATE for _, at in sent)
    if len(sent) > BURST or (is_late and len(sent) > 1):
        return [[notice for notice, _ in sent]]
    return [[notice] for notice, _ in sent]
