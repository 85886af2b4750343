"""One escape too many, after something was closed, stops no run."""

from math import inf

import pytest
from textual.events import Key

from model.api.files import WorktreeFileList
from tests.tui.builders import a_session
from tests.tui.conftest import Start
from tests.tui.diff_tree import FakeWorktree
from tests.tui.fake_client import FakeClient
from tests.tui.reading import notifications
from tests.tui.terminal.test_bursts import feed_input
from tests.tui.waiting import until
from tui.shell import interrupt
from tui.shell.interrupt import PAUSE, StopGuard

AGAIN = "esc again stops the run."
ESCAPE = "\x1b[27u"


def press(guard: StopGuard, time: float, name: str = "escape") -> bool:
    """Deliver a key; return whether it may stop the run."""
    key = Key(name, None)
    key.time = time
    guard.key_sent(key)
    return guard.may_stop()


def test_an_escape_stops_unless_another_came_within_the_second_before_it() -> None:
    now = 0.0
    guard = StopGuard(lambda: now)
    assert press(guard, 100)
    assert press(guard, 100 + PAUSE)
    now = 200.5
    assert [press(guard, 200), press(guard, 200.4)] == [True, False]
    assert not press(guard, 200.49)  # typed before anything was said
    now = 200.7
    assert press(guard, 200.6)
    assert not press(guard, 200.65)  # what the one before it stopped was another run


def test_the_second_begins_when_the_screen_closes_however_late_that_is() -> None:
    now = 100.0
    guard = StopGuard(lambda: now)
    press(guard, 100)
    now = 103.0
    guard.screen_closed()
    assert not press(guard, 102)
    assert not press(guard, 103 + PAUSE / 2, "ctrl+c")
    assert press(guard, 103 + 2 * PAUSE)


def test_what_a_click_or_another_key_chose_is_done_at_once() -> None:
    guard = StopGuard(lambda: 100.0)
    press(guard, 100)
    guard.screen_closed()
    guard.click_sent()
    assert guard.may_stop()
    assert press(guard, 100, "enter")


@pytest.fixture
def never_long_ago(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no machine be so slow that an escape is not within the second."""
    monkeypatch.setattr(interrupt, "PAUSE", inf)


def running_client() -> FakeClient:
    client = FakeWorktree(sessions=[a_session(status="running")]).client
    client.answers["list_worktree_files"] = lambda given: WorktreeFileList(files=["a"])
    return client


@pytest.mark.usefixtures("never_long_ago")
@pytest.mark.parametrize("key", ["ctrl+g", "ctrl+p", "f1", "ctrl+o", "ctrl+f", "ctrl+n"])
async def test_a_second_escape_after_a_screen_only_says_that_another_one_stops(
    start: Start, key: str
) -> None:
    client = running_client()
    async with start(client) as (app, pilot):
        await until(pilot, lambda: app.main.session is not None)
        await pilot.press(key)
        await until(pilot, lambda: app.screen is not app.main)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        await pilot.press("escape")
        await until(pilot, lambda: AGAIN in notifications(app))
        assert not client.called("stop_generation")
        await pilot.press("escape")
        await until(pilot, lambda: client.called("stop_generation"))


@pytest.mark.usefixtures("never_long_ago")
@pytest.mark.parametrize("keys", ["@", "/"])
async def test_a_second_escape_after_a_list_of_the_message_box_stops_nothing(
    start: Start, keys: str
) -> None:
    client = running_client()
    async with start(client) as (app, pilot):
        await pilot.press(*keys)
        await until(pilot, lambda: app.main.chat.completion.display)
        await pilot.press("escape")
        await until(pilot, lambda: not app.main.chat.completion.display)
        await pilot.press("escape")
        await until(pilot, lambda: AGAIN in notifications(app))
        assert not client.called("stop_generation")


@pytest.mark.usefixtures("never_long_ago")
async def test_escapes_of_one_read_close_and_stop_nothing(start: Start) -> None:
    client = running_client()
    async with start(client) as (app, pilot):
        await until(pilot, lambda: app.main.session is not None)
        await pilot.press("ctrl+g")
        await until(pilot, lambda: app.screen is not app.main)
        feed_input(app, 3 * ESCAPE)
        await until(pilot, lambda: AGAIN in notifications(app))
        await until(pilot, lambda: notifications(app).count(AGAIN) == 2)
        assert not client.called("stop_generation")


@pytest.mark.usefixtures("never_long_ago")
async def test_ctrl_c_that_closed_a_dialog_stops_the_run_only_at_the_third_press(
    start: Start,
) -> None:
    client = running_client()
    async with start(client) as (app, pilot):
        await until(pilot, lambda: app.main.session is not None)
        await pilot.press("ctrl+n")
        await until(pilot, lambda: app.screen is not app.main)
        await pilot.press("ctrl+c")
        await until(pilot, lambda: app.screen is app.main)
        await pilot.press("ctrl+c")
        await until(pilot, lambda: "ctrl+c again stops the run." in notifications(app))
        assert not client.called("stop_generation")
        await pilot.press("ctrl+c")
        await until(pilot, lambda: client.called("stop_generation"))


async def test_ctrl_c_in_the_projects_leaves_them_and_stops_nothing(start: Start) -> None:
    client = running_client()
    async with start(client) as (app, pilot):
        await until(pilot, lambda: app.main.session is not None)
        app.main.projects.focus()
        await until(pilot, lambda: app.focused is app.main.projects)
        await pilot.press("ctrl+c")
        await until(pilot, lambda: app.focused is app.main.chat.composer)
        assert not client.called("stop_generation")
