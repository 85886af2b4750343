"""A Spinney with two clients: the account of what both did, and waiting that is held to it."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Final

from tests.journeys.elsewhere import SecondPerson
from tests.journeys.ledger import FoundError, Ledger, World
from tests.journeys.served import Client
from tests.program import Program

ATTENTION: Final = 6.0
"""Seconds that somebody looks on who has nothing else to do."""


class Place(ABC):
    """What the places of both faces have in common."""

    program: Program
    """The Spinney that is walked."""
    client: Client
    """The second one, which hears everything."""
    world: World
    """All conversations, as they were read last."""

    def __init__(self, ledger: Ledger, patience: float) -> None:
        self.patience = patience
        """Seconds that anything may take to be drawn."""
        self.ledger = ledger
        self.second = SecondPerson(ledger)
        self.faults: list[str] = []
        """What the face itself told that must not be."""
        self._observed = 0

    def read(self) -> None:
        """Read all conversations anew, and what has happened in them until then."""
        events = self.client.events[self._observed :]
        self._observed += len(events)
        self.ledger.observe(events)
        self.world = World.read(self.client)
        self.ledger.forgive(self.client.events[self._observed :])

    def settle(self, complain: Callable[[], str]) -> None:
        """Wait until there is nothing to complain of; what nobody asked for is found at once."""
        end = time.monotonic() + self.patience
        while True:
            self.read()
            for found in [*self.ledger.complaints(self.world), *self.faults]:
                raise FoundError(found)
            if not (found := complain()):
                return
            if time.monotonic() > end:
                raise FoundError(found)
            self.pass_time()

    def look_on(self, condition: Callable[[], bool], seconds: float = ATTENTION) -> bool:
        """Wait until it holds, or so long; whether it does."""
        end = time.monotonic() + seconds
        while True:
            self.read()
            if condition():
                return True
            if time.monotonic() > end:
                return False
            self.pass_time()

    @abstractmethod
    def pass_time(self) -> None:
        """Wait a moment. Raises `FoundError` where nothing more can come."""
