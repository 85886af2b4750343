"""Measures how a function's CPU time grows with the length of its text."""

import time
from collections.abc import Callable
from typing import Final

SIZES: Final = (1_000, 4_000, 16_000)
"""Characters. Larger sizes are skipped once a size is slow enough to measure."""
MIN_SECONDS: Final = 0.01
"""Seconds of CPU time from which times are compared.

A function that needs less for 16,000 characters is linear: quadratic time would be 128 million
steps.
"""
FACTOR: Final = 4
"""How much longer one text is than the other."""
MAX_GROWTH: Final = 8.0
"""Four times the text takes 4 times the time if it is linear, and 16 times if it is quadratic."""
_ATTEMPTS: Final = 9


def measure_growth(
    read: Callable[[str], object], write: Callable[[int], str], sizes: tuple[int, ...] = SIZES
) -> float:
    """The ratio of the times for a text and for a fourth of it; 1 if even the longest is fast.

    Args:
        read: The function that is measured.
        write: Makes a text of about the given number of characters.
        sizes: The lengths of the texts; the next one is tried if the function was fast.
    """
    for size in sizes:
        text = write(size)
        if _seconds(read, text) >= MIN_SECONDS:
            return _compare(read, text, write(size // FACTOR))
    return 1.0


def _compare(read: Callable[[str], object], text: str, part: str) -> float:
    """Compare the shortest of several attempts: on a busy machine, some take longer."""
    long, short = [_seconds(read, text)], [_seconds(read, part)]
    while min(long) / min(short) > MAX_GROWTH and len(long) < _ATTEMPTS:
        long.append(_seconds(read, text))
        short.append(_seconds(read, part))
    return min(long) / min(short)


def _seconds(read: Callable[[str], object], text: str) -> float:
    begun = time.thread_time()
    read(text)
    return max(time.thread_time() - begun, 1e-9)
