"""Journeys on the terminal that are walked each time: the same steps for the same seed."""

import pytest

from tests.journeys.runs import walk


@pytest.mark.parametrize("seed", [1, 2])
def test_a_journey_finds_everything_as_it_must_be(seed: int) -> None:
    walk("terminal", seed, steps=30)
