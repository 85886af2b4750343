"""Parses the usage windows in a `rate_limit_event` of Claude Code."""

from typing import Final

from model.backends.json_values import Json, as_number, as_object
from model.domain.usage import UsageWindow

_MAX_WINDOWS: Final = 20
"""More means that the line is broken."""

_MINUTES: Final = {"five_hour": 300, "seven_day": 10_080}
"""By the beginning of the name: there are `seven_day_opus` and others."""


def parse_windows(limit: Json) -> tuple[UsageWindow, ...]:
    """Return the windows of a `rate_limit_info`; none if it has none, as with an API key.

    Only the window that it is about has fields outside `unifiedWindows`, and may be missing there.
    """
    windows = {
        name: as_object(window)
        for name, window in list(as_object(limit.get("unifiedWindows")).items())[:_MAX_WINDOWS]
    }
    name = limit.get("rateLimitType")
    if isinstance(name, str) and name:
        windows[name] = limit | windows.get(name, {})
    return tuple(_parse_window(name, window) for name, window in windows.items())


def _parse_window(name: str, window: Json) -> UsageWindow:
    minutes = (length for begin, length in _MINUTES.items() if name.startswith(begin))
    return UsageWindow(
        id=name,
        used=as_number(window.get("utilization")),
        resets_at=as_number(window.get("resetsAt")),
        minutes=next(minutes, None),
        reached=window.get("status") == "rejected",
    )
