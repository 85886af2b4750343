"""Runs the state machines: a journey for each seed, and replays of journeys that failed."""

import importlib
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis import seed as seeded
from hypothesis import strategies as st
from hypothesis.errors import Flaky
from hypothesis.stateful import run_state_machine_as_test

from tests.patience import PATIENCE

_MACHINES = {"terminal": "TerminalMachine", "page": "PageMachine"}
_JOURNEYS = {"terminal": "TerminalJourney", "page": "PageJourney"}


def _settings(steps: int) -> settings:
    return settings(
        # Hypothesis's first example is always the smallest one: a journey without steps.
        max_examples=2,
        stateful_step_count=steps,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        verbosity=Verbosity.quiet,
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )


def walk(
    interface: str, seed: int, steps: int, patience: float = PATIENCE
) -> list[tuple[str, float]]:
    """Run the journey of this seed and return the sessions that opened slowly.

    Raises `InvariantError` if an invariant does not hold.
    """
    _, machine = _load_machine(interface, patience)
    with _first_failure_of(machine):
        run_state_machine_as_test(seeded(seed)(machine), settings=_settings(steps))
    return getattr(machine, "slow", [])


def walk_in_order(interface: str, seed: int, patience: float = PATIENCE) -> list[str]:
    """Take each step of the machine once, in its order; return the names of those not possible.

    Random journeys reach some steps seldom, and find late that one fails each time. Raises
    `InvariantError` if an invariant does not hold.
    """
    module, machine_class = _load_machine(interface, patience)
    ahead = list(module.STEPS)

    @seeded(seed)
    @_settings(1)
    @given(st.data())
    def take_all(data: st.DataObject) -> None:
        if not data.draw(st.integers(0, 2**32)):
            return  # The smallest example has only the first value of each argument.
        machine = machine_class()
        if screens := getattr(module, "SCREENS", None):
            machine.choose_screen(data.draw(st.sampled_from(sorted(screens))))
        try:
            for step in [*ahead, *ahead]:  # twice: what is not possible early may be so at the end
                if step not in ahead:
                    continue
                machine.enable(step.when)
                if machine.is_possible(step.when):
                    ahead.remove(step)
                    machine.take(step, data.draw(st.fixed_dictionaries(step.values)))
        finally:
            machine.teardown()

    with _first_failure_of(machine_class):
        take_all()
    return [step.name for step in ahead]


def _load_machine(interface: str, patience: float) -> tuple[Any, Any]:
    """Return the module of an interface's machine, and a class of it for one journey."""
    module = importlib.import_module(f"tests.journeys.{interface}_machine")
    base = getattr(module, _MACHINES[interface])
    return module, type("Machine", (base,), {"failure": None, "patience": patience})


@contextmanager
def _first_failure_of(machine: Any) -> Iterator[None]:
    """Raise the failure of the machine's first journey, if that is why hypothesis ends."""
    try:
        yield
    except Exception as error:
        # Hypothesis calls a run flaky if it differs the second time. Here it may: agents work in
        # the background, so a session may be waiting in one run and not in the other, and what was
        # taken in order is no longer ahead.
        if machine.failure is None and not isinstance(error, Flaky):
            raise
    if machine.failure is not None:
        raise machine.failure


def run(interface: str, seed: int, *, steps: int, patience: float) -> bool:
    """Run a journey and print its result. Return whether all invariants held."""
    return _run(interface, f"seed {seed}", lambda: walk(interface, seed, steps, patience))


def run_in_order(interface: str, seed: int, patience: float) -> bool:
    """Take each step once and print the result. Return whether all were possible and held."""
    skipped: list[str] = []

    def walk_all() -> list[tuple[str, float]]:
        skipped.extend(walk_in_order(interface, seed, patience))
        return []

    passed = _run(interface, f"each step, seed {seed}", walk_all)
    if skipped:
        print(f"steps that were never possible: {', '.join(skipped)}", file=sys.stderr)
    return passed and not skipped


def _run(interface: str, name: str, walk: Callable[[], list[tuple[str, float]]]) -> bool:
    began = time.monotonic()
    try:
        slow = walk()
    except AssertionError as error:
        file = f"journey-{interface}-{name.replace(', ', '-').replace(' ', '-')}.json"
        path = Path(tempfile.gettempdir()) / file
        path.write_text(json.dumps(getattr(error, "steps", [])))
        print(f"{name} failed:\n{error}", file=sys.stderr)
        print(f"replay it: python -m tests.journeys {interface} --replay {path}", file=sys.stderr)
        return False
    print(f"{name}: passed in {time.monotonic() - began:.0f} s", flush=True)
    if slow:
        name, took = max(slow, key=lambda opened: opened[1])
        print(f"    {len(slow)} sessions opened slowly; {name} took {took:.1f} s", flush=True)
    return True


def replay(
    interface: str, steps: list[tuple[str, dict[str, Any]]], patience: float = PATIENCE
) -> None:
    """Repeat the recorded steps of a journey. Raises `InvariantError` like `walk`."""
    module = importlib.import_module(f"tests.journeys.{interface}_journey")
    journey = getattr(module, _JOURNEYS[interface])(patience)
    try:
        for name, values in steps:
            journey.perform(name, **values)
    finally:
        journey.close()
