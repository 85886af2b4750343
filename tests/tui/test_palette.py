"""The command palette: what is chosen is what was written, however quick the hand."""

import asyncio

import pytest
from fake_client import FakeClient, a_project, a_session, a_state, a_worktree
from textual import events
from textual.command import CommandPalette, Hits
from textual.widgets import OptionList

from tests.tui.conftest import Start, until
from tui.app import SpinneyApp
from tui.screens.commands import ActionCommands


def type_at_once(app: SpinneyApp, *keys: str) -> None:
    """Keys that come in one piece, so that nothing is drawn between them."""
    written = {"enter": "\r", "space": " "}
    for key in keys:
        app.post_message(events.Key(key, written.get(key, key if len(key) == 1 else None)))


def slow_to_find(query: str, found: asyncio.Event, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search for this takes until `found` is set."""
    search = ActionCommands.search

    async def slowly(self: ActionCommands, wanted: str) -> Hits:
        if wanted == query:
            await found.wait()
        async for hit in search(self, wanted):
            yield hit

    monkeypatch.setattr(ActionCommands, "search", slowly)


async def test_enter_takes_what_was_written_and_not_what_stood_there_before(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = asyncio.Event()
    slow_to_find("new session", found, monkeypatch)
    client = FakeClient(a_state(a_project(), a_worktree(), a_session()))
    async with start(client) as (app, pilot):
        await pilot.press("ctrl+p")
        await until(pilot, lambda: CommandPalette.is_open(app))
        await until(pilot, lambda: app.screen.query_one(OptionList).option_count > 3)
        type_at_once(app, *"new", "space", *"session", "enter")
        await pilot.pause()
        assert CommandPalette.is_open(app)
        found.set()
        await until(pilot, lambda: client.called("create_session"))
        assert not CommandPalette.is_open(app)


async def test_enter_before_the_palette_has_anything_waits_for_it(start: Start) -> None:
    client = FakeClient(a_state(a_project(), a_worktree(), a_session()))
    async with start(client) as (app, pilot):
        type_at_once(app, "ctrl+p", *"new", "space", *"session", "enter")
        await until(pilot, lambda: client.called("create_session"))
        assert not CommandPalette.is_open(app)


async def test_a_second_enter_takes_no_second_command(start: Start) -> None:
    client = FakeClient(a_state(a_project(), a_worktree(), a_session()))
    async with start(client) as (app, pilot):
        app.main.action_do("commands")
        await until(pilot, lambda: CommandPalette.is_open(app))
        await pilot.press(*"newsession")
        await until(pilot, lambda: app.screen.query_one(OptionList).option_count == 1)
        type_at_once(app, "enter", "enter")
        await until(pilot, lambda: client.called("create_session"))
        assert not CommandPalette.is_open(app)
        assert len(client.called("create_session")) == 1
