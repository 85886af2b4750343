"""Keys that are held, pressed twice in one piece, or come while what they act on closes."""

import asyncio
from typing import Any

import pytest
from textual import events
from textual.pilot import Pilot

from model.api.changes import Changes
from model.api.git import ExchangeResult
from tests.tui.conftest import Start, until
from tests.tui.every_screen import a_busy_state, action, in_diff
from tests.tui.fake_client import FakeClient
from tui.diff.screen import Diff
from tui.keys.keymap import BY_ID
from tui.screens.dialog import Confirm, Dialog, Report
from tui.screens.working import Progress
from tui.shell.action_runner import REPEATABLE
from tui.shell.app import SpinneyApp
from tui.shell.type_ahead import OPENING


def burst(app: SpinneyApp, *keys: str) -> None:
    """Keys as a slow line delivers them: in one piece."""
    for key in keys:
        app.post_message(events.Key(key, key if len(key) == 1 else None))


async def everything_is_handled(pilot: "Pilot[None]") -> None:
    for _ in range(5):
        await pilot.pause()


async def test_a_held_key_pulls_once(start: Start) -> None:
    client, ends = a_busy_state(), asyncio.Event()

    async def pull(given: dict[str, Any]) -> ExchangeResult:
        await ends.wait()
        return ExchangeResult(success=True, output="Already up to date.")

    client.answers["git_pull"] = pull
    async with start(client) as (app, pilot):
        await in_diff()(app, pilot)
        burst(app, *"llllll")
        await until(pilot, lambda: client.called("git_pull"))
        burst(app, *"ll")
        await everything_is_handled(pilot)
        ends.set()
        await until(pilot, lambda: isinstance(app.screen, Diff))
        await everything_is_handled(pilot)
        assert len(client.called("git_pull")) == 1
        await pilot.press("l")
        await until(pilot, lambda: len(client.called("git_pull")) == 2)


async def test_work_whose_dialog_closed_before_it_was_there_is_not_begun(start: Start) -> None:
    began = []

    async def work() -> None:
        began.append(True)

    async with start(FakeClient()) as (app, pilot):
        dialog: Progress[None] = Progress("Pull", "Pulling …", work, work)
        app.push_screen(dialog)
        dialog.dismiss(None)
        dialog.say("too late")
        await everything_is_handled(pilot)
        assert began == [] and app.is_running


@pytest.mark.parametrize("key", ["r", "a"])
async def test_a_key_of_a_dialog_does_nothing_in_the_screen_below_it(
    start: Start, key: str
) -> None:
    client = a_busy_state()
    client.answers["git_pull"] = lambda given: ExchangeResult(success=False, output="CONFLICT")
    changes = client.answers["list_changed_files"]
    client.answers["list_changed_files"] = lambda given: Changes(
        files=changes(given).files, base="main", operation="merge"
    )
    async with start(client) as (app, pilot):
        await in_diff("l")(app, pilot)
        await until(pilot, lambda: isinstance(app.screen, Report))
        client.refuse("write_conflict_task", "no task here")
        await pilot.press(key)
        wanted = "write_conflict_task" if key == "r" else "list_changed_files"
        await until(pilot, lambda: client.called(wanted))
        await everything_is_handled(pilot)
        assert not client.called("stage_changes")
        assert [type(screen) for screen in app.screen_stack[1:]] == (
            [Diff] if key == "r" else [Diff, Confirm]
        )


async def test_no_key_that_closes_a_dialog_reaches_the_screen_below_it(start: Start) -> None:
    class Closes(Dialog[None]):
        """A dialog that closes with any key, and forgets to stop it."""

        def body(self) -> list[Any]:
            return []

        def on_key(self) -> None:
            self.dismiss(None)

    client = a_busy_state()
    async with start(client) as (app, pilot):
        await in_diff()(app, pilot)
        for key in "asuxlwmr":
            app.push_screen(Closes("Any key"))
            await until(pilot, lambda: isinstance(app.screen, Closes))
            before = len(client.calls)
            await pilot.press(key)
            await everything_is_handled(pilot)
            assert isinstance(app.screen, Diff)
            assert len(client.calls) == before, key


async def test_what_is_typed_right_after_the_palette_was_left_is_written(start: Start) -> None:
    async with start(a_busy_state()) as (app, pilot):
        await action("commands")(app, pilot)
        burst(app, *"queue", "escape", *"hello")
        await until(pilot, lambda: app.main.chat.composer.text == "hello")
        assert app.screen is app.main


@pytest.mark.parametrize("name", ["rename_session", "search", "new_worktree"])
async def test_what_is_typed_right_after_a_dialog_was_left_is_written(
    start: Start, name: str
) -> None:
    async with start(a_busy_state()) as (app, pilot):
        await action(name)(app, pilot)
        await until(pilot, lambda: app.screen.focused)
        burst(app, *"x", "escape", *"hello")
        await until(pilot, lambda: app.main.chat.composer.text == "hello")
        assert app.screen is app.main


def test_only_what_is_an_action_can_be_repeated() -> None:
    assert set(BY_ID) >= REPEATABLE
    assert set(BY_ID) >= OPENING
