"""Days in local time, to which turns and budgets belong."""

import datetime


def day_of(timestamp: float) -> str:
    """Return the local day of a time in seconds of the epoch: `2026-11-27`."""
    return datetime.datetime.fromtimestamp(timestamp).date().isoformat()


def start_of_next_day(timestamp: float) -> float:
    """Return when the local day of this time ends; days of a clock change are 23 or 25 hours."""
    day = datetime.datetime.fromtimestamp(timestamp).date() + datetime.timedelta(days=1)
    return datetime.datetime.combine(day, datetime.time.min).timestamp()
