"""JSON that Python's module takes and no other parser does."""

import math

import pytest

from model.base.errors import SpinneyError
from model.base.strict_json import dump_json, parse_json


def nest(depth: int) -> object:
    value: object = 0
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("NaN", "not finite"),
        ('{"a": [-Infinity]}', "not finite"),
        ("1e400", "not finite"),
        ("9" * 5000, "too long"),
        ("[" * 100_000, "nested too deeply"),
        ("{", "Expecting property name"),
    ],
)
def test_what_is_not_json_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        parse_json(text)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (math.nan, "not finite"),
        ({"a": [math.inf]}, "not finite"),
        (nest(100_000), "nested too deeply"),
    ],
)
def test_what_json_cannot_express_is_not_serialized(value: object, reason: str) -> None:
    with pytest.raises(SpinneyError, match=reason):
        dump_json(value)


def test_everything_else_is_read_as_it_was_written() -> None:
    value = {"a": [1, -2.5, 1e300, None, True, "NaN"], "ü": {}}
    assert parse_json(dump_json(value)) == value
