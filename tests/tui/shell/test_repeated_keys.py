"""Keys that are held, pressed twice at once, or pressed while their screen closes."""

import asyncio
from typing import Any

import pytest
from textual import events
from textual.pilot import Pilot

from model.api.changes import Changes
from model.api.git import ExchangeResult
from tests.tui.conftest import Start
from tests.tui.every_screen import a_busy_state, action, in_diff
from tests.tui.fake_client import FakeClient
from tests.tui.landing_desk import FakeLanding, a_train
from tests.tui.reading import notifications
from tests.tui.waiting import until
from tui.diff.screen import Diff
from tui.keys.keymap import BY_ID
from tui.landing.train_dialog import TrainProgress
from tui.screens.dialog import Confirm, Dialog, Report
from tui.screens.go_ahead import GoAhead
from tui.screens.working import Progress
from tui.shell.action_runner import REPEATABLE
from tui.shell.app import SpinneyApp
from tui.shell.type_ahead import OPENING


def post_keys(app: SpinneyApp, *keys: str) -> None:
    """Post keys all at once, as a slow connection delivers them."""
    for key in keys:
        app.post_message(events.Key(key, key if len(key) == 1 else None))


async def drain_events(pilot: "Pilot[None]") -> None:
    for _ in range(5):
        await pilot.pause()


async def test_a_held_key_pulls_once(start: Start) -> None:
    client, may_end = a_busy_state(), asyncio.Event()

    async def pull(given: dict[str, Any]) -> ExchangeResult:
        await may_end.wait()
        return ExchangeResult(success=True, output="Already up to date.")

    client.answers["update_from_base"] = pull
    async with start(client) as (app, pilot):
        await in_diff()(app, pilot)
        post_keys(app, *"llllll")
        await until(pilot, lambda: isinstance(app.screen, GoAhead))
        await drain_events(pilot)
        assert not client.called("update_from_base")
        await pilot.press("enter")
        await until(pilot, lambda: client.called("update_from_base"))
        post_keys(app, *"ll")
        await drain_events(pilot)
        may_end.set()
        await until(pilot, lambda: isinstance(app.screen, Diff))
        await drain_events(pilot)
        assert len(client.called("update_from_base")) == 1
        await pilot.press("l")
        await until(pilot, lambda: isinstance(app.screen, GoAhead))
        await pilot.press("enter")
        await until(pilot, lambda: len(client.called("update_from_base")) == 2)


async def test_work_is_not_started_after_its_dialog_has_closed(start: Start) -> None:
    began = []

    async def work() -> None:
        began.append(True)

    async with start(FakeClient()) as (app, pilot):
        dialog: Progress[None] = Progress("Pull", "Pulling …", work, work)
        app.push_screen(dialog)
        dialog.dismiss(None)
        dialog.say("too late")
        await drain_events(pilot)
        assert began == [] and app.is_running


@pytest.mark.parametrize("key", ["r", "a"])
async def test_a_key_of_a_dialog_does_nothing_in_the_screen_below_it(
    start: Start, key: str
) -> None:
    client = a_busy_state()
    client.answers["update_from_base"] = lambda given: ExchangeResult(
        success=False, output="CONFLICT"
    )
    changes = client.answers["list_changed_files"]
    client.answers["list_changed_files"] = lambda given: Changes(
        files=changes(given).files, base="main", operation="merge"
    )
    async with start(client) as (app, pilot):
        await in_diff("l", "enter")(app, pilot)
        await until(pilot, lambda: isinstance(app.screen, Report))
        client.refuse("write_conflict_task", "no task here")
        await pilot.press(key)
        wanted = "write_conflict_task" if key == "r" else "list_changed_files"
        await until(pilot, lambda: client.called(wanted))
        await drain_events(pilot)
        assert not client.called("stage_changes")
        assert [type(screen) for screen in app.screen_stack[1:]] == (
            [Diff] if key == "r" else [Diff, Confirm]
        )


async def test_no_key_that_closes_a_dialog_reaches_the_screen_below_it(start: Start) -> None:
    class ClosesOnAnyKey(Dialog[None]):
        """A dialog that closes on any key without stopping the event."""

        def body(self) -> list[Any]:
            return []

        def on_key(self) -> None:
            self.dismiss(None)

    client = a_busy_state()
    async with start(client) as (app, pilot):
        await in_diff()(app, pilot)
        for key in "asuxlwmr":
            app.push_screen(ClosesOnAnyKey("Any key"))
            await until(pilot, lambda: isinstance(app.screen, ClosesOnAnyKey))
            before = len(client.calls)
            await pilot.press(key)
            await drain_events(pilot)
            assert isinstance(app.screen, Diff)
            assert len(client.calls) == before, key


async def test_text_typed_right_after_leaving_the_palette_goes_to_the_message_box(
    start: Start,
) -> None:
    async with start(a_busy_state()) as (app, pilot):
        await action("commands")(app, pilot)
        post_keys(app, *"queue", "escape", *"hello")
        await until(pilot, lambda: app.main.chat.composer.text == "hello")
        assert app.screen is app.main


@pytest.mark.parametrize("name", ["rename_session", "search", "new_worktree"])
async def test_text_typed_right_after_leaving_a_dialog_goes_to_the_message_box(
    start: Start, name: str
) -> None:
    async with start(a_busy_state()) as (app, pilot):
        await action(name)(app, pilot)
        await until(pilot, lambda: app.screen.focused)
        post_keys(app, *"x", "escape", *"hello")
        await until(pilot, lambda: app.main.chat.composer.text == "hello")
        assert app.screen is app.main


def test_repeatable_and_opening_ids_are_actions() -> None:
    assert set(BY_ID) >= REPEATABLE
    # A command of the shell is written; enter shows a part of a pull request, or does what is next.
    assert {*BY_ID, "!", "pr_show", "landing_next"} >= OPENING


async def test_a_command_that_still_runs_returns_to_the_box_and_is_not_dropped(
    start: Start,
) -> None:
    fake, may_end = FakeLanding(), asyncio.Event()
    fake.train = a_train()

    async def wait(given: dict[str, Any]) -> None:
        await may_end.wait()

    fake.client.answers |= {"discard_train": wait, "update_session": wait}
    async with start(fake.client) as (app, pilot):
        app.main.open_session("s1")
        box = app.main.chat.composer
        await pilot.press(*"/train", "enter")
        await until(pilot, lambda: isinstance(app.screen, TrainProgress) and app.screen.is_painted)
        await pilot.press("delete")
        await until(pilot, lambda: isinstance(app.screen, Confirm) and app.screen.is_painted)
        await pilot.press("y")
        await until(pilot, lambda: fake.client.called("discard_train") and app.screen is app.main)
        await pilot.press(*"/train", "enter")
        await until(pilot, lambda: "/train is still running" in "".join(notifications(app)))
        await until(pilot, lambda: box.text == "/train")
        assert len(fake.client.called("get_train")) == 1

        await pilot.press("ctrl+u")
        for _ in range(2):
            await pilot.press(*"/rename Otter", "enter")
        await until(pilot, lambda: "/rename is still running" in "".join(notifications(app)))
        await until(pilot, lambda: box.text == "/rename Otter")
        may_end.set()
