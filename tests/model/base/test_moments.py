"""Moments as people write them."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from model.base.errors import SpinneyError
from model.base.moments import parse_moment

BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 3, 28, 17, 30, tzinfo=BERLIN).timestamp()
"""The evening before the clocks go forward."""


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("18:00", "2026-03-28 18:00+01:00"),
        ("at 6pm", "2026-03-28 18:00+01:00"),
        ("6:05 PM", "2026-03-28 18:05+01:00"),
        ("17:00", "2026-03-29 17:00+02:00"),
        ("2:30", "2026-03-29 03:30+02:00"),
        ("tomorrow", "2026-03-29 09:00+02:00"),
        ("tomorrow at 8:15", "2026-03-29 08:15+02:00"),
        ("today 23:59", "2026-03-28 23:59+01:00"),
        ("2026-04-01 07:00", "2026-04-01 07:00+02:00"),
        ("2026-04-01T07:00Z", "2026-04-01 07:00+00:00"),
        ("in 2 h", "2026-03-28 19:30+01:00"),
        ("1h30m", "2026-03-28 19:00+01:00"),
        ("in 90 minutes", "2026-03-28 19:00+01:00"),
        ("today 9:00", "2026-03-28 17:30+01:00"),
        ("now", "2026-03-28 17:30+01:00"),
    ],
)
def test_a_moment_is_the_next_one_in_local_time(text: str, moment: str) -> None:
    assert parse_moment(text, NOW, BERLIN) == datetime.fromisoformat(moment).timestamp()


@pytest.mark.parametrize(
    "text",
    ["", "soon", "25:00", "12", "6:5", "13pm", "2 x", "h", "9" * 50, "١٢:٠٠", "9999999999999 d"],
)
def test_anything_else_is_refused_with_examples(text: str) -> None:
    with pytest.raises(SpinneyError, match=r"is not a time|more than a year"):
        parse_moment(text, NOW, BERLIN)
