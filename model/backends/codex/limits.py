"""Parses the usage windows in an `account/rateLimits/updated` of Codex."""

from typing import Final

from model.backends.json_values import Json, as_number, as_object
from model.domain.usage import UsageWindow

_FULL: Final = 100
"""Percent."""


def parse_windows(limits: Json) -> tuple[UsageWindow, ...]:
    """Return the windows of a limit; those that are null are unknown and left out."""
    limit = limits.get("limitId")
    name = limit if isinstance(limit, str) and limit else "codex"
    is_reached = bool(limits.get("rateLimitReachedType"))
    found = {part: limits.get(part) for part in ("primary", "secondary")}
    return tuple(
        _parse_window(f"{name}:{part}", as_object(window), is_reached)
        for part, window in found.items()
        if window is not None
    )


def _parse_window(name: str, window: Json, is_reached: bool) -> UsageWindow:
    percent = as_number(window.get("usedPercent"))
    minutes = as_number(window.get("windowDurationMins"))
    return UsageWindow(
        id=name,
        used=None if percent is None else percent / _FULL,
        resets_at=as_number(window.get("resetsAt")),
        minutes=None if minutes is None else int(minutes),
        reached=is_reached and percent is not None and percent >= _FULL,
    )
