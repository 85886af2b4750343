"""Sections 2.5 and 5 of the interface: the `http_server_*` settings while the program serves."""

import asyncio
import json
import os
import socket as sockets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.contract.conftest import bearer, open_socket
from tests.patience import PATIENCE
from tests.ports import find_free_port
from tests.program import Program, Serving, is_error_sentence
from tests.server.conftest import Socket

own_program = pytest.mark.own_program  # Most of these change the settings of the server.


@asynccontextmanager
async def open_http_client(port: int) -> AsyncIterator[aiohttp.ClientSession]:
    """An HTTP client for this port."""
    timeout = aiohttp.ClientTimeout(total=PATIENCE)
    async with aiohttp.ClientSession(f"http://127.0.0.1:{port}", timeout=timeout) as made:
        yield made


def read_server_file(program: Program) -> dict[str, Any]:
    """The program's server.json: its port, token and process id."""
    return dict(json.loads((program.data / "server.json").read_text()))


def edit_preferences(program: Program, **changes: Any) -> None:
    """Change the preferences file as an editor does, by replacing it."""
    path = program.config / "preferences.json"
    written = path.with_suffix(".new")
    written.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
    written.replace(path)


async def wait_for_server_task(socket: Socket) -> dict[str, Any]:
    """Wait until changed settings are applied; returns the payload of the event."""
    while True:
        payload: dict[str, Any] = (await socket.event("task:completed"))["payload"]
        if payload["task"] == "http_server":
            return payload


def is_open_at(port: int, host: str = "127.0.0.1") -> bool:
    try:
        sockets.create_connection((host, port), timeout=PATIENCE).close()
    except ConnectionRefusedError:
        return False
    return True


def find_network_address() -> str | None:
    """This machine's address in a network other than the loopback, if any."""
    with sockets.socket(sockets.AF_INET, sockets.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return None
        return str(probe.getsockname()[0])


@pytest.mark.parametrize("by", ["a client", "the file"])
async def test_a_changed_port_moves_the_server_and_loses_nothing(
    program: Program, served: Serving, socket: Socket, by: str
) -> None:
    repository = program.make_repository()
    project = await socket.call("add_project", path=str(repository))
    worktree = await socket.call("create_worktree", projectId=project["id"])
    await socket.event("worktree:created")
    session = await socket.call("create_session", worktreeId=worktree["id"], executionMode="yolo")
    asked = "/demo run touch begun; while [ ! -e go ]; do sleep 0.05; done\n/demo say at last"
    await socket.call("send_chat_message", sessionId=session["id"], message=asked)
    await socket.event("tool-use")

    port = find_free_port()
    if by == "a client":
        changed = await socket.call("update_preferences", changes={"http_server_port": port})
        assert changed["http_server_port"] == port
    else:
        edit_preferences(program, http_server_port=port)
    moved = await wait_for_server_task(socket)
    assert (moved["ok"], str(port) in moved["detail"]) == (True, True)
    status = await socket.call("get_http_server_status")
    assert (status["running"], status["port"]) == (True, port)
    assert status["base_url"] == f"http://127.0.0.1:{port}"
    assert not is_open_at(served.port)
    found = read_server_file(program)
    assert (found["port"], found["pid"]) == (port, served.pid)
    assert program.call("get_http_server_status")["port"] == port

    # The first client is still connected and gets events; the run goes on.
    async with open_http_client(port) as http:
        new_client = await open_socket(http, served.token)
        (Path(worktree["path"]) / "go").touch()
        for client in (socket, new_client):
            completed = await client.event("message-completed")
            assert completed["data"]["session_id"] == session["id"]


@own_program
async def test_a_port_in_use_is_reported_and_the_server_keeps_its_port(
    served: Serving, socket: Socket
) -> None:
    with sockets.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = other.getsockname()[1]
        await socket.call("update_preferences", changes={"http_server_port": taken})
        failed = await wait_for_server_task(socket)
    assert failed["ok"] is False
    assert f"Port {taken} is in use" in failed["detail"]
    assert served.base_url in failed["detail"]
    assert (await socket.call("get_http_server_status"))["port"] == served.port
    assert is_open_at(served.port)


@own_program
async def test_localhost_only_can_be_turned_off_and_on_again(
    served: Serving, http: aiohttp.ClientSession, socket: Socket
) -> None:
    host = find_network_address()
    if host is None:
        pytest.skip("this machine has only a loopback address")
    assert not is_open_at(served.port, host)
    await socket.call("update_preferences", changes={"http_server_localhost_only": False})
    assert (await wait_for_server_task(socket))["ok"] is True
    status = await socket.call("get_http_server_status")
    assert (status["port"], status["localhost_only"]) == (served.port, False)
    assert "unencrypted" in status["warning"]
    addresses = {each["url"] for each in await socket.call("list_server_addresses")}
    assert {f"http://{host}:{served.port}", f"http://127.0.0.1:{served.port}"} <= addresses
    await socket.send({"id": "qr", "command": "get_connection_qr", "args": {"url": "http://a:1"}})
    assert (await socket.answer("qr"))["error_type"] == "not_found"
    async with aiohttp.ClientSession(f"http://{host}:{served.port}") as outside:
        async with outside.get("/api/init") as response:
            assert response.status == 401
        async with outside.get("/api/init", headers=bearer(served)) as response:
            assert response.status == 200
        foreign = await open_socket(outside, served.token)
        await socket.call("update_preferences", changes={"http_server_localhost_only": True})
        assert await asyncio.gather(foreign.wait_closed(), socket.wait_closed()) == [1008, 1008]
    assert not is_open_at(served.port, host)
    again = await open_socket(http, served.token)
    assert (await again.call("get_http_server_status"))["localhost_only"] is True


@own_program
async def test_without_a_token_localhost_only_cannot_be_turned_off(
    served: Serving, socket: Socket
) -> None:
    await socket.call("update_preferences", changes={"http_server_token_required": False})
    assert (await wait_for_server_task(socket))["ok"] is True
    await socket.call("update_preferences", changes={"http_server_localhost_only": False})
    failed = await wait_for_server_task(socket)
    assert failed["ok"] is False
    assert "--unsafe-no-token" in failed["detail"]
    status = await socket.call("get_http_server_status")
    assert (status["localhost_only"], status["token_required"]) == (True, False)
    both = {"http_server_localhost_only": True, "http_server_token_required": True}
    await socket.call("update_preferences", changes=both)
    assert await socket.wait_closed() == 1008


async def test_a_change_of_token_required_applies_at_once(
    program: Program, served: Serving, http: aiohttp.ClientSession, socket: Socket
) -> None:
    edit_preferences(program, http_server_token_required=False)
    assert (await wait_for_server_task(socket))["ok"] is True
    async with http.get("/api/init") as response:
        assert response.status == 200
    async with http.get("/api/auth") as response:
        assert await response.json() == {"ok": True, "token_required": False}
    foreign = {"Origin": "http://evil.test"}
    async with http.get("/api/init", headers=foreign) as response:
        assert response.status == 401
        assert response.headers["Access-Control-Allow-Origin"] == "*"
    without = Socket(await http.ws_connect("/ws"))
    assert await without.call("list_projects") == []
    edit_preferences(program, http_server_token_required=True)
    assert await without.wait_closed() == 1008
    async with http.get("/api/init") as response:
        assert response.status == 401
    assert is_open_at(served.port)


@pytest.mark.parametrize(
    "by", ["regenerate_http_token", "a client", "the file", "taken out of the file"]
)
async def test_a_changed_token_closes_connections_of_the_old_one(
    program: Program, served: Serving, http: aiohttp.ClientSession, socket: Socket, by: str
) -> None:
    wanted = {"http_server_token": "a-token-that-a-person-chose-0123456789"}
    match by:
        case "regenerate_http_token":
            assert served.token not in str(await socket.call(by))
        case "a client":
            assert wanted["http_server_token"] not in str(
                await socket.call("update_preferences", changes=wanted)
            )
        case "the file":
            edit_preferences(program, **wanted)
        case _:
            edit_preferences(program, http_server_token=None)
    assert await socket.wait_closed() == 1008
    async with http.get("/api/init", headers=bearer(served)) as response:
        assert response.status == 401
    with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
        await open_socket(http, served.token)
    assert refused.value.status == 401
    token = read_server_file(program)["token"]
    assert len(token) >= 32
    assert token != served.token
    assert (token == wanted["http_server_token"]) == (by in ("a client", "the file"))
    assert await (await open_socket(http, token)).call("list_projects") == []


async def test_another_preference_does_not_affect_the_server(
    program: Program, served: Serving, socket: Socket
) -> None:
    before = await socket.call("get_http_server_status")
    edit_preferences(program, theme="dark")
    await socket.event("preferences:updated")
    assert await socket.call("get_http_server_status") == before
    assert read_server_file(program)["token"] == served.token


async def test_clients_cannot_stop_or_move_the_server(served: Serving, socket: Socket) -> None:
    for name in ("stop_http_server", "get_http_server_token"):
        await socket.send({"id": name, "command": name})
        refused = await socket.answer(name)
        assert refused["error_type"] == "forbidden"
        assert "Spinney's own terminal" in refused["error"]
    await socket.send(
        {"id": "a", "command": "start_http_server", "args": {"port": find_free_port()}}
    )
    refused = await socket.answer("a")
    assert (refused["type"], refused["error_type"]) == ("error", "conflict")
    assert served.base_url in refused["error"]
    alike = await socket.call("start_http_server", port=served.port)
    assert alike == await socket.call("get_http_server_status")
    assert set(alike) >= {"running", "base_url", "port", "localhost_only", "token_required"}


async def test_a_refused_handshake_is_an_http_response_with_cors_headers(served: Serving) -> None:
    lines = [
        "GET /ws?token=wrong HTTP/1.1", f"Host: 127.0.0.1:{served.port}", "Upgrade: websocket",
        "Connection: Upgrade", "Sec-WebSocket-Version: 13", "Origin: http://evil.test",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "", "",
    ]  # fmt: skip
    with sockets.create_connection(("127.0.0.1", served.port), timeout=PATIENCE) as raw:
        raw.sendall("\r\n".join(lines).encode())
        answer = b""
        while b"}" not in answer:
            piece = raw.recv(65536)
            assert piece, answer
            answer += piece
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 401 ")
    assert b"access-control-allow-origin: *" in head.lower()
    assert b"content-type: application/json" in head.lower()
    assert json.loads(body)["error_type"] == "authentication_error"


async def test_auth_reports_valid_and_invalid_tokens(
    served: Serving, http: aiohttp.ClientSession
) -> None:
    for given in ({"headers": bearer(served)}, {"params": {"token": served.token}}):
        async with http.get("/api/auth", **given) as response:
            assert response.status == 200
            assert await response.json() == {"ok": True, "token_required": True}
    for token in ("", "wrong", "é", "x" * 4000):
        async with http.get("/api/auth", params={"token": token}) as response:
            assert response.status == 401
            body = await response.json()
            assert set(body) == {"ok", "error", "error_type"}
            assert (body["ok"], body["error_type"]) == (False, "authentication_error")


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "PROPFIND"])
async def test_any_origin_method_and_header_is_allowed(
    served: Serving, http: aiohttp.ClientSession, method: str
) -> None:
    asked = {
        "Origin": "https://anywhere.example",
        "Access-Control-Request-Method": method,
        "Access-Control-Request-Headers": "authorization, content-type, x-of-my-own",
    }
    for path in ("/api/init", "/api/sessions/no", "/api/auth", "/ws", "/nothing/here"):
        async with http.options(path, headers=asked) as response:
            assert response.status == 204
            assert response.headers["Access-Control-Allow-Origin"] == "*"
            assert response.headers["Access-Control-Allow-Methods"] == method
            wanted = asked["Access-Control-Request-Headers"]
            assert response.headers["Access-Control-Allow-Headers"] == wanted
            assert "Access-Control-Allow-Credentials" not in response.headers
        origin = {"Origin": asked["Origin"]}
        async with http.request(method, path, headers=origin) as response:
            assert response.headers["Access-Control-Allow-Origin"] == "*"
            assert response.status < 500


def test_a_token_is_generated_and_stored_in_private_files(program: Program) -> None:
    with program.serving("--demo") as first:
        assert len(first.token) >= 43
    with program.serving("--demo") as second:
        assert second.token == first.token
        for path in (program.config / "preferences.json", program.data / "server.json"):
            assert path.stat().st_mode & 0o777 == 0o600
        for folder in (program.config, program.data):
            assert folder.stat().st_mode & 0o077 == 0
        log = next(program.data.rglob("*.log")).read_text()
        assert first.token not in log


def test_all_interfaces_without_a_token_are_refused_at_start(program: Program) -> None:
    refused = program.run("serve", "--port", "0", "--all-interfaces", "--no-token")
    assert is_error_sentence(refused, code=5)
    assert "--unsafe-no-token" in refused.stderr


def test_the_server_uses_port_and_token_of_the_preferences(program: Program) -> None:
    port = find_free_port()
    program.config.mkdir(mode=0o700)
    preferences = {"http_server_port": port, "http_server_token": "kept-as-it-is-0123456789"}
    (program.config / "preferences.json").write_text(json.dumps(preferences))
    with program.start("serve", "--demo", "--json") as process:
        assert process.stdout is not None
        announced = json.loads(process.stdout.readline())
        assert (announced["port"], announced["token"]) == (port, preferences["http_server_token"])
        assert announced["pid"] == process.pid
        os.kill(process.pid, 0)
