"""Repeats the look for a newer version while the preference is on."""

import asyncio
from collections.abc import Callable

from model import __version__
from model.service.releases import ReleaseCheck
from model.store.store import Store

CHECK_INTERVAL = 3600.0
"""Seconds after which it is seen that a day has passed, also on a machine that slept."""


async def repeat_release_checks(
    store: Store, check: ReleaseCheck, report: Callable[[str | None], None]
) -> None:
    """Call `report` with each newer version, until canceled; with `None` if it is switched off."""
    is_on, switched = False, asyncio.Event()

    def note_switch() -> None:
        if store.state.preferences.check_for_updates is not is_on:
            switched.set()

    stop_listening = store.bus.listen(note_switch)
    note_switch()
    try:
        while True:
            try:
                async with asyncio.timeout(CHECK_INTERVAL if is_on else None):
                    await switched.wait()
            except TimeoutError:
                pass
            switched.clear()
            is_on = store.state.preferences.check_for_updates
            report(await check.find_newer(__version__) if is_on else None)
    finally:
        stop_listening()
