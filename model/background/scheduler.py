"""Repeats work for a changing set of keys, with limited concurrency and never twice at once.

Work that takes too long keeps running but no longer counts toward the limit, and its group is not
started again meanwhile: a disk that hangs delays only its own group.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

STALL_TIMEOUT: Final = 3.0
"""Seconds after which work counts as stalled and no longer occupies a slot."""
_BACKOFF_FACTOR: Final = 5
"""A stalled group is delayed by this multiple of the time that its work took."""

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Entry:
    ended_at: float | None = None
    is_requested: bool = True
    waiters: list["asyncio.Future[None]"] = field(default_factory=list)


class KeyedScheduler:
    """Calls `work(key)` for every key once per interval, and immediately on request.

    Args:
        work: The work for one key; exceptions are logged.
        groups: Returns the current keys and the group of each.
        interval: Returns the seconds between the end of one call and the start of the next.
        concurrency: How many calls run at once.
    """

    def __init__(
        self,
        work: Callable[[str], Awaitable[None]],
        groups: Callable[[], Mapping[str, str]],
        interval: Callable[[], float],
        concurrency: int,
    ) -> None:
        self._work = work
        self._groups = groups
        self._interval = interval
        self._concurrency = concurrency
        self._entries: dict[str, _Entry] = {}
        self._running: dict[str, asyncio.Task[None]] = {}
        self._stalled: dict[str, str] = {}
        """Keys whose work has stalled, with their groups."""
        self._backoff_until: dict[str, float] = {}
        """Times until which groups that stalled are not started."""
        self._wake = asyncio.Event()

    def request(self, *keys: str) -> None:
        """Run the work for these keys as soon as a slot is free."""
        for key in keys:
            self._entries.setdefault(key, _Entry()).is_requested = True
        self._wake.set()

    async def request_and_wait(self, keys: Iterable[str]) -> None:
        """Run the work for these keys, started after this call, and wait for it to end."""
        futures = []
        for key in keys:
            future = asyncio.get_running_loop().create_future()
            self._entries.setdefault(key, _Entry()).waiters.append(future)
            self.request(key)
            futures.append(future)
        await asyncio.gather(*futures)

    def reschedule(self) -> None:
        """Recompute what is due, because the keys or the interval may have changed."""
        self._wake.set()

    async def run(self) -> None:
        """Run until canceled."""
        try:
            while True:
                self._wake.clear()
                timeout = self._start_due()
                try:
                    # Not wait_for: before 3.12 it can swallow a cancellation.
                    async with asyncio.timeout(timeout):
                        await self._wake.wait()
                except TimeoutError:
                    pass
        finally:
            running = tuple(self._running.values())
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    def _start_due(self) -> float | None:
        """Fill free slots; return seconds until the next is due, `None` to wait for requests."""
        groups = self._groups()
        self._prune(groups)
        now, interval = time.monotonic(), self._interval()
        free = self._concurrency - (len(self._running) - len(self._stalled))
        stalled_groups = set(self._stalled.values())
        due_times = []
        for due, key in sorted((self._due_time(key, groups[key], interval), key) for key in groups):
            if key in self._running or groups[key] in stalled_groups:
                continue
            if due > now or not free:
                due_times.append(due)
                continue
            self._start(key, groups[key])
            free -= 1
        return max(0.0, min(due_times) - now) if free and due_times else None

    def _due_time(self, key: str, group: str, interval: float) -> float:
        entry = self._entries.setdefault(key, _Entry())
        if entry.is_requested and entry.waiters:
            return 0.0
        backoff = self._backoff_until.get(group, 0.0)
        if entry.is_requested or entry.ended_at is None:
            return backoff
        return max(backoff, entry.ended_at + interval)

    def _prune(self, keys: Mapping[str, str]) -> None:
        for key in [known for known in self._entries if known not in keys]:
            if key not in self._running:
                _resolve(self._entries.pop(key).waiters)

    def _start(self, key: str, group: str) -> None:
        entry = self._entries[key]
        entry.is_requested = False
        waiters, entry.waiters = entry.waiters, []
        self._running[key] = asyncio.create_task(self._run_work(key, group, entry, waiters))

    async def _run_work(
        self, key: str, group: str, entry: _Entry, waiters: list["asyncio.Future[None]"]
    ) -> None:
        started_at = time.monotonic()
        stall_timer = asyncio.get_running_loop().call_later(
            STALL_TIMEOUT, self._mark_stalled, key, group
        )
        try:
            await self._work(key)
        except Exception:
            _log.exception("scheduled work for %s failed", key)
        finally:
            stall_timer.cancel()
            entry.ended_at = time.monotonic()
            self._running.pop(key, None)
            if self._stalled.pop(key, None):
                self._backoff_until[group] = entry.ended_at + _BACKOFF_FACTOR * (
                    entry.ended_at - started_at
                )
            else:
                self._backoff_until.pop(group, None)
            _resolve(waiters)
            self._wake.set()

    def _mark_stalled(self, key: str, group: str) -> None:
        self._stalled[key] = group
        self._wake.set()


def _resolve(waiters: list["asyncio.Future[None]"]) -> None:
    for future in waiters:
        if not future.done():
            future.set_result(None)
