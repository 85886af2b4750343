"""HTTPS: requests, WebSockets and events over TLS, renewed certificates, and the Origin rule."""

import ssl
from pathlib import Path

import aiohttp
import pytest

from model.base.errors import SpinneyError
from model.commands.preferences import update_preferences
from model.commands.server import list_server_addresses, start_http_server
from model.runtime.workspace import Workspace
from model.service.certificates import CertificateFiles
from server.app import Server
from server.limits import Limits
from tests.certificates import make_certificate
from tests.conftest import Eventually
from tests.ports import find_free_port
from tests.server.conftest import StartServer, base_url, bearer, connect

OPEN = {"localhost_only": True, "token_required": False}


@pytest.fixture
def files(tmp_path: Path) -> CertificateFiles:
    """A certificate for this machine."""
    return make_certificate(tmp_path / "tls")


def trust(files: CertificateFiles) -> ssl.SSLContext:
    """The context of a client that trusts this certificate only."""
    return ssl.create_default_context(cafile=files.certificate)


async def test_requests_and_commands_are_served_over_tls(
    start_server: StartServer, http: aiohttp.ClientSession, files: CertificateFiles
) -> None:
    server = await start_server(tls=files)
    assert base_url(server).startswith("https://127.0.0.1:")
    health = await http.get(base_url(server) + "/healthz", ssl=trust(files))
    assert await health.json() == {"ok": True}
    socket = await connect(server, http, since=0, ssl=trust(files))
    assert (await socket.call("get_http_server_status"))["tls"] is True
    assert [each["url"] for each in await socket.call("list_server_addresses")] == [
        f"https://{name}:{server.status()['port']}"
        for name in ("box.test", "localhost", "127.0.0.1")
    ]
    with pytest.raises(aiohttp.ClientError):
        await http.get(base_url(server).replace("https", "http") + "/healthz")


@pytest.mark.parametrize(
    ("host", "origin", "status"),
    [
        ("localhost", None, 200),
        ("box.test", "https://box.test", 200),
        ("box.test", "http://box.test", 401),
        ("evil.test", None, 401),
        ("localhost", "https://evil.test", 401),
    ],
)
async def test_without_a_token_only_names_of_the_certificate_are_accepted(
    start_server: StartServer,
    http: aiohttp.ClientSession,
    files: CertificateFiles,
    host: str,
    origin: str | None,
    status: int,
) -> None:
    server = await start_server(tls=files, token_required=False)
    port = server.status()["port"]
    headers = {"Host": f"{host}:{port}", **({"Origin": f"{origin}:{port}"} if origin else {})}
    response = await http.get(base_url(server) + "/api/init", ssl=trust(files), headers=headers)
    assert response.status == status


async def test_a_renewed_certificate_is_used_and_a_broken_one_reported(
    start_server: StartServer,
    http: aiohttp.ClientSession,
    files: CertificateFiles,
    workspace: Workspace,
) -> None:
    server = await start_server(tls=files, limits=Limits(certificate_check=0.02))
    socket = await connect(server, http, since=0, ssl=trust(files))
    make_certificate(Path(files.certificate or "").parent, days=60)
    renewed = await socket.event("task:completed")
    assert renewed["payload"]["detail"] == "The server uses the renewed certificate."
    assert await socket.call("list_projects") == []  # the connection from before
    async with aiohttp.ClientSession() as fresh:
        response = await fresh.get(base_url(server) + "/healthz", ssl=trust(files))
        assert response.status == 200
    assert files.key is not None
    files.key.write_text("nothing")
    broken = await socket.event("task:completed")
    assert broken["payload"]["ok"] is False
    assert "The one before stays in use." in broken["payload"]["detail"]


async def test_the_preferences_switch_a_running_server_to_tls_and_back(
    start_server: StartServer,
    http: aiohttp.ClientSession,
    files: CertificateFiles,
    workspace: Workspace,
) -> None:
    server = await start_server()
    socket = await connect(server, http)
    eventually = Eventually(workspace.bus)
    await update_preferences(workspace, {"http_server_certificate": str(files.certificate)})
    half = await socket.event("task:completed")
    assert "set both" in half["payload"]["detail"] and "stays at http:" in half["payload"]["detail"]
    await update_preferences(workspace, {"http_server_key": str(files.key)})
    await eventually(lambda: base_url(server).startswith("https:"))
    response = await http.get(base_url(server) + "/api/init", ssl=trust(files), headers=bearer())
    assert response.status == 200
    none = {"http_server_certificate": "", "http_server_key": ""}
    await update_preferences(workspace, none)
    await eventually(lambda: base_url(server).startswith("http:"))
    assert (await http.get(base_url(server) + "/healthz")).status == 200
    assert await socket.call("list_projects") == []


async def test_an_unusable_certificate_or_address_stops_the_start_with_a_sentence(
    workspace: Workspace, tmp_path: Path
) -> None:
    wrong = CertificateFiles(tmp_path / "none", tmp_path / "none")
    with pytest.raises(SpinneyError, match=r"The certificate .* cannot be read"):
        await Server(workspace).start(0, **OPEN, tls=wrong)
    with pytest.raises(SpinneyError, match=r"This machine has no address 203\.0\.113\.9 now"):
        await Server(workspace).start(
            0, localhost_only=False, token_required=True, host="203.0.113.9"
        )


async def test_the_address_for_other_devices_is_the_only_one_that_is_opened(
    workspace: Workspace, http: aiohttp.ClientSession
) -> None:
    changes = {"http_server_host": "127.0.0.2", "http_server_localhost_only": False}
    await update_preferences(workspace, changes)
    workspace.http_server = server = Server(workspace)
    await start_http_server(workspace, port=find_free_port())
    try:
        assert base_url(server).startswith("http://127.0.0.2:")
        assert server.status()["localhost_only"] is True
        assert [each.url for each in await list_server_addresses(workspace)] == [base_url(server)]
        assert (await http.get(base_url(server) + "/healthz")).status == 200
        with pytest.raises(aiohttp.ClientConnectorError):
            await http.get(f"http://127.0.0.1:{server.status()['port']}/healthz")
    finally:
        await server.stop()


async def test_a_token_in_clear_on_a_network_is_warned_of(
    workspace: Workspace, files: CertificateFiles
) -> None:
    server = Server(workspace)
    for tls, warns in ((None, True), (files, False)):
        await server.start(find_free_port(), localhost_only=False, token_required=True, tls=tls)
        assert bool(server.status()["warning"]) is warns
        await server.stop()
