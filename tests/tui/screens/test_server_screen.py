"""The server from the terminal: address, token, reach, QR code, and what other clients do to it."""

import asyncio
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static

from model.domain import events as e
from tests.tui.conftest import Start, until
from tests.tui.fake_client import FakeClient, a_project, a_session, a_state, a_worktree
from tui.screens.dialog import AskText, Confirm
from tui.screens.server import ServerScreen
from tui.screens.server_qr import QrScreen, half_blocks, modules
from tui.shell.app import SpinneyApp
from tui.widgets.top_bar import TopBar

TOKEN = "t" * 43


class AServer:
    """What the model's server would do."""

    def __init__(self, client: FakeClient, *, running: bool = True, local: bool = True) -> None:
        self.client = client
        self.running, self.local = running, local
        self.port, self.required = 3456, True
        self.taken = {80}
        self.heard = asyncio.Event()
        self.heard.set()
        client.answers |= {
            "get_http_server_status": lambda given: self.status,
            "get_http_server_token": lambda given: TOKEN,
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

    def run(self, running: bool) -> dict[str, Any]:
        self.running = running
        self.client.feed(e.TaskCompleted(task="http_server", ok=True, detail=""))
        return self.status

    async def change(self, changes: dict[str, Any]) -> None:
        """Follow the settings; a port that is taken is refused, as the model does."""
        self.client.feed(e.PreferencesUpdated(changes=changes))
        await self.heard.wait()
        before = self.status
        port, problem = changes.get("http_server_port", self.port), ""
        if self.running and port in self.taken:
            problem = f"Port {port} is in use by another program. The server stays at …"
        else:
            self.port = port
        self.local = changes.get("http_server_localhost_only", self.local)
        self.required = changes.get("http_server_token_required", self.required)
        if self.running and (problem or before != self.status):
            self.client.feed(e.TaskCompleted(task="http_server", ok=not problem, detail=problem))


def a_client() -> FakeClient:
    return FakeClient(a_state(a_project(), a_worktree(), a_session()))


def told(app: SpinneyApp) -> str:
    """What it says, whatever is asked over it."""
    screen = next(screen for screen in app.screen_stack if isinstance(screen, ServerScreen))
    return str(screen.query_one("#state", Static).render())


async def opened(app: SpinneyApp, pilot: "Pilot[None]") -> ServerScreen:
    app.main.action_do("server")
    await until(pilot, lambda: isinstance(app.screen, ServerScreen) and told(app))
    assert isinstance(app.screen, ServerScreen)
    return app.screen


async def test_it_is_started_and_stopped_and_the_bar_follows(start: Start) -> None:
    client = a_client()
    AServer(client, running=False)
    async with start(client) as (app, pilot):
        bar = app.main.query_one(TopBar)
        await opened(app, pilot)
        assert "The server is stopped." in told(app)
        await pilot.press("s")
        await until(pilot, lambda: "http://127.0.0.1:3456" in told(app))
        await until(pilot, lambda: "127.0.0.1:3456" in bar.text)
        await pilot.press("s")
        await until(pilot, lambda: "The server is stopped." in told(app))
        await until(pilot, lambda: "3456" not in bar.text)


async def test_the_token_is_hidden_until_it_is_asked_for(start: Start) -> None:
    client = a_client()
    AServer(client)
    async with start(client) as (app, pilot):
        screen = await opened(app, pilot)
        assert TOKEN not in told(app)
        await pilot.press("t")
        await until(pilot, lambda: TOKEN in told(app))
        await pilot.press("t")
        await until(pilot, lambda: TOKEN not in told(app))
        assert screen.link == f"http://127.0.0.1:3456/#token={TOKEN}"


async def test_what_another_client_does_to_it_is_followed(start: Start) -> None:
    client = a_client()
    server = AServer(client, running=False)
    async with start(client) as (app, pilot):
        bar = app.main.query_one(TopBar)
        await opened(app, pilot)
        server.run(True)
        await until(pilot, lambda: "The server is running" in told(app))
        await until(pilot, lambda: "127.0.0.1:3456" in bar.text)
        await server.change({"http_server_localhost_only": False})
        await until(pilot, lambda: "192.168.1.10:3456" in told(app))
        await until(pilot, lambda: "192.168.1.10:3456" in bar.text)
        server.run(False)
        await until(pilot, lambda: "3456" not in bar.text)


async def test_a_failed_move_is_told(start: Start) -> None:
    client = a_client()
    AServer(client)
    async with start(client) as (app, pilot):
        client.feed(e.TaskCompleted(task="http_server", ok=False, detail="Port 80 is in use."))
        await until(pilot, lambda: app._notifications)
        assert [n.message for n in app._notifications] == ["Port 80 is in use."]


async def test_it_asks_before_the_network_is_let_in(start: Start) -> None:
    client = a_client()
    AServer(client)
    async with start(client) as (app, pilot):
        await opened(app, pilot)
        await pilot.press("l")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("escape")
        assert client.called("update_preferences") == []
        await until(pilot, lambda: isinstance(app.screen, ServerScreen))
        await pilot.press("l")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("y")
        await until(pilot, lambda: "reachable from this network" in told(app))
        await pilot.press("l")
        await until(pilot, lambda: "reachable from this machine only" in told(app))


async def test_who_is_only_here_is_told_the_way_from_elsewhere(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSH_CONNECTION", "10.0.0.9 50000 10.0.0.2 22")
    monkeypatch.setenv("LOGNAME", "ada")
    client = a_client()
    AServer(client)
    async with start(client) as (app, pilot):
        screen = await opened(app, pilot)
        assert "ssh -L 3456:127.0.0.1:3456 ada@10.0.0.2" in told(app)
        await pilot.press("q")
        await until(pilot, lambda: screen.has_class("objected"))
        assert "A phone cannot open" in str(screen.query_one(".problem", Static).render())


async def give_port(app: SpinneyApp, pilot: "Pilot[None]", port: str) -> None:
    await pilot.press("p")
    await until(pilot, lambda: isinstance(app.screen, AskText))
    app.screen.query_one(Input).value = port
    await pilot.press("enter")


def problem_of(screen: ServerScreen) -> str:
    return str(screen.query_one(".problem", Static).render())


async def test_a_running_server_moves_to_another_port_and_is_seen_to(start: Start) -> None:
    client = a_client()
    server = AServer(client)
    async with start(client) as (app, pilot):
        screen = await opened(app, pilot)
        server.heard.clear()
        await give_port(app, pilot, "4000")
        await until(pilot, lambda: "Moving to port 4000" in told(app))
        server.heard.set()
        await until(pilot, lambda: "http://127.0.0.1:4000" in told(app))
        assert "Moving" not in told(app)
        assert "ssh -L 4000:127.0.0.1:4000" in told(app)
        assert not screen.has_class("objected")
        await until(pilot, lambda: "127.0.0.1:4000" in app.main.query_one(TopBar).text)


async def test_a_port_that_is_taken_is_refused_in_place_and_the_setting_taken_back(
    start: Start,
) -> None:
    client = a_client()
    AServer(client)
    async with start(client) as (app, pilot):
        screen = await opened(app, pilot)
        await give_port(app, pilot, "80")
        await until(pilot, lambda: "Port 80 is in use by another program" in problem_of(screen))
        await until(pilot, lambda: app.main.state.preferences.http_server_port == 3456)
        assert "http://127.0.0.1:3456" in told(app)
        assert not app._notifications


@pytest.mark.parametrize("size", [(60, 15), (80, 24)])
async def test_keys_and_objections_are_in_sight_where_there_are_few_rows(
    start: Start, size: tuple[int, int]
) -> None:
    client = a_client()
    AServer(client)
    async with start(client, size=size) as (app, pilot):
        screen = await opened(app, pilot)
        await give_port(app, pilot, "80")
        await until(pilot, lambda: screen.has_class("objected") and app.screen is screen)
        await until(pilot, lambda: screen.query_one(".problem").region.area)
        inside = screen.query_one(".dialog").content_region
        assert screen.query_one(".problem").region in inside
        assert screen.query_one(".keys").region in inside


async def test_what_is_no_port_is_asked_for_again(start: Start) -> None:
    client = a_client()
    AServer(client, running=False)
    async with start(client) as (app, pilot):
        await opened(app, pilot)
        await give_port(app, pilot, "70000")
        await until(pilot, lambda: "'70000' is not a port" in words_of(app))
        assert app.screen.query_one(Input).value == "70000"
        await pilot.press("backspace", "enter")
        await until(pilot, lambda: "will use port 7000," in told(app))
        assert client.called("update_preferences") == [{"changes": {"http_server_port": 7000}}]


def words_of(app: SpinneyApp) -> str:
    return "\n".join(str(part.render()) for part in app.screen.query(Static))


async def test_it_asks_before_no_token_is_asked_for(start: Start) -> None:
    client = a_client()
    AServer(client)
    async with start(client) as (app, pilot):
        await opened(app, pilot)
        await pilot.press("r")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("y")
        await until(pilot, lambda: isinstance(app.screen, ServerScreen))
        await until(pilot, lambda: "not required" in told(app))
        await pilot.press("r")
        await until(pilot, lambda: "••••" in told(app))


async def test_it_starts_with_spinney_where_that_is_wanted(start: Start) -> None:
    client = a_client()
    AServer(client, running=False)
    async with start(client) as (app, pilot):
        await opened(app, pilot)
        await pilot.press("a")
        await until(pilot, lambda: "It starts with Spinney" in told(app))
        await pilot.press("a")
        await until(pilot, lambda: "It starts with Spinney" not in told(app))
        preferences = app.main.state.preferences
        assert not preferences.http_server_auto_start
        assert not preferences.http_server_enabled  # that would start it now


async def test_a_new_token_is_made_after_a_question(start: Start) -> None:
    client = a_client()
    server = AServer(client)
    client.answers["regenerate_http_token"] = lambda given: server.status
    async with start(client) as (app, pilot):
        await opened(app, pilot)
        await pilot.press("g")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await pilot.press("y")
        await until(pilot, lambda: client.called("regenerate_http_token"))


async def test_what_the_model_objects_to_stands_in_the_dialog(start: Start) -> None:
    client = a_client()
    AServer(client, running=False)
    client.refuse("start_http_server", "Port 3456 is in use by another program.")
    async with start(client) as (app, pilot):
        screen = await opened(app, pilot)
        await pilot.press("s")
        await until(pilot, lambda: screen.has_class("objected"))
        assert "Port 3456" in str(screen.query_one(".problem", Static).render())


async def test_a_screen_of_another_machine_has_no_token_to_show(start: Start) -> None:
    client = a_client()
    AServer(client)
    client.refuse("get_http_server_token", "Only inside Spinney's own process.")
    async with start(client) as (app, pilot):
        screen = await opened(app, pilot)
        assert "shown only on the server's machine" in told(app)
        assert screen.link == "http://127.0.0.1:3456/"


@pytest.mark.few(2)
@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 50)])
@pytest.mark.parametrize("theme", ["dark", "light"])
async def test_the_code_fits_and_is_dark_on_light_in_both_themes(
    start: Start, size: tuple[int, int], theme: str
) -> None:
    client = a_client()
    AServer(client, local=False)
    client.feed(e.PreferencesUpdated(changes={"theme": theme}))
    async with start(client, size=size) as (app, pilot):
        await until(pilot, lambda: app.theme == f"spinney-{theme}")
        await opened(app, pilot)
        await pilot.press("q")
        await until(pilot, lambda: isinstance(app.screen, QrScreen))
        code = app.screen.query_one("#code", Static)
        dark = modules(f"http://192.168.1.10:3456/#token={TOKEN}")
        quiet = 3 if size == (80, 24) else 4
        await until(pilot, lambda: str(code.render()) == "\n".join(half_blocks(dark, quiet)))
        assert code.region in app.screen.query_one(".dialog").content_region
        assert app.screen.query_one(".keys").region.bottom < size[1]
        colour = {(s.style.color.name, s.style.bgcolor.name) for s in code.render_line(5)
                  if s.style and s.style.color and s.style.bgcolor}  # fmt: skip
        assert colour == {("#000000", "#ffffff")}


async def test_a_code_that_does_not_fit_says_what_it_needs(start: Start) -> None:
    client = a_client()
    AServer(client, local=False)
    async with start(client, size=(60, 15)) as (app, pilot):
        await opened(app, pilot)
        await pilot.press("q")
        await until(pilot, lambda: isinstance(app.screen, QrScreen))
        code = app.screen.query_one("#code", Static)
        await until(pilot, lambda: "the terminal is 60×15" in str(code.render()))
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: "█" in str(code.render()))


def test_half_blocks_are_the_modules_two_rows_at_a_time() -> None:
    dark = [[True, False, True], [True, True, False], [False, True, False]]
    assert half_blocks(dark, 0) == ["█▄▀", " ▀ "]
    assert half_blocks([[True]], 1) == [" ▄ ", "   "]


def test_a_code_is_read_back_as_the_address() -> None:
    import segno

    address = "http://192.168.1.10:3456/#token=" + TOKEN
    rows = modules(address)
    code = segno.make_qr(address, error="l", boost_error=False)
    assert code.version == 4
    assert len(rows) == len(rows[0]) == 33
    # The three eyes by which a phone finds it.
    eye = [True] * 7
    assert rows[0][:7] == rows[0][-7:] == rows[-1][:7] == eye
