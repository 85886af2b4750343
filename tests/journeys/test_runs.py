"""A journey that fails reports its own failure, also if it does not fail when it is repeated."""

from collections.abc import Callable

import pytest

from tests.journeys.ledger import InvariantError
from tests.journeys.runs import walk, walk_in_order

WALKS = {
    "in order": lambda interface: walk_in_order(interface, seed=1),
    "random": lambda interface: walk(interface, seed=1, steps=5),
}


class Journey:
    """Stands for a journey: nothing is ever shown in it, and no step does anything."""

    shown = None
    is_blank = False

    def __init__(self, begin: Callable[[], None], take_step: Callable[[], None]) -> None:
        begin()
        self.harness = self
        self.slow: list[tuple[str, float]] = []
        self._take_step = take_step

    def perform(self, _name: str, **_values: object) -> None:
        self._take_step()

    def close(self) -> None:
        pass


JOURNEYS = (
    "tests.journeys.terminal_machine.TerminalJourney",
    "tests.journeys.page_machine.PageJourney",
)


def fail_at(number: int, error: Exception) -> Callable[[], None]:
    """A function that fails at one of its calls only."""
    errors = {number: error}
    calls = iter(range(1, 10**6))

    def call() -> None:
        if found := errors.get(next(calls)):
            raise found

    return call


@pytest.mark.parametrize("journeys", WALKS)
@pytest.mark.parametrize("interface", ["terminal", "page"])
@pytest.mark.parametrize(
    ("begins", "takes", "failure"),
    [(0, 3, InvariantError("it is lost")), (1, 0, ConnectionError("it does not start"))],
)
def test_what_fails_once_is_reported_as_it_was(
    monkeypatch: pytest.MonkeyPatch,
    journeys: str,
    interface: str,
    begins: int,
    takes: int,
    failure: Exception,
) -> None:
    begin, take_step = fail_at(begins, failure), fail_at(takes, failure)
    for name in JOURNEYS:
        monkeypatch.setattr(name, lambda _patience: Journey(begin, take_step))
    with pytest.raises(type(failure)) as raised:
        WALKS[journeys](interface)
    assert raised.value is failure


@pytest.mark.parametrize("interface", ["terminal", "page"])
def test_steps_that_were_never_possible_are_named(
    monkeypatch: pytest.MonkeyPatch, interface: str
) -> None:
    for name in JOURNEYS:
        monkeypatch.setattr(name, lambda _patience: Journey(lambda: None, lambda: None))
    skipped = walk_in_order(interface, seed=1)
    assert "send" in skipped and "branches_elsewhere" not in skipped
