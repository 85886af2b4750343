"""Earlier messages: up and down, the search with ctrl+r; `?` asks for help only if it is alone."""

from typing import Any

from textual.pilot import Pilot
from textual.widgets import Input

from model.domain.events.messages import MessageQueued, MessageRemoved
from tests.tui.builders import a_message
from tests.tui.conftest import Start
from tests.tui.fake_client import a_client
from tests.tui.waiting import until
from tui.screens.dialog import Report
from tui.screens.earlier_messages import EarlierMessages
from tui.shell.app import SpinneyApp
from tui.terminal.input_parser import InputParser


async def open_search(app: SpinneyApp, pilot: "Pilot[Any]") -> EarlierMessages:
    await pilot.press("ctrl+r")
    await until(pilot, lambda: isinstance(app.screen, EarlierMessages) and app.screen.query(Input))
    assert isinstance(app.screen, EarlierMessages)
    return app.screen


async def test_up_takes_back_the_queued_message_once_then_history_and_down_the_draft(
    start: Start,
) -> None:
    client = a_client(status="running")
    queued = MessageQueued(session_id="s1", status="sent", message=a_message("queued"))

    def remove(given: dict[str, Any]) -> None:
        client.feed(MessageRemoved(message_id="queued", session_id="s1"))

    client.answers["remove_queued_message"] = remove
    async with start(client) as (app, pilot):
        box = app.main.chat.composer
        box.sent_messages += ["first", "second"]
        client.feed(queued)
        await until(pilot, lambda: app.main.chat.queue.messages)
        for event in InputParser().feed("\x1b[A" * 2):  # a key that is held down
            app.post_message(event)
        await until(pilot, lambda: box.text == "queued")
        assert len(client.called("remove_queued_message")) == 1
        await until(pilot, lambda: not app.main.chat.queue.messages)
        await pilot.press(*" and", "up", "up")
        assert box.text == "second"  # after the one taken back, which is an earlier message now
        await pilot.press("down", "down")
        assert box.text == "queued and"


async def test_ctrl_r_searches_earlier_messages_and_enter_puts_one_into_the_box(
    start: Start,
) -> None:
    async with start(a_client()) as (app, pilot):
        box = app.main.chat.composer
        box.sent_messages += ["fix the parser", "test it", "fix the lexer\nand test", "test it"]
        await pilot.press(*"draft")
        dialog = await open_search(app, pilot)
        assert [c.value for c in dialog.shown] == [
            "test it", "fix the lexer\nand test", "fix the parser"
        ]  # fmt: skip
        await pilot.press(*"fix")
        await until(pilot, lambda: len(dialog.shown) == 2)
        await pilot.press("ctrl+r", "enter")
        await until(pilot, lambda: app.screen is app.main and box.text == "fix the parser")
        await pilot.press("up")
        await until(pilot, lambda: box.text == "draft")  # replaced, and not lost


async def test_letters_in_order_are_found_after_whole_matches_and_escape_keeps_the_draft(
    start: Start,
) -> None:
    async with start(a_client()) as (app, pilot):
        box = app.main.chat.composer
        box.sent_messages += ["run the tests", "rtt", "nothing"]
        await pilot.press(*"draft")
        dialog = await open_search(app, pilot)
        await pilot.press(*"rtt")
        await until(pilot, lambda: [c.value for c in dialog.shown] == ["rtt", "run the tests"])
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        assert box.text == "draft"


async def test_a_lone_question_mark_opens_the_help_and_leaves_the_box_empty(start: Start) -> None:
    async with start(a_client()) as (app, pilot):
        await pilot.press("?")
        await until(pilot, lambda: isinstance(app.screen, Report))
        assert app.main.chat.composer.text == ""


async def test_a_message_may_begin_with_a_question_mark(start: Start) -> None:
    async with start(a_client()) as (app, pilot):
        box = app.main.chat.composer
        for event in InputParser().feed("?? what"):
            app.post_message(event)
        await until(pilot, lambda: box.text == "?? what")
        await pilot.press("ctrl+u", "?", "!")
        await until(pilot, lambda: box.text == "?!")
        box._ask_for_help()  # what the timer does
        assert box.text == "?!" and app.screen is app.main
