"""Functions that wait until the application has done something."""

import asyncio
from collections.abc import Callable
from typing import Any

from textual.pilot import Pilot

from tests.patience import PATIENCE
from tests.tui.fake_client import FakeClient
from tests.tui.reading import screen_rows, screen_text
from tui.shell.app import SpinneyApp


async def until(pilot: "Pilot[None]", true: Callable[[], object], within: float = PATIENCE) -> None:
    """Wait until a condition holds; fail after `within` seconds of the loop's clock.

    The clock skips what is not worth waiting for (`virtual_loop.py`), so a failure is quick.
    """
    end = asyncio.get_running_loop().time() + within
    while not true():
        if asyncio.get_running_loop().time() > end:
            shown = screen_text(pilot.app) if pilot.app.is_running else "the application has ended"
            raise AssertionError(f"it did not come:\n{shown}")
        await pilot.pause(0.02)
    await pilot.pause()


async def until_shown(app: SpinneyApp, pilot: "Pilot[None]", *words: str) -> None:
    """Wait until the screen shows all these words."""
    await until(pilot, lambda: all(word in screen_text(app) for word in words))


async def wait_until_still(app: SpinneyApp, pilot: "Pilot[None]") -> None:
    """Wait until the screen is equal twice in a row."""
    before: list[Any] = []
    while True:
        await pilot.pause(0.05)
        now = screen_rows(app)
        if now == before:
            return
        before = now


def settled(client: FakeClient) -> bool:
    """Whether all updates of the client have been consumed."""
    return client._updates.empty() and bool(client.called("get_http_server_status"))
