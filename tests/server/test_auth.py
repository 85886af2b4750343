"""Authentication: tokens, Host and Origin, preflight, and that the token never leaks."""

import base64
import json
import logging
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from model.base.errors import SpinneyError
from model.runtime.workspace import Workspace
from server.app import Server
from server.auth import Authenticator, Credentials
from tests.server.conftest import (
    TOKEN,
    StartServer,
    base_url,
    bearer,
    connect,
    raw_request,
)
from tests.tables import table

FOREIGN_ORIGIN = {"Origin": "http://evil.test"}


async def get(
    server: Server, http: aiohttp.ClientSession, path: str = "/api/init", **headers: str
) -> aiohttp.ClientResponse:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    response = await http.get(base_url(server) + path, headers=names)
    await response.read()
    return response


async def test_a_foreign_page_without_the_token_can_read_the_error(
    server: Server, http: aiohttp.ClientSession
) -> None:
    response = await get(server, http, Origin="http://evil.test")
    assert response.status == 401
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert (await response.json())["error_type"] == "authentication_error"


async def test_a_valid_token_is_enough_from_any_origin_and_host(
    server: Server, http: aiohttp.ClientSession
) -> None:
    response = await get(server, http, Origin="http://evil.test", Host="evil.test", **bearer())
    assert response.status == 200
    assert response.headers["Access-Control-Allow-Origin"] == "*"


async def test_every_preflight_succeeds_without_a_token_and_echoes_the_request(
    server: Server, http: aiohttp.ClientSession
) -> None:
    asked = {
        **FOREIGN_ORIGIN,
        "Access-Control-Request-Method": "PATCH",
        "Access-Control-Request-Headers": "authorization,x-a",
    }
    for path in ("/api/init", "/api/sessions/x/messages", "/ws", "/nowhere.js"):
        response = await http.options(base_url(server) + path, headers=asked)
        assert response.status == 204
        assert response.headers["Access-Control-Allow-Methods"] == "PATCH"
        assert response.headers["Access-Control-Allow-Headers"] == "authorization,x-a"
        assert response.headers["Access-Control-Allow-Origin"] == "*"
        assert "Access-Control-Allow-Credentials" not in response.headers


async def test_without_a_required_token_only_same_origin_pages_and_programs_are_accepted(
    start_server: StartServer, http: aiohttp.ClientSession
) -> None:
    server = await start_server(token_required=False)
    port = server.status()["port"]
    assert (await get(server, http)).status == 200
    assert (await get(server, http, Origin=f"http://127.0.0.1:{port}")).status == 200
    assert (await get(server, http, Origin=f"http://localhost:{port}")).status == 200
    for origin in ("http://evil.test", "null", f"http://127.0.0.1:{port + 1}", "http://127.0.0.1"):
        assert (await get(server, http, Origin=origin)).status == 401, origin
    for site in ("cross-site", "same-site"):
        assert (await get(server, http, Sec_Fetch_Site=site)).status == 401, site
    assert (await get(server, http, Sec_Fetch_Site="same-origin")).status == 200


@pytest.mark.parametrize("token_required", [True, False])
async def test_a_foreign_page_cannot_open_a_websocket(
    start_server: StartServer, http: aiohttp.ClientSession, token_required: bool
) -> None:
    server = await start_server(token_required=token_required)
    for origin in ("http://evil.test", "null"):
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await http.ws_connect(f"{base_url(server)}/ws", headers={"Origin": origin})
        assert refused.value.status == 401
    assert (await connect(server, http, headers=FOREIGN_ORIGIN)).socket.closed is False
    if not token_required:
        assert (await http.ws_connect(f"{base_url(server)}/ws")).closed is False


@table(
    "host",
    [
        "evil.test:{}",
        "localhost.evil.test",
        "127.0.0.1.evil.test",
        "0.0.0.0:{}",
        "[::]:{}",
        "192.168.1.1",
        "2130706433",
        "127.1",
    ],
)
async def test_a_host_that_is_not_loopback_requires_the_token(
    start_server: StartServer, http: aiohttp.ClientSession, host: str
) -> None:
    server = await start_server(token_required=False)
    host = host.format(server.status()["port"])
    assert (await get(server, http, Host=host)).status == 401
    assert (await get(server, http, Host=host, Origin=f"http://{host}")).status == 401


@table("host", ["LOCALHOST:{}", "localhost.:{}", "a.localhost:{}", "[::1]:{}", "127.0.0.2"])
async def test_a_loopback_host_requires_no_token(
    start_server: StartServer, http: aiohttp.ClientSession, host: str
) -> None:
    server = await start_server(token_required=False)
    host = host.format(server.status()["port"])
    assert (await get(server, http, Host=host)).status == 200


@table("token_required", [True, False])
@table(
    "lines",
    [
        [b"Host: [::1"],
        [b"Host: a b"],
        [b"Host: http://x/"],
        [b"Host: 127.0.0.1:99999"],
        [b"Host: \xff"],
        [b"Host: localhost", b"Host: evil.test"],
        [],
        [b"Host: localhost", b"Origin: ://"],
        [b"Host: localhost", b"Origin: \xff"],
        [b"Host: localhost", b"Origin: http://" + b"a" * 8000],
        [b"Host: localhost", b"Authorization: Bearer \xff\xfe"],
    ],
)
async def test_malformed_headers_are_refused_and_affect_no_other_request(
    start_server: StartServer,
    http: aiohttp.ClientSession,
    lines: list[bytes],
    token_required: bool,
) -> None:
    server = await start_server(token_required=token_required)
    status, _ = await raw_request(server, b"GET /api/init HTTP/1.1", *lines)
    harmless = not token_required and any(line.startswith(b"Authorization") for line in lines)
    assert status == 200 if harmless else status in (400, 401)
    assert (await get(server, http, **bearer())).status == 200


async def test_a_simple_form_post_from_a_page_does_nothing(
    start_server: StartServer, http: aiohttp.ClientSession, session: Any, workspace: Workspace
) -> None:
    server = await start_server(token_required=False)
    url = f"{base_url(server)}/api/sessions/{session.id}/messages"
    text = {"Content-Type": "text/plain"}
    body = json.dumps({"message": "delete everything"})
    assert (await http.post(url, data=body, headers={**text, **FOREIGN_ORIGIN})).status == 401
    assert (await http.post(url, data=body, headers=text)).status == 400
    assert workspace.store.state.sessions[session.id].message_count == 0
    with_token = await http.post(url, data=body, headers={**text, **FOREIGN_ORIGIN, **bearer()})
    assert with_token.status == 200


@table("given", ["é", "", " ", TOKEN + "x", TOKEN[:-1], TOKEN.upper(), "\x80"])
async def test_a_wrong_token_of_any_kind_is_a_401(server: Server, given: str) -> None:
    status, _ = await raw_request(
        server,
        b"GET /api/init HTTP/1.1",
        b"Host: localhost",
        b"Authorization: Bearer " + given.encode(),
    )
    assert status == 401


async def test_an_empty_token_never_matches(
    start_server: StartServer, http: aiohttp.ClientSession
) -> None:
    server = await start_server(token="")
    for headers in ({"Authorization": "Bearer "}, {"Authorization": "Bearer"}, {}):
        assert (await http.get(f"{base_url(server)}/api/init", headers=headers)).status == 401
    assert (await http.get(f"{base_url(server)}/api/auth?token=")).status == 401


async def test_many_wrong_tokens_lock_no_client_out_and_write_one_log_line(
    server: Server, http: aiohttp.ClientSession, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    for _ in range(300):
        response = await get(server, http, Authorization="Bearer wrong")
        assert response.status == 401
    assert (await get(server, http, **bearer())).status == 200
    assert len([line for line in caplog.messages if "refused" in line]) == 1


async def test_the_token_can_be_checked_in_header_and_query(
    server: Server, http: aiohttp.ClientSession
) -> None:
    good = await get(server, http, "/api/auth", **bearer())
    assert (good.status, await good.json()) == (200, {"ok": True, "token_required": True})
    assert (await get(server, http, f"/api/auth?token={TOKEN}")).status == 200
    bad = await get(server, http, "/api/auth?token=x")
    body = await bad.json()
    assert bad.status == 401
    assert (body["ok"], body["error_type"]) == (False, "authentication_error")


async def test_the_api_refuses_a_token_in_the_query(
    server: Server, http: aiohttp.ClientSession
) -> None:
    assert (await get(server, http, f"/api/init?token={TOKEN}")).status == 401


async def test_the_token_is_in_no_log_and_no_response(
    server: Server, http: aiohttp.ClientSession, caplog: pytest.LogCaptureFixture, session: Any
) -> None:
    caplog.set_level(logging.DEBUG)
    seen = ""
    referer = {"Referer": f"http://x/?token={TOKEN}", **bearer()}
    for path in (
        "/",
        "/healthz",
        "/api/auth",
        "/api/init",
        f"/api/sessions/{session.id}",
        "/api/nothing",
        "/x.js",
    ):
        response = await http.get(f"{base_url(server)}{path}?token={TOKEN}", headers=referer)
        seen += await response.text() + str(response.headers)
    socket = await connect(server, http, since=0)
    await socket.call("get_preferences")
    await socket.call("get_http_server_status")
    await socket.call("update_preferences", changes={"theme": "dark"})
    # The error quotes the invalid line, but only to its sender.
    await raw_request(server, b"GET /?token=" + TOKEN.encode() + b" HTTP/9.9", b"a b")
    seen += json.dumps(socket.frames) + caplog.text
    assert "GET /api/init 200" in caplog.text
    assert TOKEN not in seen


async def test_the_server_file_is_private_and_removed_with_the_server(
    server: Server, workspace: Workspace
) -> None:
    path: Path = workspace.directories.server
    address = json.loads(path.read_text())
    assert address["token"] == TOKEN
    assert address["base_url"] == f"http://127.0.0.1:{address['port']}"
    assert path.stat().st_mode & 0o777 == 0o600
    await server.stop()
    assert not path.exists()


@pytest.mark.parametrize(
    ("host", "origin", "is_accepted"),
    [
        ("10.0.0.5:3456", None, True),
        ("10.0.0.5:3456", "http://10.0.0.5:3456", True),
        ("10.0.0.6:3456", None, False),
        ("10.0.0.5:3456", "http://10.0.0.6:3456", False),
        ("10.0.0.5:3456", "https://10.0.0.5:3456", False),
        ("my-laptop.local:3456", None, False),
        ("localhost:3456", "http://localhost:3456", True),
    ],
)
def test_without_a_token_a_server_in_a_network_accepts_only_its_own_address(
    host: str, origin: str | None, is_accepted: bool
) -> None:
    authenticator = Authenticator(lambda: TOKEN)
    authenticator.port = 3456
    authenticator.token_required = authenticator.localhost_only = False
    credentials = Credentials(hosts=(host,), origin=origin, local_address="10.0.0.5")
    if is_accepted:
        authenticator.check(credentials)
    else:
        with pytest.raises(SpinneyError, match="from this origin"):
            authenticator.check(credentials)


@table(
    ("protocols", "is_accepted"),
    [
        ("spinney, token.{}", True),
        ("token.{}", False),
        ("spinney, token.d3Jvbmc", False),
        ("spinney, token.é", False),
        ("spinney", False),
    ],
)
async def test_a_websocket_may_give_the_token_in_its_protocols(
    server: Server, http: aiohttp.ClientSession, protocols: str, is_accepted: bool
) -> None:
    encoded = base64.urlsafe_b64encode(TOKEN.encode()).decode().rstrip("=")
    headers = {"Sec-WebSocket-Protocol": protocols.format(encoded)}
    if not is_accepted:
        with pytest.raises(aiohttp.WSServerHandshakeError, match="401"):
            await http.ws_connect(f"{base_url(server)}/ws", headers=headers)
        return
    socket = await http.ws_connect(f"{base_url(server)}/ws", headers=headers)
    assert socket._response.headers["Sec-WebSocket-Protocol"] == "spinney"
    await socket.close()
