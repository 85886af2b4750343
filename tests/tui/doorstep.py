"""A terminal whose client comes when the test says so, on the file of its last screen."""

import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from tests.patience import PATIENCE
from tests.tui.conftest import settled, until
from tests.tui.fake_client import FakeClient, a_message, a_project, a_session, a_state, a_worktree
from tui.shell.app import SpinneyApp

Started = tuple[SpinneyApp, "Pilot[None]", threading.Event]


class Doorstep:
    """A way to a client that opens when the test says so."""

    def __init__(self, client: FakeClient) -> None:
        self.client = client
        self.opens = threading.Event()

    def connect(self) -> FakeClient:
        assert self.opens.wait(PATIENCE)
        return self.client


@asynccontextmanager
async def started(
    client: FakeClient, file: Path, *, size: tuple[int, int] = (120, 40), **given: Any
) -> AsyncIterator[Started]:
    door = Doorstep(client)
    app = SpinneyApp(door.connect, data=file.parent, environ={}, **given)
    try:
        async with app.run_test(size=size) as pilot:
            yield app, pilot, door.opens
    finally:
        door.opens.set()


def a_client(*more: Any, **session: Any) -> FakeClient:
    state = a_state(a_project(), a_worktree(), a_session(**session), *more)
    client = FakeClient(state)
    client.messages["s1"] = [a_message("why does it drop the last row")]
    return client


async def seen_once(file: Path, client: FakeClient | None = None) -> None:
    """Spinney was here: it opened the session and was left."""
    client = client or a_client()
    async with started(client, file) as (app, pilot, opens):
        opens.set()
        await until(pilot, lambda: app.main.is_connected and settled(client))
        await until(pilot, lambda: "drop the last row" in screen_of(app))
        app.exit()


def screen_of(app: SpinneyApp) -> str:
    strips = app.screen._compositor.render_strips(app.screen.size)
    return "\n".join("".join(segment.text for segment in strip) for strip in strips)


async def ready(app: SpinneyApp, pilot: "Pilot[None]", opens: threading.Event) -> None:
    opens.set()
    await until(pilot, lambda: app.main.is_connected and app.main.state.projects)
