"""Journeys on the page that are walked each time, at random."""

import pytest

from tests.journeys.runs import walk


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", [1004, 1010])
def test_a_journey_finds_everything_as_it_must_be(seed: int) -> None:
    walk("page", seed, steps=20)
