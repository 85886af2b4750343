"""How the work of a reader grows with its text, by the time of this thread's processor alone."""

import time
from collections.abc import Callable
from typing import Final

SIZES: Final = (1_000, 4_000, 16_000)
"""Characters; where a small one shows already that a reader is slow, the next may take minutes."""
ENOUGH: Final = 0.01
"""Seconds of the processor from which times are compared; who needs less for 16,000 characters goes
through them once, for going back and forth would be 128 million steps."""
MOST: Final = 3.0
"""Twice the text is twice the work; going back and forth would make it four times as much."""
_ATTEMPTS: Final = 5


def growth(
    read: Callable[[str], object], write: Callable[[int], str], sizes: tuple[int, ...] = SIZES
) -> float:
    """How much more work twice the text is; 1 where even the longest is read at once.

    Args:
        read: What is measured.
        write: Makes a text of about so many characters.
        sizes: How long the texts are; the next is tried where one was read at once.
    """
    for size in sizes:
        text = write(size)
        if _seconds(read, text) >= ENOUGH:
            return _compared(read, text, write(size // 2))
    return 1.0


def _compared(read: Callable[[str], object], text: str, half: str) -> float:
    """The least of some attempts, for a busy machine makes any of them longer."""
    long, short = [_seconds(read, text)], [_seconds(read, half)]
    while min(long) / min(short) > MOST and len(long) < _ATTEMPTS:
        long.append(_seconds(read, text))
        short.append(_seconds(read, half))
    return min(long) / min(short)


def _seconds(read: Callable[[str], object], text: str) -> float:
    begun = time.thread_time()
    read(text)
    return max(time.thread_time() - begun, 1e-9)
