"""The raw log screen: opened at the end, followed, searched, recording toggled."""

from typing import Any

from textual.pilot import Pilot
from textual.widgets import Input, Static

from model.domain.output import RawLog as Piece
from tests.tui.conftest import Start
from tests.tui.fake_client import FakeClient, a_client
from tests.tui.reading import notifications, visible_text
from tests.tui.waiting import until
from tui.screens.dialog import AskText
from tui.screens.raw_log import RawLog, RawLogView
from tui.shell.app import SpinneyApp


class Log:
    """The server's raw log of a session, returned in pieces of 100 lines."""

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
    return Log(a_client(), lines)


async def open_raw_log(app: SpinneyApp, pilot: "Pilot[None]") -> RawLogView:
    app.main.open_session("s1")
    await until(pilot, lambda: app.main.session is not None)
    app.main.action_do("show_raw_log")
    await until(pilot, lambda: isinstance(app.screen, RawLog))
    return app.screen.query_one(RawLogView)


def log_state_text(app: SpinneyApp) -> str:
    return str(app.screen.query_one(".words", Static).content)


async def test_it_opens_at_the_end_follows_and_scrolls_back_to_the_first_line(start: Start) -> None:
    log = a_log(350)
    async with start(log.client) as (app, pilot):
        view = await open_raw_log(app, pilot)
        await until(pilot, lambda: "000349 said" in visible_text(view))
        width = view.scrollable_content_region.width
        assert {row.cell_length for row in view.strip_rows} == {width}, (
            "no text is under the scrollbar"
        )
        log.text += "000350 said\n"
        await until(pilot, lambda: "000350 said" in visible_text(view))
        await pilot.press("home")
        await until(pilot, lambda: len(view.strip_rows) > 150)
        log.text += "000351 said\n"
        await until(pilot, lambda: "000351" in view.strip_rows[-1].text)
        assert "000351" not in visible_text(view), "new lines do not move the scroll position"
        while "000000 said" not in visible_text(view):
            await pilot.press("home")
            await pilot.pause(0.05)
        numbers = [int(row.text[:6]) for row in view.strip_rows]
        assert numbers == list(range(352)), "each line once, in order"


async def test_search_finds_text_that_is_not_loaded_yet(start: Start) -> None:
    log = a_log(350)
    async with start(log.client) as (app, pilot):
        view = await open_raw_log(app, pilot)
        await until(pilot, lambda: "000349 said" in visible_text(view))
        await pilot.press("slash")
        await until(pilot, lambda: isinstance(app.screen, AskText) and app.screen.query(Input))
        app.screen.query_one(Input).value = "00042 SAID"
        await pilot.press("enter")
        await until(pilot, lambda: "000042 said" in visible_text(view))
        await pilot.press("N")
        await until(pilot, lambda: len(app._notifications) == 1)
        assert notifications(app) == ["No older match for '00042 SAID'."]


async def test_an_empty_log_says_how_to_enable_recording_and_d_toggles_it(start: Start) -> None:
    log = a_log(0)
    async with start(log.client) as (app, pilot):
        await open_raw_log(app, pilot)
        await until(
            pilot, lambda: "Debug mode is off, nothing is being recorded" in log_state_text(app)
        )
        assert "or in the preferences" in log_state_text(app)
        await pilot.press("d")
        await until(pilot, lambda: "Debug mode is on" in log_state_text(app))
        await pilot.press("d")
        await until(pilot, lambda: "Debug mode is off" in log_state_text(app))
        assert not log.recording
