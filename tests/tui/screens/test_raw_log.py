"""The raw log in the terminal: read from its end, followed, searched, switched on."""

from typing import Any

from textual.pilot import Pilot
from textual.widgets import Input, Static

from model.domain.output import RawLog as Piece
from tests.tui.conftest import Start, until
from tests.tui.fake_client import FakeClient, a_project, a_session, a_state, a_worktree
from tui.screens.dialog import AskText
from tui.screens.raw_log import RawLog, RawLogView
from tui.shell.app import SpinneyApp


class Log:
    """What the server has of a session's log; pieces are of 100 lines."""

    def __init__(self, client: FakeClient, lines: int) -> None:
        self.client = client
        self.text = "".join(f"{n:06} said\n" for n in range(lines))
        self.recording = False
        client.answers["get_raw_log"] = self.read
        client.answers["update_preferences"] = self.switch

    def read(self, given: dict[str, Any]) -> Piece:
        end = len(self.text) if given["before"] is None else given["before"]
        start = max(0, end - 1200) if given["after"] is None else given["after"]
        path = "/data/raw-logs/s1/raw-0.log" if self.text else ""
        return Piece(
            text=self.text[start:end], start=start, end=end, is_first=start == 0,
            size=len(self.text), path=path, recording=self.recording,
        )  # fmt: skip

    def switch(self, given: dict[str, Any]) -> None:
        self.recording = given["changes"]["debug_mode_enabled"]


def a_log(lines: int) -> Log:
    return Log(FakeClient(a_state(a_project(), a_worktree(), a_session())), lines)


async def opened(app: SpinneyApp, pilot: "Pilot[None]") -> RawLogView:
    app.main.open_session("s1")
    await until(pilot, lambda: app.main.session is not None)
    app.main.action_do("show_raw_log")
    await until(pilot, lambda: isinstance(app.screen, RawLog))
    return app.screen.query_one(RawLogView)


def shown(view: RawLogView) -> str:
    return "\n".join(view.render_line(y).text.rstrip() for y in range(view.size.height))


def state(app: SpinneyApp) -> str:
    return str(app.screen.query_one(".words", Static).content)


async def test_it_begins_at_the_end_follows_and_reads_back_to_the_first_line(start: Start) -> None:
    log = a_log(350)
    async with start(log.client) as (app, pilot):
        view = await opened(app, pilot)
        await until(pilot, lambda: "000349 said" in shown(view))
        beside = view.scrollable_content_region.width
        assert {row.cell_length for row in view._rows} == {beside}, "none is under the scrollbar"
        log.text += "000350 said\n"
        await until(pilot, lambda: "000350 said" in shown(view))
        await pilot.press("home")
        await until(pilot, lambda: len(view._rows) > 150)
        log.text += "000351 said\n"
        await until(pilot, lambda: "000351" in view._rows[-1].text)
        assert "000351" not in shown(view), "who reads elsewhere stays there"
        while "000000 said" not in shown(view):
            await pilot.press("home")
            await pilot.pause(0.05)
        numbers = [int(row.text[:6]) for row in view._rows]
        assert numbers == list(range(352)), "each once, in order"


async def test_words_are_found_in_what_was_not_read_yet(start: Start) -> None:
    log = a_log(350)
    async with start(log.client) as (app, pilot):
        view = await opened(app, pilot)
        await until(pilot, lambda: "000349 said" in shown(view))
        await pilot.press("slash")
        await until(pilot, lambda: isinstance(app.screen, AskText) and app.screen.query(Input))
        app.screen.query_one(Input).value = "00042 SAID"
        await pilot.press("enter")
        await until(pilot, lambda: "000042 said" in shown(view))
        await pilot.press("N")
        await until(pilot, lambda: len(app._notifications) == 1)
        assert [n.message for n in app._notifications] == ["No older match for '00042 SAID'."]


async def test_who_finds_nothing_is_told_how_to_switch_it_on_and_can(start: Start) -> None:
    log = a_log(0)
    async with start(log.client) as (app, pilot):
        await opened(app, pilot)
        await until(pilot, lambda: "Debug mode is off, nothing is being recorded" in state(app))
        assert "or in the preferences" in state(app)
        await pilot.press("d")
        await until(pilot, lambda: "Debug mode is on" in state(app))
        await pilot.press("d")
        await until(pilot, lambda: "Debug mode is off" in state(app))
        assert not log.recording
