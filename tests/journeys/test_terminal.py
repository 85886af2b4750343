"""Journeys on the terminal that are walked each time: what was found once, and some at random."""

import json
from pathlib import Path

import pytest

from tests.journeys.runs import replay, walk

FOUND = sorted((Path(__file__).parent / "found").glob("*.json"))


@pytest.mark.few(1)
@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.stem)
def test_what_a_journey_found_is_found_no_more(path: Path) -> None:
    replay("terminal", json.loads(path.read_text()))


@pytest.mark.parametrize("seed", [2000])
def test_a_journey_finds_everything_as_it_must_be(seed: int) -> None:
    walk("terminal", seed, steps=10)
