"""Runs the tests in a random order: `SPINNEY_TESTS_ORDER=SEED` is the seed, printed at both ends.

The files are shuffled, and the tests of each; those that share what they start stay together.
"""

import os
from collections import defaultdict
from random import Random
from typing import Final

import pytest

from tests.together import unit_of

_SEED: Final = os.environ.get("SPINNEY_TESTS_ORDER", "")
_REPEAT: Final = f"random order: SPINNEY_TESTS_ORDER={_SEED} repeats it"


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Shuffle them, in each worker alike."""
    if _SEED:
        shuffle(items, _SEED)


def shuffle(items: list[pytest.Item], seed: str) -> None:
    """Shuffle the files and the tests of each, in place."""
    random = Random(seed)
    units: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in sorted(items, key=lambda item: item.nodeid):
        units[unit_of(item.nodeid)].append(item)
    order = list(units.values())
    random.shuffle(order)
    for unit in order:
        random.shuffle(unit)
    items[:] = [item for unit in order for item in unit]


def pytest_report_header() -> list[str]:
    """Say how the order is repeated, before the first test."""
    return [_REPEAT] if _SEED else []


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say it again at the end."""
    if _SEED:
        terminalreporter.write_line(_REPEAT)
