"""Runs the state machines: a journey for each seed, and replays of journeys that failed."""

import importlib
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, Verbosity, settings
from hypothesis import seed as seeded
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
    module = importlib.import_module(f"tests.journeys.{interface}_machine")
    machine: Any = type(
        "Machine", (getattr(module, _MACHINES[interface]),), {"failure": None, "patience": patience}
    )
    try:
        run_state_machine_as_test(seeded(seed)(machine), settings=_settings(steps))
    except Exception as error:
        # Hypothesis calls a run flaky if it differs the second time. Here it may: agents work in
        # the background, so a session may be waiting in one run and not in the other.
        if machine.failure is None and not isinstance(error, Flaky):
            raise
    if machine.failure is not None:
        raise machine.failure
    return getattr(machine, "slow", [])


def run(interface: str, seed: int, *, steps: int, patience: float) -> bool:
    """Run a journey and print its result. Return whether all invariants held."""
    began = time.monotonic()
    try:
        slow = walk(interface, seed, steps, patience)
    except AssertionError as error:
        path = Path(tempfile.gettempdir()) / f"journey-{interface}-{seed}.json"
        path.write_text(json.dumps(getattr(error, "steps", [])))
        print(f"seed {seed} failed:\n{error}", file=sys.stderr)
        print(f"replay it: python -m tests.journeys {interface} --replay {path}", file=sys.stderr)
        return False
    print(f"seed {seed}: passed in {time.monotonic() - began:.0f} s", flush=True)
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
