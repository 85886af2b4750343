"""What a provider would report to the demo agent: prices, usage windows and errors.

Standard library only; part of the demo agent's program.
"""

import time
from typing import Any, Final

PRICE: Final = 0.001
"""Dollars for each word, read or written. They are not paid."""


class ProviderError(Exception):
    """Fails the turn like an error of a real provider."""

    def __init__(
        self,
        error: str,
        error_type: str,
        limit: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(error)
        self.fields = {
            "error": error,
            "error_type": error_type,
            "limit": limit,
            "retry_after": retry_after,
        }


def make_window(argument: str) -> dict[str, Any]:
    """Return the message about a window of five hours, from `PERCENT MINUTES`."""
    percent, _, minutes = argument.partition(" ")
    used, rest = float(percent), float(minutes or 60)
    window = {"id": "five_hour", "used": used / 100, "minutes": 300, "reached": used >= 100}
    return {"type": "limits", "windows": [{**window, "resets_at": time.time() + 60 * rest}]}
