"""A random order is repeated by its seed, and keeps together what shares what it starts."""

from itertools import pairwise
from types import SimpleNamespace
from typing import Any

from tests.shuffling import shuffle


def shuffle_names(seed: str, *, backwards: bool = False) -> list[str]:
    items: list[Any] = [
        SimpleNamespace(nodeid=f"tests/test_{file}.py::test_{number}")
        for file in "abcdef"
        for number in range(5)
    ]
    shuffle(given := items[::-1] if backwards else items, seed)
    return [item.nodeid for item in given]


def test_the_order_depends_on_the_seed_alone_and_files_stay_together() -> None:
    one = shuffle_names("1")
    assert one == shuffle_names("1", backwards=True) != shuffle_names("2")
    assert sorted(one) != one and len(set(one)) == 30
    files = [name.partition("::")[0] for name in one]
    assert sum(before != after for before, after in pairwise(files)) == 5
