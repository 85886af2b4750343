"""Quiet hours: a span of local time in which nothing is sent, such as `22:00-07:00`."""

from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

_DAYS = 3
"""Days among which the next end is looked for; daylight saving moves it by an hour at most."""


@dataclass(frozen=True, slots=True)
class QuietHours:
    """A daily span of local time; it may go over midnight.

    Args:
        start: Minutes since midnight.
        end: Minutes since midnight; nothing is quiet if it equals `start`.
        zone: The time zone; `None` is that of this machine.
    """

    start: int
    end: int
    zone: tzinfo | None = None

    def contains(self, now: float) -> bool:
        """Whether the time `now`, in seconds since 1970, is in the span."""
        moment = datetime.fromtimestamp(now, self.zone)
        minute = 60 * moment.hour + moment.minute
        if self.start <= self.end:
            return self.start <= minute < self.end
        return minute >= self.start or minute < self.end

    def find_end(self, now: float) -> float:
        """Return when the span that contains `now` ends, in seconds since 1970."""
        today = datetime.fromtimestamp(now, self.zone).replace(
            hour=self.end // 60, minute=self.end % 60, second=0, microsecond=0, fold=0
        )
        # In local time, where a day may have 23 or 25 hours.
        ends = [(today + timedelta(days=day)).timestamp() for day in range(-1, _DAYS)]
        return next(end for end in ends if end > now)


def parse_quiet_hours(text: str, zone: tzinfo | None = None) -> QuietHours | None:
    """Parse `HH:MM-HH:MM`; `None` for an empty text. The preference is checked when it is set."""
    if not text:
        return None
    start, _, end = text.partition("-")
    return QuietHours(_minutes(start), _minutes(end), zone)


def _minutes(text: str) -> int:
    hours, _, minutes = text.partition(":")
    return 60 * int(hours) + int(minutes)
