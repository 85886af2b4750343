"""Numbers, sizes, ages and durations in as few characters as possible."""

from typing import Final

_UNITS: Final = ((7 * 86_400, "w"), (86_400, "d"), (3_600, "h"), (60, "m"))


def format_duration(seconds: float) -> str:
    """Return the largest whole unit: `40s`, `5m`, `3h`, `2d`, `4w`."""
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{int(seconds // size)}{unit}"
    return f"{max(0, int(seconds))}s"


def format_age(then: float, now: float) -> str:
    """Return how long ago that was: `now` for less than a minute, then as durations."""
    return format_duration(now - then) if now - then >= 60 else "now"


def format_number(number: int) -> str:
    """Return `950`, `12.4k` or `1.2M`."""
    if number < 1000:
        return str(number)
    if number < 999_950:
        return f"{number / 1000:.1f}k"
    return f"{number / 1_000_000:.1f}M"


def format_size(size: int) -> str:
    """Return a number of bytes as `950 B`, `12 kB`, `1.2 MB` or `3.4 GB`."""
    for unit, length, digits in (("GB", 1e9, 1), ("MB", 1e6, 1), ("kB", 1e3, 0)):
        if size >= length:
            return f"{size / length:.{digits}f} {unit}"
    return f"{size} B"


def format_cost(usd: float | None, *, is_estimated: bool = False, is_partial: bool = False) -> str:
    """Return a cost in dollars: `$1.23`, `~$1.23` if estimated, `$1.23+` if more is unknown."""
    if usd is None:
        return "unknown"
    dollars = f"{usd:,.2f}" if usd < 1000 else f"{usd:,.0f}"
    amount = "<$0.01" if 0 < usd < 0.005 else f"${dollars}"
    return f"{'~' if is_estimated else ''}{amount}{'+' if is_partial else ''}"
