"""Counts wrong tokens by address, so that guessing them is refused, and cheap to refuse.

A right token is accepted also from an address that guesses: behind a proxy, all share one.
"""

import time
from collections.abc import Callable
from typing import Final

from model.base.errors import SpinneyError

MAX_WRONG: Final = 20
"""Wrong tokens of one address in `WINDOW` seconds."""
WINDOW: Final = 60.0
_MAX_ADDRESSES: Final = 1000


class GuessLimiter:
    """Remembers the wrong tokens of the last minute."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._wrong: dict[str, tuple[float, int]] = {}
        """By address: when its window began, and its wrong tokens since."""

    def note_wrong(self, address: str) -> None:
        """Count a wrong token. Raises `rate_limit_error` if there were too many."""
        now = self._clock()
        since, count = self._wrong.get(address, (now, 0))
        if now - since >= WINDOW:
            since, count = now, 0
        if len(self._wrong) >= _MAX_ADDRESSES and address not in self._wrong:
            self._wrong = {k: each for k, each in self._wrong.items() if now - each[0] < WINDOW}
            if len(self._wrong) >= _MAX_ADDRESSES:
                self._wrong.clear()
        self._wrong[address] = (since, count + 1)
        if count >= MAX_WRONG:
            raise SpinneyError(
                "Too many wrong links or tokens from this address. Try again in a minute.",
                "rate_limit_error",
                retry_after=since + WINDOW - now,
            )
