"""The server screen: address, token, network access, QR code, and changes by other clients."""

import asyncio
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static

from model.api.server import ServerAddress
from model.base.qr import half_blocks, qr_rows
from model.domain.events.program import PreferencesUpdated, TaskCompleted
from tests.tui.conftest import Start
from tests.tui.fake_client import FakeClient, a_client
from tests.tui.reading import dialog_text, notifications
from tests.tui.waiting import until
from tui.screens.dialog import AskText, Confirm
from tui.screens.server import ServerScreen
from tui.screens.server_qr import QrScreen
from tui.shell.app import SpinneyApp
from tui.widgets.top_bar import TopBar

TOKEN = "t" * 43


class FakeServer:
    """Answers the server commands as the model does."""

    def __init__(self, client: FakeClient, *, running: bool = True, local: bool = True) -> None:
        self.client = client
        self.running, self.local = running, local
        self.port, self.required = 3456, True
        self.taken = {80}
        self.unblocked = asyncio.Event()
        self.unblocked.set()
        client.answers |= {
            "get_http_server_status": lambda given: self.status,
            "get_http_server_token": lambda given: TOKEN,
            "list_server_addresses": lambda given: self.addresses,
            "start_http_server": lambda given: self.run(True),
            "stop_http_server": lambda given: self.run(False),
            "update_preferences": lambda given: self.change(given["changes"]),
        }

    @property
    def status(self) -> dict[str, Any]:
        host = "127.0.0.1" if self.local else "192.168.1.10"
        return {
            "running": self.running,
            "base_url": f"http://{host}:{self.port}" if self.running else None,
            "port": self.port,
            "localhost_only": self.local,
            "token_required": self.required,
        }

    @property
    def addresses(self) -> list[ServerAddress]:
        vpn, network = f"http://100.64.0.7:{self.port}", str(self.status["base_url"])
        return [
            ServerAddress(url=vpn, kind="vpn", label="Tailscale, tailscale0"),
            ServerAddress(url=network, kind="network", label="network, eth0"),
        ][0 if self.running and not self.local else 2 :]

    def run(self, running: bool) -> dict[str, Any]:
        self.running = running
        self.client.feed(TaskCompleted(task="http_server", ok=True, detail=""))
        return self.status

    async def change(self, changes: dict[str, Any]) -> None:
        """Apply changed settings; a port in use is refused, as in the model."""
        self.client.feed(PreferencesUpdated(changes=changes))
        await self.unblocked.wait()
        before = self.status
        port, problem = changes.get("http_server_port", self.port), ""
        if self.running and port in self.taken:
            problem = f"Port {port} is in use by another program. The server stays at …"
        else:
            self.port = port
        self.local = changes.get("http_server_localhost_only", self.local)
        self.required = changes.get("http_server_token_required", self.required)
        if self.running and (problem or before != self.status):
            self.client.feed(TaskCompleted(task="http_server", ok=not problem, detail=problem))


def server_state_text(app: SpinneyApp) -> str:
    """The text of the server screen, also while a dialog covers it."""
    screen = next(screen for screen in app.screen_stack if isinstance(screen, ServerScreen))
    return str(screen.query_one("#state", Static).render())


async def open_server_screen(app: SpinneyApp, pilot: "Pilot[None]") -> ServerScreen:
    app.main.action_do("server")
    await until(pilot, lambda: isinstance(app.screen, ServerScreen) and server_state_text(app))
    assert isinstance(app.screen, ServerScreen)
    return app.screen


async def test_the_server_is_started_and_stopped_and_the_top_bar_follows(start: Start) -> None:
    client = a_client()
    FakeServer(client, running=False)
    async with start(client) as (app, pilot):
        bar = app.main.query_one(TopBar)
        await open_server_screen(app, pilot)
        assert "The server is stopped." in server_state_text(app)
        await pilot.press("s")
        await until(pilot, lambda: "http://127.0.0.1:3456" in server_state_text(app))
        await until(pilot, lambda: "127.0.0.1:3456" in bar.text)
        await pilot.press("s")
        await until(pilot, lambda: "The server is stopped." in server_state_text(app))
        await until(pilot, lambda: "3456" not in bar.text)


async def test_the_token_is_hidden_until_it_is_asked_for(start: Start) -> None:
    client = a_client()
    FakeServer(client)
    async with start(client) as (app, pilot):
        screen = await open_server_screen(app, pilot)
        assert TOKEN not in server_state_text(app)
        await pilot.press("t")
        await until(pilot, lambda: TOKEN in server_state_text(app))
        await pilot.press("t")
        await until(pilot, lambda: TOKEN not in server_state_text(app))
        assert screen.link == f"http://127.0.0.1:3456/#token={TOKEN}"


async def test_changes_by_another_client_are_shown(start: Start) -> None:
    client = a_client()
    server = FakeServer(client, running=False)
    async with start(client) as (app, pilot):
        bar = app.main.query_one(TopBar)
        await open_server_screen(app, pilot)
        server.run(True)
        await until(pilot, lambda: "The server is running" in server_state_text(app))
        await until(pilot, lambda: "127.0.0.1:3456" in bar.text)
        await server.change({"http_server_localhost_only": False})
        await until(pilot, lambda: "192.168.1.10:3456" in server_state_text(app))
        await until(pilot, lambda: "192.168.1.10:3456" in bar.text)
        server.run(False)
        await until(pilot, lambda: "3456" not in bar.text)


async def test_a_failed_port_change_is_reported(start: Start) -> None:
    client = a_client()
    FakeServer(client)
    async with start(client) as (app, pilot):
        client.feed(TaskCompleted(task="http_server", ok=False, detail="Port 80 is in use."))
        await until(pilot, lambda: app._notifications)
        assert notifications(app) == ["Port 80 is in use."]


async def test_network_access_requires_confirmation(start: Start) -> None:
    client = a_client()
    FakeServer(client)
    async with start(client) as (app, pilot):
        await open_server_screen(app, pilot)
        await pilot.press("l")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("escape")
        assert client.called("update_preferences") == []
        await until(pilot, lambda: isinstance(app.screen, ServerScreen))
        await pilot.press("l")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("y")
        await until(pilot, lambda: "reachable from this network" in server_state_text(app))
        await pilot.press("l")
        await until(pilot, lambda: "reachable from this machine only" in server_state_text(app))


async def test_a_local_server_shows_an_ssh_tunnel_and_has_no_qr_code(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSH_CONNECTION", "10.0.0.9 50000 10.0.0.2 22")
    monkeypatch.setenv("LOGNAME", "ada")
    client = a_client()
    FakeServer(client)
    async with start(client) as (app, pilot):
        screen = await open_server_screen(app, pilot)
        assert "ssh -L 3456:127.0.0.1:3456 ada@10.0.0.2" in server_state_text(app)
        await pilot.press("q")
        await until(pilot, lambda: screen.has_class("objected"))
        assert "A phone cannot open" in str(screen.query_one(".problem", Static).render())


async def enter_port(app: SpinneyApp, pilot: "Pilot[None]", port: str) -> None:
    await pilot.press("p")
    await until(pilot, lambda: isinstance(app.screen, AskText))
    app.screen.query_one(Input).value = port
    await pilot.press("enter")


def problem_text(screen: ServerScreen) -> str:
    return str(screen.query_one(".problem", Static).render())


async def test_a_port_change_is_shown_until_the_server_has_moved(start: Start) -> None:
    client = a_client()
    server = FakeServer(client)
    async with start(client) as (app, pilot):
        screen = await open_server_screen(app, pilot)
        server.unblocked.clear()
        await enter_port(app, pilot, "4000")
        await until(pilot, lambda: "Moving to port 4000" in server_state_text(app))
        server.unblocked.set()
        await until(pilot, lambda: "http://127.0.0.1:4000" in server_state_text(app))
        assert "Moving" not in server_state_text(app)
        assert "ssh -L 4000:127.0.0.1:4000" in server_state_text(app)
        assert not screen.has_class("objected")
        await until(pilot, lambda: "127.0.0.1:4000" in app.main.query_one(TopBar).text)


async def test_a_port_in_use_is_refused_in_the_dialog_and_the_setting_is_reverted(
    start: Start,
) -> None:
    client = a_client()
    FakeServer(client)
    async with start(client) as (app, pilot):
        screen = await open_server_screen(app, pilot)
        await enter_port(app, pilot, "80")
        await until(pilot, lambda: "Port 80 is in use by another program" in problem_text(screen))
        await until(pilot, lambda: app.main.state.preferences.http_server_port == 3456)
        assert "http://127.0.0.1:3456" in server_state_text(app)
        assert not app._notifications


@pytest.mark.parametrize("size", [(60, 15), (80, 24)])
async def test_key_hints_and_problems_are_visible_in_small_terminals(
    start: Start, size: tuple[int, int]
) -> None:
    client = a_client()
    FakeServer(client)
    async with start(client, size=size) as (app, pilot):
        screen = await open_server_screen(app, pilot)
        await enter_port(app, pilot, "80")
        await until(pilot, lambda: screen.has_class("objected") and app.screen is screen)
        await until(pilot, lambda: screen.query_one(".problem").region.area)
        inside = screen.query_one(".dialog").content_region
        assert screen.query_one(".problem").region in inside
        assert screen.query_one(".keys").region in inside


async def test_an_invalid_port_is_asked_for_again(start: Start) -> None:
    client = a_client()
    FakeServer(client, running=False)
    async with start(client) as (app, pilot):
        await open_server_screen(app, pilot)
        await enter_port(app, pilot, "70000")
        await until(pilot, lambda: "'70000' is not a port" in dialog_text(app.screen))
        assert app.screen.query_one(Input).value == "70000"
        await pilot.press("backspace", "enter")
        await until(pilot, lambda: "will use port 7000," in server_state_text(app))
        assert client.called("update_preferences") == [{"changes": {"http_server_port": 7000}}]


async def test_disabling_the_token_requires_confirmation(start: Start) -> None:
    client = a_client()
    FakeServer(client)
    async with start(client) as (app, pilot):
        await open_server_screen(app, pilot)
        await pilot.press("r")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("y")
        await until(pilot, lambda: isinstance(app.screen, ServerScreen))
        await until(pilot, lambda: "not required" in server_state_text(app))
        await pilot.press("r")
        await until(pilot, lambda: "••••" in server_state_text(app))


async def test_starting_with_spinney_is_toggled(start: Start) -> None:
    client = a_client()
    FakeServer(client, running=False)
    async with start(client) as (app, pilot):
        await open_server_screen(app, pilot)
        await pilot.press("a")
        await until(pilot, lambda: "It starts with Spinney" in server_state_text(app))
        await pilot.press("a")
        await until(pilot, lambda: "It starts with Spinney" not in server_state_text(app))
        preferences = app.main.state.preferences
        assert not preferences.http_server_auto_start
        assert not preferences.http_server_enabled  # that would start it now


async def test_a_new_token_requires_confirmation(start: Start) -> None:
    client = a_client()
    server = FakeServer(client)
    client.answers["regenerate_http_token"] = lambda given: server.status
    async with start(client) as (app, pilot):
        await open_server_screen(app, pilot)
        await pilot.press("g")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("y")
        await until(pilot, lambda: client.called("regenerate_http_token"))
        await until(pilot, lambda: any("was replaced" in said for said in notifications(app)))


async def test_errors_of_the_model_are_shown_in_the_dialog(start: Start) -> None:
    client = a_client()
    FakeServer(client, running=False)
    client.refuse("start_http_server", "Port 3456 is in use by another program.")
    async with start(client) as (app, pilot):
        screen = await open_server_screen(app, pilot)
        await pilot.press("s")
        await until(pilot, lambda: screen.has_class("objected"))
        assert "Port 3456" in str(screen.query_one(".problem", Static).render())


async def test_a_remote_terminal_does_not_show_the_token(start: Start) -> None:
    client = a_client()
    FakeServer(client)
    client.refuse("get_http_server_token", "Only inside Spinney's own process.")
    async with start(client) as (app, pilot):
        screen = await open_server_screen(app, pilot)
        assert "shown only on the server's machine" in server_state_text(app)
        assert screen.link == "http://127.0.0.1:3456/"


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 50)])
@pytest.mark.parametrize("theme", ["dark", "light"])
async def test_the_qr_code_fits_and_is_dark_on_light_in_both_themes(
    start: Start, size: tuple[int, int], theme: str
) -> None:
    client = a_client()
    FakeServer(client, local=False)
    client.feed(PreferencesUpdated(changes={"theme": theme}))
    async with start(client, size=size) as (app, pilot):
        await until(pilot, lambda: app.theme == f"spinney-{theme}")
        await open_server_screen(app, pilot)
        await until(pilot, lambda: "(Tailscale, tailscale0)" in server_state_text(app))
        await pilot.press("q")
        await until(pilot, lambda: isinstance(app.screen, QrScreen))
        code = app.screen.query_one("#code", Static)
        about = app.screen.query_one("#about", Static)
        await until(pilot, lambda: "http://100.64.0.7:3456, with the token" in str(about.render()))
        await pilot.press("n")
        dark = qr_rows(f"http://192.168.1.10:3456/#token={TOKEN}")
        quiet = 3 if size == (80, 24) else 4
        await until(pilot, lambda: str(code.render()) == "\n".join(half_blocks(dark, quiet)))
        assert code.region in app.screen.query_one(".dialog").content_region
        assert app.screen.query_one(".keys").region.bottom < size[1]
        colors = {(s.style.color.name, s.style.bgcolor.name) for s in code.render_line(5)
                  if s.style and s.style.color and s.style.bgcolor}  # fmt: skip
        assert colors == {("#000000", "#ffffff")}


async def test_a_qr_code_that_does_not_fit_says_so(start: Start) -> None:
    client = a_client()
    FakeServer(client, local=False)
    async with start(client, size=(60, 15)) as (app, pilot):
        await open_server_screen(app, pilot)
        await pilot.press("q")
        await until(pilot, lambda: isinstance(app.screen, QrScreen))
        code = app.screen.query_one("#code", Static)
        await until(pilot, lambda: "the terminal is 60×15" in str(code.render()))
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: "█" in str(code.render()))
