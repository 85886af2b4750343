"""Starting and stopping: ports, refusals, slow and idle sockets, changed tokens, shutdown."""

import asyncio
import socket as sockets
import time
from collections.abc import AsyncIterator

import aiohttp
import pytest

from model.base.errors import SpinneyError
from model.commands import server as commands
from model.commands.preferences import update_preferences
from model.domain.events.program import TaskCompleted
from model.preferences.apply import apply_changes
from model.runtime.workspace import Workspace
from server.app import Server
from server.limits import Limits
from server.on_demand import ServerOnDemand
from tests.conftest import Eventually
from tests.patience import PATIENCE
from tests.ports import find_free_port
from tests.server.conftest import StartServer, base_url, bearer, connect

LOCAL = {"localhost_only": True, "token_required": True}


async def test_a_port_in_use_is_named_and_works_when_it_is_free(workspace: Workspace) -> None:
    server = Server(workspace)
    with sockets.socket() as other:
        port = find_free_port()
        other.bind(("127.0.0.1", port))
        other.listen()
        with pytest.raises(SpinneyError, match=f"Port {port} is in use"):
            await server.start(port, **LOCAL)
        assert server.status()["running"] is False
    await server.start(port, **LOCAL)
    assert server.status()["port"] == port
    await server.stop()
    await server.start(port, **LOCAL)
    await server.stop()


async def test_a_port_that_is_released_soon_is_used(workspace: Workspace) -> None:
    server, port = Server(workspace), find_free_port()
    other = sockets.socket()
    other.bind(("127.0.0.1", port))
    other.listen()
    asyncio.get_running_loop().call_later(0.05, other.close)
    await server.start(port, **LOCAL)
    assert server.status()["port"] == port
    await server.stop()


@pytest.mark.parametrize("port", [-1, 65536, 10**9])
async def test_an_invalid_port_is_refused(workspace: Workspace, port: int) -> None:
    with pytest.raises(SpinneyError, match=f"port {port}"):
        await Server(workspace).start(port, **LOCAL)


async def test_all_interfaces_without_a_token_are_refused(workspace: Workspace) -> None:
    with pytest.raises(SpinneyError, match="--unsafe-no-token"):
        await Server(workspace).start(0, localhost_only=False, token_required=False)


async def test_starting_again_changes_nothing_and_with_other_settings_is_refused(
    server: Server, http: aiohttp.ClientSession
) -> None:
    socket = await connect(server, http)
    await server.start(0, **LOCAL)
    assert await socket.call("list_projects") == []
    with pytest.raises(SpinneyError, match="already running"):
        await server.start(0, localhost_only=True, token_required=False)


@pytest.fixture
async def on_demand(workspace: Workspace) -> AsyncIterator[ServerOnDemand]:
    """A terminal's server on a free port."""
    await update_preferences(workspace, {"http_server_port": find_free_port()})
    workspace.http_server = made = ServerOnDemand(workspace)
    yield made
    await made.shut_down()


def is_enabled(workspace: Workspace) -> bool:
    return workspace.store.state.preferences.http_server_enabled


async def test_the_preference_starts_and_stops_the_server_while_spinney_runs(
    workspace: Workspace, on_demand: ServerOnDemand
) -> None:
    await on_demand.start_up()
    for wanted in (True, False, True):
        await update_preferences(workspace, {"http_server_enabled": wanted})
        await Eventually(workspace.bus)(
            lambda wanted=wanted: on_demand.status()["running"] is wanted
        )
        assert is_enabled(workspace) is wanted


async def test_the_start_and_stop_commands_change_the_preference(
    workspace: Workspace, on_demand: ServerOnDemand
) -> None:
    await on_demand.start_up()
    await commands.start_http_server(workspace)
    assert is_enabled(workspace)
    await commands.stop_http_server(workspace)
    assert not is_enabled(workspace)


async def test_a_server_that_ran_before_a_restart_is_started_again(
    workspace: Workspace, on_demand: ServerOnDemand
) -> None:
    workspace.restarted_from = "0.0.1"
    await on_demand.start_up()
    assert not on_demand.status()["running"]
    await on_demand.shut_down()
    await update_preferences(workspace, {"http_server_enabled": True})
    await on_demand.start_up()
    assert on_demand.status()["running"]


@pytest.mark.parametrize("auto_start", [True, False])
async def test_auto_start_decides_whether_the_server_starts_with_spinney(
    workspace: Workspace, on_demand: ServerOnDemand, auto_start: bool
) -> None:
    changes = {"http_server_auto_start": auto_start, "http_server_enabled": not auto_start}
    await update_preferences(workspace, changes)
    await on_demand.start_up()
    assert on_demand.status()["running"] is auto_start
    assert is_enabled(workspace) is auto_start
    await on_demand.shut_down()
    assert is_enabled(workspace) is auto_start  # shutting down does not change the setting


async def test_a_server_that_cannot_start_is_reported_and_disabled(
    workspace: Workspace, on_demand: ServerOnDemand
) -> None:
    await on_demand.start_up()
    with sockets.socket() as other:
        port = find_free_port()
        other.bind(("127.0.0.1", port))
        other.listen()
        changes = {"http_server_port": port, "http_server_enabled": True}
        reader = workspace.bus.reader()
        await update_preferences(workspace, changes)
        await Eventually(workspace.bus)(lambda: not is_enabled(workspace))
    events = [one.event for one in reader.take()[0]]
    details = [event.detail for event in events if isinstance(event, TaskCompleted)]
    assert details and f"Port {port} is in use" in details[0]


async def test_the_commands_start_the_server_with_a_new_token_and_stop_it(
    workspace: Workspace,
) -> None:
    workspace.http_server = Server(workspace)
    assert (await commands.get_http_server_status(workspace))["running"] is False
    status = await commands.start_http_server(workspace, port=0)
    assert status["running"] is True
    token = workspace.store.state.preferences.http_server_token or ""
    assert len(token) >= 43
    assert token not in str(status)
    assert (await commands.stop_http_server(workspace))["running"] is False


async def test_a_start_and_a_stop_are_each_reported_once(workspace: Workspace) -> None:
    workspace.http_server = Server(workspace)
    reader = workspace.bus.reader()
    status = await commands.start_http_server(workspace, port=0)
    await commands.start_http_server(workspace, port=0)
    await commands.stop_http_server(workspace)
    await commands.stop_http_server(workspace)
    workspace.bus.seal()
    events = [found.event for found in reader.take()[0]]
    assert [(event.task, event.detail) for event in events if isinstance(event, TaskCompleted)] == [
        ("http_server", f"The server answers at {status['base_url']}."),
        ("http_server", "The server is stopped."),
    ]


async def test_a_changed_token_closes_connections_of_the_old_one(
    server: Server, http: aiohttp.ClientSession, workspace: Workspace
) -> None:
    socket = await connect(server, http)
    await socket.send({"id": "1", "command": "regenerate_http_token"})
    assert (await socket.answer("1"))["type"] == "response"
    assert await socket.wait_closed() == 1008
    assert (await http.get(base_url(server) + "/api/init", headers=bearer())).status == 401
    token = workspace.store.state.preferences.http_server_token or ""
    good = await http.get(base_url(server) + "/api/init", headers=bearer(token))
    assert good.status == 200


async def test_another_setting_closes_no_connection(
    server: Server, http: aiohttp.ClientSession, workspace: Workspace
) -> None:
    socket = await connect(server, http)
    preferences = workspace.store.state.preferences
    await workspace.change_preferences(apply_changes(preferences, {"theme": "dark"}))
    assert (await socket.call("get_preferences"))["theme"] == "dark"


async def test_stopping_closes_fifty_connections_without_waiting(
    server: Server, http: aiohttp.ClientSession
) -> None:
    clients = [await connect(server, http) for _ in range(50)]
    idle = sockets.create_connection(("127.0.0.1", server.status()["port"]))
    codes = asyncio.gather(*(client.wait_closed() for client in clients))
    async with asyncio.timeout(8):  # takes 0.02 s; waiting for clients would take 10 s
        await server.stop()
    assert set(await codes) == {1001}
    idle.close()
    with pytest.raises(aiohttp.ClientConnectorError):
        await http.get(f"http://127.0.0.1:{server._authenticator.port}/healthz")


async def test_stopping_does_not_wait_for_clients_that_do_not_read(
    server: Server, http: aiohttp.ClientSession
) -> None:
    silent = [await connect(server, http) for _ in range(20)]
    async with asyncio.timeout(8):
        await server.stop()
    assert len(silent) == 20


UNFINISHED = {
    "nothing": b"",
    "half a head": b"GET / HTTP/1.1\r\nHost: localhost\r\nX-",
    "half a body": b"POST /api/sessions/x/messages HTTP/1.1\r\nHost: localhost\r\n"
    b"Authorization: " + bearer()["Authorization"].encode() + b"\r\n"
    b"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
    "a second half head": b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET / HT",
}


@pytest.mark.parametrize("unfinished", UNFINISHED)
async def test_unfinished_requests_are_closed_and_block_no_other(
    start_server: StartServer, http: aiohttp.ClientSession, unfinished: str
) -> None:
    server = await start_server(
        limits=Limits(keep_alive=0.4, body_time=0.4, handshake=0.4, lingering=0.4)
    )
    port = server.status()["port"]
    opened = [await asyncio.open_connection("127.0.0.1", port) for _ in range(40)]
    for _, writer in opened:
        writer.write(UNFINISHED[unfinished])
    assert (await http.get(base_url(server) + "/healthz")).status == 200
    async with asyncio.timeout(PATIENCE):
        for reader, writer in opened:
            try:
                await reader.read()
            except ConnectionError:
                pass
            writer.close()
    assert (await http.get(base_url(server) + "/healthz")).status == 200


async def test_a_blocked_event_loop_times_out_no_request(
    start_server: StartServer,
) -> None:
    server = await start_server(limits=Limits(handshake=0.4))
    assert server._running is not None
    reader, writer = await asyncio.open_connection("127.0.0.1", server.status()["port"])
    while not server._running.limiter._pending:
        await asyncio.sleep(0)
    time.sleep(1)
    writer.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    async with asyncio.timeout(PATIENCE):
        assert b" 200 " in await reader.readline()
    writer.close()


async def test_there_are_never_more_sockets_than_allowed(
    start_server: StartServer, http: aiohttp.ClientSession
) -> None:
    server = await start_server(limits=Limits(sockets=5))
    port = server.status()["port"]
    opened = [await asyncio.open_connection("127.0.0.1", port) for _ in range(5)]
    await asyncio.sleep(0)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(ConnectionError):
            assert await reader.read() == b""
            raise ConnectionResetError
    for _, other in opened:
        other.close()
        await other.wait_closed()
    writer.close()
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                assert (await http.get(base_url(server) + "/healthz")).status == 200
                return
            except aiohttp.ClientConnectionError:
                await asyncio.sleep(0.05)


async def test_one_address_cannot_hold_many_silent_sockets(
    start_server: StartServer, http: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.connection_limiter._GRACE_PERIOD", 0.0)
    server = await start_server(limits=Limits(pending=3))
    port = server.status()["port"]
    opened = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]
    # Connections that sent a request no longer count.
    for _, writer in opened[:1]:
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    await opened[0][0].readuntil(b"\r\n\r\n")
    opened.append(await asyncio.open_connection("127.0.0.1", port))
    with pytest.raises(aiohttp.ClientConnectionError):
        async with aiohttp.ClientSession() as fresh:
            await fresh.get(base_url(server) + "/healthz")
    for _, writer in opened:
        writer.close()


async def test_a_client_that_leaves_in_the_middle_of_a_body_logs_no_error(
    server: Server, http: aiohttp.ClientSession, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(5):
        _, writer = await asyncio.open_connection("127.0.0.1", server.status()["port"])
        writer.write(UNFINISHED["half a body"])
        await writer.drain()
        assert (await http.get(base_url(server) + "/healthz")).status == 200
        writer.transport.abort()
    for _ in range(2):  # the disconnections are handled before these replies
        assert (await http.get(base_url(server) + "/healthz")).status == 200
    assert not [record for record in caplog.records if record.levelname == "ERROR"]
