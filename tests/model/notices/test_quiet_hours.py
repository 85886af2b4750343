"""Quiet hours are local time: over midnight, and on days of 23 and 25 hours."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from model.notices.quiet_hours import QuietHours, parse_quiet_hours

BERLIN = ZoneInfo("Europe/Berlin")


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=BERLIN).timestamp()


def parse(text: str) -> QuietHours:
    parsed = parse_quiet_hours(text, BERLIN)
    assert parsed is not None
    return parsed


@pytest.mark.parametrize(
    ("hours", "inside", "outside"),
    [
        ("22:00-07:00", ("22:00", "23:59", "00:00", "06:59"), ("21:59", "07:00", "12:00")),
        ("12:30-13:00", ("12:30", "12:59"), ("12:29", "13:00", "00:00")),
        ("08:00-08:00", (), ("08:00", "07:59", "20:00")),
    ],
)
def test_a_span_has_its_begin_and_not_its_end(
    hours: str, inside: tuple[str, ...], outside: tuple[str, ...]
) -> None:
    quiet = parse(hours)
    assert all(quiet.contains(at(f"2026-01-15 {time}")) for time in inside)
    assert not any(quiet.contains(at(f"2026-01-15 {time}")) for time in outside)
    assert parse_quiet_hours("") is None


@pytest.mark.parametrize(
    ("now", "end", "hours"),
    [
        ("2026-01-15 23:00", "2026-01-16 07:00", 8),
        ("2026-01-16 03:00", "2026-01-16 07:00", 4),
        ("2026-03-28 23:00", "2026-03-29 07:00", 7),  # the clock is put forward at 2
        ("2026-10-24 23:00", "2026-10-25 07:00", 9),  # the clock is put back at 3
    ],
)
def test_the_end_is_the_next_one_also_when_the_clock_changes(
    now: str, end: str, hours: int
) -> None:
    found = parse("22:00-07:00").find_end(at(now))
    assert found == at(end) and found - at(now) == hours * 3600


def test_an_end_in_the_hour_that_does_not_exist_is_found() -> None:
    quiet = parse("22:00-02:30")
    end = quiet.find_end(at("2026-03-28 23:00"))
    assert 0 < end - at("2026-03-28 23:00") <= 5 * 3600
    assert not quiet.contains(end)
