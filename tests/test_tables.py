"""A table tries all of its rows, and names those that fail."""

import inspect

import pytest

from tests.tables import table


async def test_every_row_is_tried_and_those_that_fail_are_named() -> None:
    tried = []

    @table(("number", "word"), [(1, "one"), (2, "two"), (3, "three")])
    async def is_short(number: int, word: str, most: int) -> None:
        tried.append(number)
        with pytest.raises(KeyError):
            raise KeyError if number != 1 else ValueError
        assert len(word) <= most

    assert list(inspect.signature(is_short).parameters) == ["most"]
    with pytest.raises(BaseExceptionGroup, match="2 of 3 rows failed") as failed:
        await is_short(most=3)
    assert tried == [1, 2, 3]
    (first,), (second,) = (error.__notes__ for error in failed.value.exceptions)
    assert "'one'" in first
    assert "'three'" in second


async def test_a_row_that_does_not_raise_what_it_should_fails() -> None:
    @table("number", [1])
    async def raises(number: int) -> None:
        with pytest.raises(KeyError):
            assert number

    with pytest.raises(BaseExceptionGroup, match="1 of 1 rows failed"):
        await raises()


@table("letter", ["a", "b"])
@table("number", [1, 2])
async def test_tables_can_be_combined(tmp_path: object, letter: str, number: int) -> None:
    assert tmp_path
    assert (letter, number) in {("a", 1), ("a", 2), ("b", 1), ("b", 2)}
