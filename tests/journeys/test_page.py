"""Random journeys on the page."""

import pytest

from tests.journeys.runs import walk


@pytest.mark.longer
@pytest.mark.parametrize("seed", [1004, 1010])
def test_random_journey_keeps_all_invariants(seed: int) -> None:
    walk("page", seed, steps=20)
