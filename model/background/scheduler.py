"""Work that is repeated for each of a changing set of things: a few at a time, none twice at once.

What takes too long keeps running but gives its place away, and its group has to wait for it: one
disk that hangs holds up nobody else.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

PATIENCE: Final = 3.0
"""Seconds after which a piece of work counts as stalled and its place is free for others."""
_STALLED_REST: Final = 5
"""A group that stalled rests for so many times as long as the work took."""

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Member:
    ended: float | None = None
    asked: bool = True
    waiting: list["asyncio.Future[None]"] = field(default_factory=list)


class Rounds:
    """Calls `work(key)` for every key once per interval, and at once for those asked for.

    Args:
        work: What is done; a failure goes to the log.
        groups: The keys of this moment and the group of each.
        interval: Seconds between the end of one call and the next, asked anew each time.
        places: How many calls run at once.
    """

    def __init__(
        self,
        work: Callable[[str], Awaitable[None]],
        groups: Callable[[], Mapping[str, str]],
        interval: Callable[[], float],
        places: int,
    ) -> None:
        self._work = work
        self._groups = groups
        self._interval = interval
        self._places = places
        self._members: dict[str, _Member] = {}
        self._working: dict[str, asyncio.Task[None]] = {}
        self._stalled: dict[str, str] = {}
        """Keys whose work gave its place away, with their groups."""
        self._resting: dict[str, float] = {}
        """Until when groups that stalled are left alone."""
        self._wake = asyncio.Event()

    def ask(self, *keys: str) -> None:
        """Have the work done for these as soon as there is a place."""
        for key in keys:
            self._members.setdefault(key, _Member()).asked = True
        self._wake.set()

    async def ask_and_wait(self, keys: Iterable[str]) -> None:
        """Have the work done for these, begun after this moment, and wait for its end."""
        waiting = []
        for key in keys:
            future = asyncio.get_running_loop().create_future()
            self._members.setdefault(key, _Member()).waiting.append(future)
            self.ask(key)
            waiting.append(future)
        await asyncio.gather(*waiting)

    def look_again(self) -> None:
        """The keys or the interval may have changed."""
        self._wake.set()

    async def run(self) -> None:
        """Work until cancelled."""
        try:
            while True:
                self._wake.clear()
                pause = self._begin_what_is_due()
                try:
                    # Not wait_for: before 3.12 it forgets that it was cancelled.
                    async with asyncio.timeout(pause):
                        await self._wake.wait()
                except TimeoutError:
                    pass
        finally:
            working = tuple(self._working.values())
            for task in working:
                task.cancel()
            await asyncio.gather(*working, return_exceptions=True)

    def _begin_what_is_due(self) -> float | None:
        """Fill the free places; the seconds until the next is due, `None` when only news tell."""
        groups = self._groups()
        self._forget_all_but(groups)
        now, interval = time.monotonic(), self._interval()
        free = self._places - (len(self._working) - len(self._stalled))
        held = set(self._stalled.values())
        due_times = []
        for due, key in sorted((self._due(key, groups[key], interval), key) for key in groups):
            if key in self._working or groups[key] in held:
                continue
            if due > now or not free:
                due_times.append(due)
                continue
            self._begin(key, groups[key])
            free -= 1
        return max(0.0, min(due_times) - now) if free and due_times else None

    def _due(self, key: str, group: str, interval: float) -> float:
        member = self._members.setdefault(key, _Member())
        if member.asked and member.waiting:
            return 0.0
        rest = self._resting.get(group, 0.0)
        if member.asked or member.ended is None:
            return rest
        return max(rest, member.ended + interval)

    def _forget_all_but(self, keys: Mapping[str, str]) -> None:
        for key in [known for known in self._members if known not in keys]:
            if key not in self._working:
                _release(self._members.pop(key).waiting)

    def _begin(self, key: str, group: str) -> None:
        member = self._members[key]
        member.asked = False
        waiting, member.waiting = member.waiting, []
        self._working[key] = asyncio.create_task(self._work_on(key, group, member, waiting))

    async def _work_on(
        self, key: str, group: str, member: _Member, waiting: list["asyncio.Future[None]"]
    ) -> None:
        begun = time.monotonic()
        losing = asyncio.get_running_loop().call_later(PATIENCE, self._stall, key, group)
        try:
            await self._work(key)
        except Exception:
            _log.exception("%s: looking at it failed", key)
        finally:
            losing.cancel()
            member.ended = time.monotonic()
            self._working.pop(key, None)
            if self._stalled.pop(key, None):
                self._resting[group] = member.ended + _STALLED_REST * (member.ended - begun)
            else:
                self._resting.pop(group, None)
            _release(waiting)
            self._wake.set()

    def _stall(self, key: str, group: str) -> None:
        self._stalled[key] = group
        self._wake.set()


def _release(waiting: list["asyncio.Future[None]"]) -> None:
    for future in waiting:
        if not future.done():
            future.set_result(None)
