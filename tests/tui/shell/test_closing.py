"""Screens close once, however quick the keys are, and with what lies over them."""

import asyncio
from typing import Any

import pytest
from textual import events

from model.api.changes import ChangedFile, Changes
from model.api.git import CommitResult
from model.domain import events as e
from tests.tui.conftest import Start, until
from tests.tui.fake_client import FakeClient, a_project, a_session, a_state, a_worktree
from tui.composer.widget import MessageArea
from tui.diff.screen import Diff
from tui.screens.commit import Commit
from tui.screens.dialog import Report
from tui.screens.palette import Palette


def a_client() -> FakeClient:
    client = FakeClient(a_state(a_project(), a_worktree(), a_session()))
    file = ChangedFile(
        path="a", old_path=None, status="modified", added=1, removed=0, old_mode="", mode="",
        submodule=False,
    )  # fmt: skip
    changes = Changes(files=[file], base="main", operation=None)
    client.answers["list_changed_files"] = lambda given: changes
    client.answers["get_file_diff"] = lambda given: None
    return client


@pytest.mark.parametrize("action", ["rename_session", "choose_model", "new_folder"])
async def test_a_second_enter_in_one_piece_closes_nothing_more(start: Start, action: str) -> None:
    client = a_client()
    async with start(client) as (app, pilot):
        app.main.open_session("s1")
        app.main.action_do(action)
        await until(pilot, lambda: app.screen is not app.main and app.screen.focused)
        for _ in range(2):
            app.post_message(events.Key("enter", "\r"))
        await until(pilot, lambda: app.screen is app.main)
        assert app.is_running


async def test_what_ends_below_the_palette_closes_with_it(start: Start) -> None:
    client = a_client()
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
        assert [note.message for note in app._notifications] == ["Committed as 0123456789."]
        await until(pilot, lambda: app.screen is app.main)


async def test_a_diff_whose_worktree_goes_closes_with_the_help_over_it(start: Start) -> None:
    client = a_client()
    async with start(client) as (app, pilot):
        app.main.open_session("s1")
        app.main.action_do("open_diff")
        await until(pilot, lambda: isinstance(app.screen, Diff))
        await pilot.press("f1")
        await until(pilot, lambda: isinstance(app.screen, Report))
        client.feed(e.WorktreeDeleted(worktree_id="w1", project_id="p1"))
        await until(pilot, lambda: app.screen is app.main)
