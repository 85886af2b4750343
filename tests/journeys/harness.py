"""What both test harnesses share: two clients of a Spinney, a ledger and waiting."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Final

from tests.journeys.client import Client
from tests.journeys.ledger import InvariantError, Ledger, World
from tests.journeys.repositories import Repositories
from tests.journeys.second_client import SecondClient
from tests.program import Program

WATCH_SECONDS: Final = 6.0
"""Default time to wait for something that may not happen."""


class Harness(ABC):
    """A running Spinney with the driven client, a second client and a ledger of both."""

    program: Program
    """The Spinney under test."""
    client: Client
    """The second client, which receives all events."""
    world: World
    """All conversations as of the last `refresh`."""
    repositories: Repositories
    """The projects' repositories."""

    def __init__(self, ledger: Ledger, patience: float) -> None:
        self.patience = patience
        """Seconds to wait for anything to be drawn."""
        self.ledger = ledger
        self.second = SecondClient(ledger)
        self.faults: list[str] = []
        """Errors that the driven client itself reported."""
        self._observed = 0

    def refresh(self) -> None:
        """Read all conversations again, and record the events up to then."""
        events = self.client.events[self._observed :]
        self._observed += len(events)
        self.ledger.record_events(events)
        self.world = World.read(self.client)
        self.ledger.ignore_removed(self.client.events[self._observed :])

    def settle(self, find_problem: Callable[[], str]) -> None:
        """Wait until `find_problem` returns an empty string.

        Raises `InvariantError` with its last result after `patience`, and at once if the ledger or
        the driven client reports a problem.
        """
        end = time.monotonic() + self.patience
        while True:
            self.refresh()
            for problem in [*self.ledger.find_violations(self.world), *self.faults]:
                raise InvariantError(problem)
            if not (problem := find_problem()):
                return
            if time.monotonic() > end:
                raise InvariantError(problem)
            self.pause()

    def poll_until(self, condition: Callable[[], bool], seconds: float = WATCH_SECONDS) -> bool:
        """Wait at most `seconds` for the condition. Return whether it holds."""
        end = time.monotonic() + seconds
        while True:
            self.refresh()
            if condition():
                return True
            if time.monotonic() > end:
                return False
            self.pause()

    def find_wrong_usage(self) -> str:
        """Name a session at rest that shows other tokens than its turns used together, if any."""
        rows = self.client.call("get_usage", by="session")["rows"]
        used = {row["key"]: row["usage"] for row in rows}
        for each in self.world.conversations.values():
            shown = each.session["usage"]
            counted = used.get(each.id, dict.fromkeys(shown, 0))
            if each.status not in ("running", "waiting") and shown != counted:
                return f"{each.name} shows {shown}, its turns used {counted}"
        return ""

    @abstractmethod
    def pause(self) -> None:
        """Wait for a moment. Raises `InvariantError` if the driven client has exited."""
