"""Memory that long answers took goes back to the system when they are told.

glibc keeps what is freed for the next time: after two dozen answers of two megabytes, hundreds of
megabytes for good.
"""

import asyncio
from contextlib import suppress
from typing import Final

from model.store.bus import EventBus

ENOUGH: Final = 256 * 1024
"""Bytes of text after whose telling it is worth while."""

SOON: Final = 2.0
"""Seconds until then: a long answer is saved and sent by the time."""

AT_LAST: Final = 40.0
"""Seconds of rest until it is done once more: clients that took nothing have been cut off."""


async def return_freed_memory(bus: EventBus, soon: float = SOON, at_last: float = AT_LAST) -> None:
    """Do so for as long as this runs; nothing where the C library is another one."""
    told, news = bus.sealed_bytes, asyncio.Event()

    def look() -> None:
        if bus.sealed_bytes - told >= ENOUGH:
            news.set()

    end_listening = bus.listen(look)
    try:
        while True:
            await news.wait()
            while news.is_set():
                await asyncio.sleep(soon)
                told = bus.sealed_bytes
                news.clear()
                if not await asyncio.to_thread(trim):
                    return
                with suppress(TimeoutError):
                    async with asyncio.timeout(at_last):
                        await news.wait()
            await asyncio.to_thread(trim)
    finally:
        end_listening()


def trim() -> bool:
    """Have the C library give back all that is free; whether it can."""
    import ctypes  # not at the start, which it would make longer

    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (OSError, AttributeError):
        return False
    return True
