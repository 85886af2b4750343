"""Ctrl+u and ctrl+c: the cleared text can be restored, and nothing else is lost."""

import pytest

from tests.tui.builders import a_project, a_session, a_state, a_worktree
from tests.tui.conftest import Start
from tests.tui.every_screen import a_busy_state, action, session
from tests.tui.fake_client import a_client
from tests.tui.reading import notifications
from tests.tui.waiting import until
from tui.composer.widget import Composer
from tui.screens.dialog import AskText


@pytest.mark.parametrize("key", ["ctrl+u", "ctrl+c"])
async def test_one_key_clears_the_box_and_up_or_undo_restores_the_text(
    start: Start, key: str
) -> None:
    async with start(a_busy_state()) as (app, pilot):
        await session("s1")(app, pilot)
        box = app.main.chat.composer
        await pilot.press(*"one", "ctrl+j", *"two", "left", key)
        await until(pilot, lambda: box.text == "")
        await pilot.press("ctrl+underscore")
        await until(pilot, lambda: box.text == "one\ntwo")
        await pilot.press(key)
        await until(pilot, lambda: box.text == "")
        await pilot.press("up")
        await until(pilot, lambda: box.text == "one\ntwo")


async def test_up_works_after_a_recalled_message_was_cleared(start: Start) -> None:
    async with start(a_busy_state()) as (app, pilot):
        await session("s1")(app, pilot)
        box = app.main.chat.composer
        box.sent_messages += ["first", "second"]
        await pilot.press("up", "up")
        assert box.text == "first"
        await pilot.press("ctrl+u")
        await until(pilot, lambda: box.text == "")
        await pilot.press("up")
        assert box.text == "second"


async def test_ctrl_c_stops_the_run_and_then_quits_at_the_second_press(start: Start) -> None:
    client = a_client(status="running")
    async with start(client) as (app, pilot):
        await until(pilot, lambda: app.main.session is not None)
        await until(pilot, lambda: isinstance(app.focused, Composer))
        await pilot.press("ctrl+c")
        await until(pilot, lambda: client.called("stop_generation"))
        assert app.is_running
        client.reload(a_state(a_project(), a_worktree(), a_session()))
        await until(pilot, lambda: app.main.session and not app.main.session.is_active)
        await pilot.press("ctrl+c")
        said = notifications(app)
        assert "Press ctrl+c again to quit." in said
        assert not any("ctrl+q" in words for words in said)
        await pilot.press("ctrl+c")
        await until(pilot, lambda: not app.is_running)


async def test_ctrl_c_clears_the_input_of_a_dialog_and_then_closes_it(start: Start) -> None:
    client = a_busy_state()
    async with start(client) as (app, pilot):
        await action("rename_session")(app, pilot)
        await until(pilot, lambda: isinstance(app.screen, AskText) and app.screen.focused)
        await pilot.press("ctrl+c")
        assert isinstance(app.screen, AskText)
        await pilot.press("ctrl+c")
        await until(pilot, lambda: app.screen is app.main)
        assert not client.called("update_session") and app.is_running
