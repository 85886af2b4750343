"""Days in local time, to which turns and budgets belong."""

import datetime


def day_of(timestamp: float) -> str:
    """Return the local day of a time in seconds of the epoch: `2026-11-27`."""
    return datetime.datetime.fromtimestamp(timestamp).date().isoformat()
