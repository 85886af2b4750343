"""Journeys on the terminal: recorded ones that once failed, and a random one."""

import json
from pathlib import Path

import pytest

from tests.journeys.runs import replay, walk

RECORDED = sorted((Path(__file__).parent / "found").glob("*.json"))


@pytest.mark.core
@pytest.mark.few(1)
@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_recorded_failures_do_not_recur(path: Path) -> None:
    replay("terminal", json.loads(path.read_text()))


@pytest.mark.longer
@pytest.mark.parametrize("seed", [2000])
def test_random_journey_keeps_all_invariants(seed: int) -> None:
    walk("terminal", seed, steps=10)
