"""An application whose client connects when a test lets it, on the file of its last screen."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from tests.tui.builders import a_message
from tests.tui.fake_client import FakeClient, a_client
from tests.tui.reading import screen_text
from tests.tui.virtual_loop import Gate
from tests.tui.waiting import settled, until
from tui.shell.app import SpinneyApp

Started = tuple[SpinneyApp, "Pilot[None]", Gate]


class DelayedConnection:
    """Connects to a client once `may_connect` is set."""

    def __init__(self, client: FakeClient) -> None:
        self.client = client
        self.may_connect = Gate()

    def connect(self) -> FakeClient:
        assert self.may_connect.wait()
        return self.client


@asynccontextmanager
async def start_app(
    client: FakeClient, file: Path, *, size: tuple[int, int] = (120, 30), **given: Any
) -> AsyncIterator[Started]:
    connection = DelayedConnection(client)
    app = SpinneyApp(connection.connect, data=file.parent, environ={}, **given)
    try:
        async with app.run_test(size=size) as pilot:
            yield app, pilot, connection.may_connect
    finally:
        connection.may_connect.set()


def client_with_conversation(*more: Any, **session: Any) -> FakeClient:
    """A client with one message in its session."""
    client = a_client(*more, **session)
    client.messages["s1"] = [a_message("why does it drop the last row")]
    return client


async def run_once(file: Path, client: FakeClient | None = None) -> None:
    """Run and quit Spinney once, so that the file holds the screen with the session."""
    client = client or client_with_conversation()
    async with start_app(client, file) as (app, pilot, may_connect):
        may_connect.set()
        await until(pilot, lambda: app.main.is_connected and settled(client))
        await until(pilot, lambda: "drop the last row" in screen_text(app))
        app.exit()


async def finish_connecting(app: SpinneyApp, pilot: "Pilot[None]", may_connect: Gate) -> None:
    may_connect.set()
    await until(pilot, lambda: app.main.is_connected and app.main.state.projects)
