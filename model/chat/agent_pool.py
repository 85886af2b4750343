"""A FIFO pool of at most `limit` agent processes; the longest idle one is evicted first.

An idle process keeps its slot between two turns until another session needs it.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(eq=False, slots=True)
class Slot:
    """One process's slot in the pool."""

    evict: Callable[[], None]
    """Ends the idle process, which then releases the slot."""


class AgentPool:
    """The slots. `limit` returns the current maximum."""

    def __init__(self, limit: Callable[[], int]) -> None:
        self._limit = limit
        self._acquired: set[Slot] = set()
        self._idle: dict[Slot, None] = {}
        self._evicting: set[Slot] = set()
        self._waiting: deque[tuple[Slot, asyncio.Future[None]]] = deque()

    async def acquire(self, evict: Callable[[], None], notify: Callable[[str], None]) -> Slot:
        """Wait for a slot; call `notify` with a message if none will be free at once."""
        slot = Slot(evict)
        acquired = asyncio.get_running_loop().create_future()
        self._waiting.append((slot, acquired))
        self.schedule()
        if not acquired.done() and len(self._waiting) > len(self._evicting):
            limit = self._limit()
            notify(
                f"Waiting for a free agent ({len(self._acquired)} of {limit} running). Stop one, or"
                " raise the limit in the preferences under 'Sessions'."
            )
        try:
            await acquired
        except asyncio.CancelledError:
            self._waiting = deque(entry for entry in self._waiting if entry[0] is not slot)
            self.release(slot)
            raise
        return slot

    def release(self, slot: Slot) -> None:
        """Free the slot of a process that has exited."""
        self._acquired.discard(slot)
        self._idle.pop(slot, None)
        self._evicting.discard(slot)
        self.schedule()

    def mark_idle(self, slot: Slot) -> None:
        """Mark the process as idle: its turn has ended."""
        if slot in self._acquired and slot not in self._evicting:
            self._idle[slot] = None
            self.schedule()

    def mark_busy(self, slot: Slot) -> None:
        """Mark the process as busy: a turn has started."""
        self._idle.pop(slot, None)

    def schedule(self) -> None:
        """Grant free slots and evict idle processes; also called when the limit has changed."""
        while self._waiting and len(self._acquired) < self._limit():
            slot, acquired = self._waiting.popleft()
            if not acquired.done():
                self._acquired.add(slot)
                acquired.set_result(None)
        while self._idle and len(self._evicting) < len(self._waiting):
            slot = next(iter(self._idle))
            del self._idle[slot]
            self._evicting.add(slot)
            slot.evict()
