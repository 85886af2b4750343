"""Moments as people write them: `18:00`, `in 2 h`, `tomorrow 9:00`, `2026-05-01 18:00`.

Local times are those of this machine, unless a time zone is given. Where daylight saving skips an
hour, a time in it is taken as that much later; where it repeats one, the first is meant.
"""

import time
from datetime import datetime, timedelta, tzinfo
from typing import Final

from model.base.errors import SpinneyError
from model.base.text import make_visible

MAX_LENGTH: Final = 40
"""Characters of a moment; anything longer is none."""
LATEST: Final = 366 * 86_400.0
"""Seconds; the farthest moment from now."""

_UNITS: Final = {
    "s": 1, "sec": 1, "second": 1, "seconds": 1,
    "m": 60, "min": 60, "mins": 60, "minute": 60, "minutes": 60,
    "h": 3600, "hr": 3600, "hour": 3600, "hours": 3600,
    "d": 86_400, "day": 86_400, "days": 86_400,
}  # fmt: skip


def parse_moment(text: str, now: float, zone: tzinfo | None = None) -> float:
    """Return the moment in seconds since 1970. Raises `invalid_request` if it is none.

    A time of day is the next one. A duration counts from `now`.
    """
    words = text.lower().replace(",", " ").split() if len(text) <= MAX_LENGTH else []
    if words and words[0] in ("at", "in"):
        words = words[1:]
    if len(words) > 1 and words[-1] in ("am", "pm"):
        words[-2:] = ["".join(words[-2:])]
    if words == ["now"]:
        return now
    moment = _parse_duration(words, now) or _parse_date(words, now, zone)
    if moment is None:
        shown = make_visible(text[:MAX_LENGTH])
        raise SpinneyError(
            f"'{shown}' is not a time. Write it as 18:00, tomorrow 9:00, 2026-05-01 18:00 or"
            " 2h 30m."
        )
    return check_moment(moment, now)


def check_moment(moment: float, now: float) -> float:
    """Return a moment that is not in the past, or `now`. Raises `invalid_request` if it is far."""
    if not moment - now <= LATEST:  # also not a number
        raise SpinneyError("This time is more than a year away.")
    return max(moment, now)


def format_moment(moment: float, now: float, *, seconds: bool = False) -> str:
    """Return the local time: `18:00` today, else with its date, `Mon 3 May 18:00`."""
    then = time.localtime(moment)
    time_of_day = time.strftime("%H:%M:%S" if seconds else "%H:%M", then)
    if then[:3] == time.localtime(now)[:3]:
        return time_of_day
    return f"{time.strftime('%a', then)} {then.tm_mday} {time.strftime('%b', then)} {time_of_day}"


def _parse_duration(words: list[str], now: float) -> float | None:
    """Parse `2h`, `2 h`, `1h30m` or `90 minutes`."""
    seconds, number, unit = 0.0, "", ""
    for character in "".join(words) + "\0":
        if character.isascii() and (character.isdigit() or character == "."):
            if unit:
                if (part := _parse_part(number, unit)) is None:
                    return None
                seconds, number, unit = seconds + part, "", ""
            number += character
        else:
            unit += character
    part = _parse_part(number, unit.removesuffix("\0"))
    return None if part is None else now + seconds + part


def _parse_part(number: str, unit: str) -> float | None:
    try:
        return float(number) * _UNITS[unit]
    except (KeyError, ValueError):
        return None


def _parse_date(words: list[str], now: float, zone: tzinfo | None) -> float | None:
    today = datetime.fromtimestamp(now, zone).replace(tzinfo=None)
    match words:
        case [clock] if (at := _parse_clock(clock)) is not None:
            moment = _to_seconds(_at_clock(today, at), zone)
            return moment if moment > now else _to_seconds(_next_day(today, at), zone)
        case ["today", clock] if (at := _parse_clock(clock)) is not None:
            return _to_seconds(_at_clock(today, at), zone)
        case ["tomorrow", *rest]:
            clock = rest[0] if rest and rest[0] != "at" else rest[1] if len(rest) == 2 else "9:00"
            at = _parse_clock(clock)
            return None if at is None else _to_seconds(_next_day(today, at), zone)
    try:
        written = datetime.fromisoformat(" ".join(words).upper())
    except ValueError:
        return None
    return written.timestamp() if written.tzinfo else _to_seconds(written, zone)


def _parse_clock(text: str) -> tuple[int, int] | None:
    """Parse `18:00`, `9:05`, `6pm` or `6:30pm`."""
    half = {"am": 0, "pm": 12}.get(text[-2:])
    hours, colon, minutes = text.removesuffix("am").removesuffix("pm").partition(":")
    is_clock = hours.isascii() and hours.isdigit() and len(hours) <= 2
    if not is_clock or not (colon or half is not None):
        return None
    if colon and not (minutes.isascii() and minutes.isdigit() and len(minutes) == 2):
        return None
    hour, minute = int(hours), int(minutes or 0)
    if half is not None:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + half
    return (hour, minute) if hour < 24 and minute < 60 else None


def _at_clock(day: datetime, at: tuple[int, int]) -> datetime:
    return day.replace(hour=at[0], minute=at[1], second=0, microsecond=0)


def _next_day(day: datetime, at: tuple[int, int]) -> datetime:
    return _at_clock(day + timedelta(days=1), at)


def _to_seconds(local: datetime, zone: tzinfo | None) -> float:
    return local.replace(tzinfo=zone).timestamp()
