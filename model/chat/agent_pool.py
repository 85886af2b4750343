"""Room for so many agents' programs at once; who finds none free waits, in order of arrival.

Programs that rest between two turns hold their place until somebody needs it: the one that has
rested longest is ended first.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(eq=False, slots=True)
class Place:
    """One program's place."""

    give_up: Callable[[], None]
    """Ends the resting program, which then leaves."""


class Room:
    """The places. `limit` tells at any time how many there are."""

    def __init__(self, limit: Callable[[], int]) -> None:
        self._limit = limit
        self._held: set[Place] = set()
        self._resting: dict[Place, None] = {}
        self._leaving: set[Place] = set()
        self._waiting: deque[tuple[Place, asyncio.Future[None]]] = deque()

    async def enter(self, give_up: Callable[[], None], tell: Callable[[str], None]) -> Place:
        """Wait for a place; `tell` says so where none will be free at once."""
        place = Place(give_up)
        admitted = asyncio.get_running_loop().create_future()
        self._waiting.append((place, admitted))
        self.look()
        if not admitted.done() and len(self._waiting) > len(self._leaving):
            limit = self._limit()
            tell(
                f"Waits for a free agent ({len(self._held)} of {limit} work). Stop one, or raise"
                " “agent_limit” in the preferences."
            )
        try:
            await admitted
        except asyncio.CancelledError:
            self._waiting = deque(entry for entry in self._waiting if entry[0] is not place)
            self.leave(place)
            raise
        return place

    def leave(self, place: Place) -> None:
        """The program has ended."""
        self._held.discard(place)
        self._resting.pop(place, None)
        self._leaving.discard(place)
        self.look()

    def rest(self, place: Place) -> None:
        """The program's turn is over."""
        if place in self._held and place not in self._leaving:
            self._resting[place] = None
            self.look()

    def work(self, place: Place) -> None:
        """The program has a turn."""
        self._resting.pop(place, None)

    def look(self) -> None:
        """Let in whom there is room for; called too when the limit has changed."""
        while self._waiting and len(self._held) < self._limit():
            place, admitted = self._waiting.popleft()
            if not admitted.done():
                self._held.add(place)
                admitted.set_result(None)
        while self._resting and len(self._leaving) < len(self._waiting):
            place = next(iter(self._resting))
            del self._resting[place]
            self._leaving.add(place)
            place.give_up()
