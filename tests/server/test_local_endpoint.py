"""The way in for this user's other terminals, and how long a Spinney without a screen stays."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from model.api.server import get_http_server_token, stop_spinney
from model.base.errors import SpinneyError
from model.client.base import Loaded
from model.client.remote import RemoteClient
from model.domain.events import SessionUpdated
from model.domain.resources import Session
from model.runtime.workspace import Workspace
from server.engine import is_busy, wait_idle
from server.local_endpoint import LocalEndpoint
from tests.patience import PATIENCE


@pytest.fixture
async def door(workspace: Workspace) -> AsyncIterator[LocalEndpoint]:
    door = LocalEndpoint(workspace)
    yield door
    await door.close()


async def test_who_knocks_is_let_in_with_the_token_alone_and_may_do_what_a_terminal_may(
    workspace: Workspace, door: LocalEndpoint
) -> None:
    port, token = door.open()
    client = RemoteClient(f"http://127.0.0.1:{port}", token)
    stranger = RemoteClient(f"http://127.0.0.1:{port}", "guessed-" * 5)
    try:
        async for update in client.updates():
            assert isinstance(update, Loaded)
            break
        assert door.clients == 1
        # The public server's token, which nobody outside is ever told.
        assert await client.call(get_http_server_token)
        with pytest.raises(SpinneyError, match="does not accept this token"):
            await stranger.connect()
    finally:
        await client.close()
        await stranger.close()
    # The address of the public server is nobody's here.
    assert not workspace.directories.server.exists()


async def test_a_stop_from_a_terminal_says_what_it_cuts_short_and_then_ends(
    workspace: Workspace, door: LocalEndpoint
) -> None:
    ended = asyncio.Event()
    workspace.request_shutdown = ended.set
    port, token = door.open()
    client = RemoteClient(f"http://127.0.0.1:{port}", token)
    try:
        assert (await client.call(stop_spinney))["interrupted"] == 0
        async with asyncio.timeout(PATIENCE):
            await ended.wait()
    finally:
        await client.close()


async def test_a_door_at_which_nobody_knocked_closes(door: LocalEndpoint) -> None:
    port, _ = door.open()
    await door.close()
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", port)


@pytest.mark.parametrize(
    "updates",
    [{"status": "running"}, {"status": "waiting", "waiting_for": "plan"}],
)
async def test_what_works_or_waits_for_somebody_keeps_spinney_up(
    workspace: Workspace, session: Session, updates: dict[str, str]
) -> None:
    assert not is_busy(workspace)
    workspace.store.record(SessionUpdated(session_id=session.id, updates=updates))
    assert is_busy(workspace)


async def test_it_stays_while_a_screen_is_attached_and_ends_some_time_after(
    workspace: Workspace,
) -> None:
    looks: list[int] = []

    def clients() -> int:
        looks.append(1)
        return 1 if len(looks) < 20 else 0

    async with asyncio.timeout(PATIENCE):
        await wait_idle(workspace, clients, timeout=0.05, interval=0.01)
    assert len(looks) >= 20
