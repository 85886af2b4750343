"""Counted nouns."""

import pytest

from model.base.plural import count


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0 files"), (1, "1 file"), (2, "2 files"), (1000, "1000 files")]
)
def test_only_one_is_singular(number: int, text: str) -> None:
    assert count(number, "file") == text
