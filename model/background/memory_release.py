"""Returns the memory that long messages used to the system once they have been published.

glibc keeps freed memory for later use: after two dozen messages of two megabytes, hundreds of
megabytes permanently.
"""

import asyncio
from contextlib import suppress
from typing import Final

from model.store.bus import EventBus

MIN_BYTES: Final = 256 * 1024
"""Bytes of published text after which a release is worthwhile."""

DELAY: Final = 2.0
"""Seconds until the release, and until the one after it: a long message has been saved and sent by
then.
"""

FINAL_DELAY: Final = 40.0
"""Idle seconds until the last release: clients that read nothing have been disconnected by then."""


async def return_freed_memory(
    bus: EventBus, delay: float = DELAY, final_delay: float = FINAL_DELAY
) -> None:
    """Release memory until canceled; return at once if the C library does not support it."""
    released_at, is_due = bus.sealed_bytes, asyncio.Event()

    def check() -> None:
        if bus.sealed_bytes - released_at >= MIN_BYTES:
            is_due.set()

    stop_listening = bus.listen(check)
    try:
        while True:
            await is_due.wait()
            while is_due.is_set():
                await asyncio.sleep(delay)
                released_at = bus.sealed_bytes
                is_due.clear()
                if not await asyncio.to_thread(trim):
                    return
                await asyncio.sleep(delay)
                # The message may have ended since, with too little text to be noticed.
                await asyncio.to_thread(trim)
                with suppress(TimeoutError):
                    async with asyncio.timeout(final_delay):
                        await is_due.wait()
            await asyncio.to_thread(trim)
    finally:
        stop_listening()


def trim() -> bool:
    """Make the C library return all free memory to the system; return whether it can."""
    import ctypes  # imported late: it would delay startup

    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (OSError, AttributeError):
        return False
    return True
