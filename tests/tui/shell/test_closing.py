"""Screens close once, however fast keys arrive, and with the screens above them."""

import asyncio
from typing import Any

import pytest
from textual import events

from model.api.git import CommitResult
from model.domain.events.worktrees import WorktreeDeleted
from tests.tui.builders import make_changes
from tests.tui.conftest import Start
from tests.tui.fake_client import FakeClient, a_client
from tests.tui.reading import notifications
from tests.tui.waiting import until
from tui.composer.message_area import MessageArea
from tui.diff.screen import Diff
from tui.screens.commit import Commit
from tui.screens.dialog import Report
from tui.screens.first_run import FirstRun
from tui.screens.palette import Palette


def client_with_changed_file() -> FakeClient:
    client = a_client()
    client.answers["list_changed_files"] = lambda given: make_changes("a")
    client.answers["get_file_diff"] = lambda given: None
    return client


@pytest.mark.parametrize("action", ["rename_session", "choose_model", "new_folder"])
async def test_a_second_enter_right_after_the_first_closes_nothing_more(
    start: Start, action: str
) -> None:
    client = client_with_changed_file()
    async with start(client) as (app, pilot):
        app.main.open_session("s1")
        app.main.action_do(action)
        await until(pilot, lambda: app.screen is not app.main and app.screen.focused)
        for _ in range(2):
            app.post_message(events.Key("enter", "\r"))
        await until(pilot, lambda: app.screen is app.main)
        assert app.is_running


async def test_quitting_while_a_screen_opens_is_no_failure(start: Start) -> None:
    async with start(a_client()) as (app, _):
        screen = FirstRun(app.main, welcome=True)
        opening = app.push_screen(screen)
        app.exit()
        await opening
        assert not screen.query("#found")
    assert app.return_code == 0


async def test_a_dialog_that_ends_below_the_palette_closes_with_it(start: Start) -> None:
    client = client_with_changed_file()
    ends = asyncio.Event()

    async def commit(given: dict[str, Any]) -> CommitResult:
        await ends.wait()
        return CommitResult(success=True, commit_sha="0123456789abcdef")

    client.answers["commit_changes"] = commit
    async with start(client) as (app, pilot):
        app.main.open_session("s1")
        app.main.action_do("commit")
        await until(pilot, lambda: isinstance(app.screen, Commit))
        app.screen.query_one(MessageArea).text = "Mend"
        await pilot.press("enter")
        await until(pilot, lambda: client.called("commit_changes"))
        await pilot.press("ctrl+p")
        await until(pilot, lambda: isinstance(app.screen, Palette))
        ends.set()
        await until(pilot, lambda: app._notifications)
        assert notifications(app) == ["Committed as 0123456789."]
        await until(pilot, lambda: app.screen is app.main)


async def test_the_diff_of_a_removed_worktree_closes_with_the_help_over_it(start: Start) -> None:
    client = client_with_changed_file()
    async with start(client) as (app, pilot):
        app.main.open_session("s1")
        app.main.action_do("open_diff")
        await until(pilot, lambda: isinstance(app.screen, Diff))
        await pilot.press("f1")
        await until(pilot, lambda: isinstance(app.screen, Report))
        client.feed(WorktreeDeleted(worktree_id="w1", project_id="p1"))
        await until(pilot, lambda: app.screen is app.main)
