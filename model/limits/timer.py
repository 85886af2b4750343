"""The timer of all paused sessions and of all messages with a time.

There is one for the whole program, computed from the state, so it is the same after a restart.
Times are those of the wall clock. The event loop's clock stands still while a laptop sleeps, and
the wall clock may be set, so the timer looks at the latter at least every `MAX_WAIT` seconds;
nothing runs while nothing waits.
"""

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

from model.base.errors import SpinneyError
from model.domain.events.base import Event
from model.domain.events.messages import MessageQueued, MessageRemoved
from model.domain.events.sessions import (
    SessionArchived,
    SessionCreated,
    SessionDeleted,
    SessionUpdated,
)
from model.domain.events.worktrees import WorktreeEvent
from model.limits.due import Due, list_due
from model.store.bus import EventBus, Follower
from model.store.store import Store

MAX_WAIT: Final = 30.0
"""Seconds after which the wall clock is looked at again."""
_RETRY_DELAY: Final = 60.0
"""Seconds after which something is tried again that could not be started."""

_log = logging.getLogger(__name__)

choose_gap: Callable[[], float] = partial(random.uniform, 1.0, 4.0)
"""Returns the seconds between two sessions of an account, so that they do not go on in a flood, and
a limit that still holds stops those that follow."""


class ResumeTimer:
    """Lets paused sessions go on and sends messages when their time has come.

    Args:
        store: Provides the state.
        bus: The source of the events after which something else may be due.
        resume: Lets a paused session go on.
        send: Sends a queued message, given its session's id and its own.
        clock: Returns seconds since 1970.
        gap: Returns the seconds between two starts of one account.
    """

    def __init__(
        self,
        store: Store,
        bus: EventBus,
        resume: Callable[[str], Awaitable[object]],
        send: Callable[[str, str], Awaitable[object]],
        clock: Callable[[], float] = time.time,
        gap: Callable[[], float] = choose_gap,
    ) -> None:
        self._store = store
        self._bus = bus
        self._resume = resume
        self._send = send
        self._clock = clock
        self._gap = gap
        self._free_at: dict[str, float] = {}
        """When the next start of an account may be, on the event loop's clock."""
        self._retry_at: dict[tuple[str, str], float] = {}
        """When something that could not be started is tried again, on the event loop's clock."""
        self._starting: dict[tuple[str, str], asyncio.Task[None]] = {}

    async def run(self) -> None:
        """Follow clock and events until canceled."""
        try:
            with self._bus.follow() as news:
                while True:
                    wait = self.start_due()
                    try:
                        # Not wait_for: before 3.12 it can swallow a cancellation.
                        async with asyncio.timeout(wait):
                            await _wait_for_change(news)
                    except TimeoutError:
                        pass
        finally:
            for task in self._starting.values():
                task.cancel()

    def start_due(self) -> float | None:
        """Start what is due and may start now; return the seconds to wait, `None` for events."""
        waiting = list_due(self._store.state)
        for due in self._choose(waiting):
            key = due.session_id, due.message_id
            self._free_at[due.account] = asyncio.get_running_loop().time() + self._gap()
            self._starting[key] = asyncio.create_task(self._start(due))
        return self._find_wait(waiting)

    async def _start(self, due: Due) -> None:
        key = due.session_id, due.message_id
        try:
            await (self._send(*key) if due.message_id else self._resume(due.session_id))
        except Exception as error:
            known = isinstance(error, SpinneyError)
            _log.warning("%s could not go on", due.session_id, exc_info=None if known else error)
            self._retry_at[key] = asyncio.get_running_loop().time() + _RETRY_DELAY
        finally:
            del self._starting[key]

    def _choose(self, waiting: list[Due]) -> list[Due]:
        """Return what starts now: the first that is due of each account that may start one."""
        now, chosen = self._clock(), dict[str, Due]()
        for due in waiting:
            if due.at > now:
                break
            is_starting = (due.session_id, due.message_id) in self._starting
            if due.account not in chosen and not is_starting and self._delay(due) <= 0:
                chosen[due.account] = due
        return list(chosen.values())

    def _find_wait(self, waiting: list[Due]) -> float | None:
        now = self._clock()
        keys = {(due.session_id, due.message_id) for due in waiting}
        self._retry_at = {key: at for key, at in self._retry_at.items() if key in keys}
        if not waiting:
            self._free_at.clear()
            return None
        waits = (
            max(0.0, due.at - now, self._delay(due))
            for due in waiting
            if (due.session_id, due.message_id) not in self._starting
        )
        return min(MAX_WAIT, min(waits, default=MAX_WAIT))

    def _delay(self, due: Due) -> float:
        """Return for how many seconds it may not start though it is due."""
        key = due.session_id, due.message_id
        allowed_at = max(self._free_at.get(due.account, 0.0), self._retry_at.get(key, 0.0))
        return allowed_at - asyncio.get_running_loop().time()


async def _wait_for_change(news: Follower) -> None:
    """Wait until something else may be due."""
    while True:
        entries, missed = await news.next()
        if missed is not None or any(_matters(entry.event) for entry in entries):
            return


def _matters(event: Event) -> bool:
    """Whether something else may be due after an event."""
    match event:
        case SessionUpdated():
            return bool(event.updates.keys() & {"pause", "status", "archived_at", "worktree_id"})
        case SessionCreated():
            return event.session.pause is not None
        case MessageQueued() | MessageRemoved() | SessionArchived():
            return True
        case SessionDeleted() | WorktreeEvent():
            return True
        case _:
            return False
