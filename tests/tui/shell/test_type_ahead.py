"""Keys typed before their screen is open, all at once, as slow connections send them."""

import asyncio
from typing import Any

import pytest
from textual import events
from textual.geometry import Offset
from textual.widgets import Static

from model.domain.branches import Branch
from model.domain.events.sessions import SessionCreated
from tests.tui.builders import a_session
from tests.tui.conftest import Start
from tests.tui.every_screen import a_busy_state, action, focused, in_diff, session
from tests.tui.shell.test_repeated_keys import drain_events, post_keys
from tests.tui.waiting import until
from tui.canvas.screen import Canvas
from tui.composer.message_area import MessageArea
from tui.diff.screen import Diff
from tui.screens.add_project import AddProject
from tui.screens.commit import Commit
from tui.screens.dialog import AskText, Confirm
from tui.screens.new_worktree import NewWorktree
from tui.screens.pick import Pick
from tui.screens.pick_field import PickField
from tui.shell.app import SpinneyApp
from tui.store.places import Place
from tui.terminal.input_parser import TYPED


def post_click(app: SpinneyApp, place: Offset) -> None:
    """Post a click all at once, as a slow connection delivers it."""
    for kind in (events.MouseDown, events.MouseUp):
        app.post_message(kind(None, *place, 0, 0, 1, False, False, False))


async def test_text_after_the_key_of_a_dialog_goes_to_the_dialog(start: Start) -> None:
    client = a_busy_state()
    async with start(client) as (app, pilot):
        await session("s1")(app, pilot)
        post_keys(app, "ctrl+n", *"mend it")
        app.post_message(events.Paste(" at once"))
        await until(pilot, lambda: isinstance(app.screen, NewWorktree))
        area = app.screen.query_one("#message", MessageArea)
        await until(pilot, lambda: area.text == "mend it at once")
        assert app.main.chat.composer.text == ""


@pytest.mark.parametrize(("key", "dialog"), [("ctrl+n", NewWorktree), ("f3", AddProject)])
async def test_a_key_pressed_twice_opens_one_dialog(start: Start, key: str, dialog: type) -> None:
    async with start(a_busy_state()) as (app, pilot):
        await session("s1")(app, pilot)
        post_keys(app, key, key)
        await until(pilot, lambda: isinstance(app.screen, dialog))
        await drain_events(pilot)
        assert [type(screen) for screen in app.screen_stack[1:]] == [dialog]


async def test_a_word_typed_at_once_filters_a_choice_field(start: Start) -> None:
    client = a_busy_state()
    client.answers["get_project_branches"] = lambda given: [
        Branch(name=name, current=False) for name in ("main", "maintenance", "other")
    ]
    async with start(client) as (app, pilot):
        await action("new_worktree")(app, pilot)
        dialog = app.screen
        dialog.query_one("#base", PickField).focus()
        await until(pilot, lambda: isinstance(dialog.focused, PickField))
        post_keys(app, *"maint")
        await until(pilot, lambda: isinstance(app.screen, Pick))
        pick = app.screen
        assert isinstance(pick, Pick)
        await until(pilot, lambda: [c.value for c in pick.shown] == ["maintenance", "maint"])
        assert app.screen_stack[1:] == [dialog, pick]


async def test_no_key_stops_a_session_that_is_not_shown_yet(start: Start) -> None:
    client = a_busy_state()
    async with start(client) as (app, pilot):
        await session("s1")(app, pilot)
        post_keys(app, "ctrl+o", "ctrl+x", "tab", "delete", "enter", *"store")
        await until(pilot, lambda: isinstance(app.screen, Canvas))
        canvas = app.screen
        assert isinstance(canvas, Canvas)
        await until(pilot, lambda: canvas.filter == "store")
        assert app.screen is canvas and not canvas.view.marked
        assert not client.called("stop_generation") and not client.called("archive_session")


async def test_no_key_confirms_a_question_that_is_not_shown_yet(start: Start) -> None:
    client = a_busy_state()
    async with start(client) as (app, pilot):
        await focused("#tree")(app, pilot)
        await pilot.press("home")
        post_keys(app, "delete", "enter", "y")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await drain_events(pilot)
        assert isinstance(app.screen, Confirm)
        assert not client.called("remove_project")
        await pilot.press("y")
        await until(pilot, lambda: client.called("remove_project"))


async def test_text_after_the_enter_that_closes_a_dialog_goes_to_the_screen_below(
    start: Start,
) -> None:
    client = a_busy_state()
    async with start(client) as (app, pilot):
        await action("rename_session")(app, pilot)
        await until(pilot, lambda: isinstance(app.screen, AskText) and app.screen.focused)
        post_keys(app, *"!", "enter", *"hello")
        await until(pilot, lambda: app.main.chat.composer.text == "hello")
        assert [given["name"] for given in client.called("update_session")] == ["Fix the parser!"]


async def test_text_after_a_click_goes_to_the_session_that_it_opens(start: Start) -> None:
    client = a_busy_state()
    async with start(client) as (app, pilot):
        await session("s1")(app, pilot)
        tree, other = app.main.projects, Place("session", "s2")
        line = tree.row_nodes[other].line - tree.scroll_offset.y
        post_click(app, tree.content_region.offset + Offset(12, line))
        post_keys(app, *"mend it")
        await until(pilot, lambda: app.main.chat.composer.text == "mend it")
        assert app.main.place == other and not tree.filter


async def test_text_after_a_click_on_cancel_goes_to_the_screen_below(start: Start) -> None:
    async with start(a_busy_state()) as (app, pilot):
        await action("rename_session")(app, pilot)
        await until(pilot, lambda: isinstance(app.screen, AskText) and app.screen.focused)
        hints = app.screen.query_one(".keys", Static)
        place = hints.content_region.offset
        post_click(app, place + Offset(str(hints.content).index("esc"), 0))
        post_keys(app, *"hello")
        await until(pilot, lambda: app.main.chat.composer.text == "hello")


async def test_a_message_after_the_key_of_a_new_session_is_sent_to_that_session(
    start: Start,
) -> None:
    client = a_busy_state()
    may_end = asyncio.Event()

    async def create(_: dict[str, Any]) -> Any:
        await may_end.wait()
        created = a_session(id="new")
        client.feed(SessionCreated(session=created))
        return created

    client.answers["create_session"] = create
    async with start(client) as (app, pilot):
        await session("s1")(app, pilot)
        post_keys(app, "ctrl+t", "ctrl+t", *"mend it", "enter")
        await until(pilot, lambda: client.called("create_session"))
        await drain_events(pilot)
        assert app.main.chat.composer.text == ""
        may_end.set()
        await until(pilot, lambda: client.called("send_chat_message"))
        (sent,) = client.called("send_chat_message")
        assert (sent["session_id"], sent["message"]) == ("new", "mend it")
        assert len(client.called("create_session")) == 1


async def test_a_message_for_a_session_that_was_refused_is_kept_and_not_sent(start: Start) -> None:
    client = a_busy_state()
    client.refuse("create_session", "The agent is not installed.", "not_found")
    async with start(client) as (app, pilot):
        await session("s1")(app, pilot)
        post_keys(app, "ctrl+t", *"mend it", "enter")
        await until(pilot, lambda: app.main.chat.composer.text == "mend it")
        await drain_events(pilot)
        assert not client.called("send_chat_message")


async def test_a_second_enter_decides_nothing_in_the_dialog_of_a_command(start: Start) -> None:
    client = a_busy_state()
    async with start(client) as (app, pilot):
        await session("s1")(app, pilot)
        post_keys(app, *"/commit", "enter", "enter")
        await until(pilot, lambda: isinstance(app.screen, Commit))
        await drain_events(pilot)
        assert isinstance(app.screen, Commit) and not client.called("commit_changes")


async def test_text_is_kept_if_no_dialog_opens(start: Start) -> None:
    client = a_busy_state()
    may_end = asyncio.Event()
    listed = client.answers["list_changed_files"]

    async def slow(given: dict[str, Any]) -> Any:
        await may_end.wait()
        return listed(given).model_copy(update={"files": []})

    client.answers["list_changed_files"] = slow
    async with start(client) as (app, pilot):
        await session("s1")(app, pilot)
        app.main.action_do("commit")
        post_keys(app, *"hello", "enter")
        await until(pilot, lambda: client.called("list_changed_files"))
        assert app.main.chat.composer.text == ""
        may_end.set()
        await until(pilot, lambda: app.main.chat.composer.text == "hello")
        await drain_events(pilot)
        assert not client.called("send_chat_message")


async def test_letters_of_one_read_are_separate_commands(start: Start) -> None:
    client = a_busy_state()
    async with start(client) as (app, pilot):
        await in_diff()(app, pilot)
        app.post_message(events.Key(TYPED, "vvm"))
        await until(pilot, lambda: isinstance(app.screen, Commit))
        diff = app.screen_stack[1]
        assert isinstance(diff, Diff) and diff.side == "branch"
