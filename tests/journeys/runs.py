"""Walks of the state machines: one seed is one journey, and what it found can be walked again."""

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
        # The first example of hypothesis is always the smallest: a journey of no step.
        max_examples=2,
        stateful_step_count=steps,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        verbosity=Verbosity.quiet,
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )


def walk(face: str, seed: int, steps: int, patience: float = PATIENCE) -> list[tuple[str, float]]:
    """The journey of this seed; what was slow in it. Raises what it finds."""
    module = importlib.import_module(f"tests.journeys.{face}_machine")
    machine: Any = type(
        "Machine", (getattr(module, _MACHINES[face]),), {"found": None, "patience": patience}
    )
    try:
        run_state_machine_as_test(seeded(seed)(machine), settings=_settings(steps))
    except Exception as error:
        # Programs that run by themselves are flaky to hypothesis: a session may wait at one time
        # and not at another.
        if machine.found is None and not isinstance(error, Flaky):
            raise
    if machine.found is not None:
        raise machine.found
    return getattr(machine, "slow", [])


def run(face: str, seed: int, *, steps: int, patience: float) -> bool:
    """Walk and tell; whether nothing was found."""
    began = time.monotonic()
    try:
        slow = walk(face, seed, steps, patience)
    except AssertionError as error:
        path = Path(tempfile.gettempdir()) / f"journey-{face}-{seed}.json"
        path.write_text(json.dumps(getattr(error, "steps", [])))
        print(f"seed {seed} found:\n{error}", file=sys.stderr)
        print(f"walk it again: python -m tests.journeys {face} --replay {path}", file=sys.stderr)
        return False
    print(f"seed {seed}: nothing found in {time.monotonic() - began:.0f} s", flush=True)
    if slow:
        name, took = max(slow, key=lambda opened: opened[1])
        print(f"    {len(slow)} sessions were opened slowly; {name} took {took:.1f} s", flush=True)
    return True


def replay(face: str, steps: list[tuple[str, dict[str, Any]]], patience: float = PATIENCE) -> None:
    """Walk the steps that a journey took. Raises what it finds."""
    module = importlib.import_module(f"tests.journeys.{face}_journey")
    made = getattr(module, _JOURNEYS[face])(patience)
    try:
        for name, values in steps:
            made.perform(name, **values)
    finally:
        made.close()
