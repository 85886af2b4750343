"""The local endpoint for other terminals, and how long Spinney runs without a client."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from model.api.server import get_http_server_token, stop_spinney
from model.base.errors import SpinneyError
from model.client.base import Loaded
from model.client.remote import RemoteClient
from model.domain.events.sessions import SessionUpdated
from model.domain.sessions import Session
from model.runtime.workspace import Workspace
from server.engine import is_busy, wait_idle
from server.local_endpoint import LocalEndpoint
from tests.patience import PATIENCE


@pytest.fixture
async def endpoint(workspace: Workspace) -> AsyncIterator[LocalEndpoint]:
    endpoint = LocalEndpoint(workspace)
    yield endpoint
    await endpoint.close()


async def test_a_client_with_the_token_has_the_permissions_of_a_terminal(
    workspace: Workspace, endpoint: LocalEndpoint
) -> None:
    port, token = endpoint.open()
    client = RemoteClient(f"http://127.0.0.1:{port}", token)
    unauthenticated = RemoteClient(f"http://127.0.0.1:{port}", "guessed-" * 5)
    try:
        async for update in client.updates():
            assert isinstance(update, Loaded)
            break
        assert endpoint.clients == 1
        # The public server's token, which remote clients cannot get.
        assert await client.call(get_http_server_token)
        with pytest.raises(SpinneyError, match="does not accept this token"):
            await unauthenticated.connect()
    finally:
        await client.close()
        await unauthenticated.close()
    # There is no server file, as the public server does not run.
    assert not workspace.directories.server.exists()


async def test_a_stop_reports_interrupted_runs_and_then_shuts_down(
    workspace: Workspace, endpoint: LocalEndpoint
) -> None:
    ended = asyncio.Event()
    workspace.request_shutdown = ended.set
    port, token = endpoint.open()
    client = RemoteClient(f"http://127.0.0.1:{port}", token)
    try:
        assert (await client.call(stop_spinney))["interrupted"] == 0
        async with asyncio.timeout(PATIENCE):
            await ended.wait()
    finally:
        await client.close()


async def test_an_endpoint_without_connections_closes(endpoint: LocalEndpoint) -> None:
    port, _ = endpoint.open()
    await endpoint.close()
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.1", port)


@pytest.mark.parametrize(
    "updates",
    [{"status": "running"}, {"status": "waiting", "waiting_for": "plan"}],
)
async def test_running_and_waiting_sessions_keep_spinney_running(
    workspace: Workspace, session: Session, updates: dict[str, str]
) -> None:
    assert not is_busy(workspace)
    workspace.store.record(SessionUpdated(session_id=session.id, updates=updates))
    assert is_busy(workspace)


async def test_it_waits_while_a_client_is_connected_and_for_the_timeout_after(
    workspace: Workspace,
) -> None:
    calls: list[int] = []

    def clients() -> int:
        calls.append(1)
        return 1 if len(calls) < 20 else 0

    async with asyncio.timeout(PATIENCE):
        await wait_idle(workspace, clients, timeout=0.05, interval=0.01)
    assert len(calls) >= 20
