"""Functions that wait until the application has done something."""

import asyncio
from collections.abc import Callable
from typing import Final

from textual.pilot import Pilot

from tests.patience import PATIENCE
from tests.tui.fake_client import FakeClient
from tests.tui.reading import screen_text
from tui.shell.app import SpinneyApp

_STILL: Final = 0.6
"""Seconds of the loop's clock; longer than any delay between a key and its effect."""


async def until(pilot: "Pilot[None]", true: Callable[[], object], within: float = PATIENCE) -> None:
    """Wait until a condition holds; fail after `within` seconds of the loop's clock.

    The clock skips what is not worth waiting for (`virtual_loop.py`), so a failure is quick.
    """
    end, step = asyncio.get_running_loop().time() + within, 0.02
    while not true():
        if asyncio.get_running_loop().time() > end:
            shown = screen_text(pilot.app) if pilot.app.is_running else "the application has ended"
            raise AssertionError(f"it did not come:\n{shown}")
        await pilot.pause(step)
        step = min(1.5 * step, 0.1)
    await pilot.pause()


async def until_shown(app: SpinneyApp, pilot: "Pilot[None]", *words: str) -> None:
    """Wait until the screen shows all these words."""
    await until(pilot, lambda: all(word in screen_text(app) for word in words))


async def wait_until_still(pilot: "Pilot[None]") -> None:
    """Wait until the screen no longer changes by itself, but for clocks."""
    await pilot.pause(_STILL)


def settled(client: FakeClient) -> bool:
    """Whether all updates of the client have been consumed."""
    return client._updates.empty() and bool(client.called("get_http_server_status"))
