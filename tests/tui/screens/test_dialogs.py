"""Behavior shared by all dialogs: key hints that can be clicked and are listed in the palette."""

from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static
from textual.widgets import OptionList as CommandList

from tests.tui.builders import a_project, a_session, a_state, a_worktree
from tests.tui.conftest import Start
from tests.tui.every_screen import SCREENS, show_screen
from tests.tui.fake_client import FakeClient, a_client
from tests.tui.waiting import until
from tui.screens.dialog import Confirm, Dialog
from tui.screens.keymap_editor import KeysScreen, PressKey
from tui.screens.palette import Palette as CommandPalette
from tui.shell.app import SpinneyApp
from tui.widgets.key_line import read_keys

COUNTS = ("cached_uncommitted_added", "cached_uncommitted_removed")


async def open_palette(app: SpinneyApp, pilot: "Pilot[None]") -> list[str]:
    """Open the command palette and return its entries."""
    await pilot.press("ctrl+p")
    await until(pilot, lambda: isinstance(app.screen, CommandPalette))
    entries = app.screen.query_one(CommandList)
    await until(pilot, lambda: entries.option_count and not entries.loading)
    return [str(option.prompt).splitlines()[0] for option in entries.options]


@pytest.mark.few(3)
@pytest.mark.parametrize(
    "name", ["rename-session", "delete-session", "choose-model", "preferences", "server", "help"]
)
async def test_the_palette_in_a_dialog_lists_its_key_hints(name: str) -> None:
    shown = next(shown for shown in SCREENS if shown.name == name)
    async with show_screen(shown) as (app, pilot):
        dialog = app.screen
        assert isinstance(dialog, Dialog)
        hints = read_keys(dialog)
        assert "esc" in dict(hints)
        entries = await open_palette(app, pilot)
        assert sorted(entry.casefold() for entry in entries) == sorted(
            f"{words}  {key}".casefold() for key, words in hints
        )
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is dialog)


async def test_an_entry_of_the_palette_performs_its_action(start: Start) -> None:
    client = a_client()
    async with start(client) as (app, pilot):
        app.main.action_do("delete_session")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        await open_palette(app, pilot)
        await pilot.press(*"delete")
        entries = app.screen.query_one(CommandList)
        await until(pilot, lambda: entries.option_count == 1)
        await pilot.press("enter")
        await until(pilot, lambda: client.called("delete_session"))


async def test_a_key_hint_can_be_clicked(start: Start) -> None:
    client = a_client()
    async with start(client) as (app, pilot):
        for words, calls in (("enter", 1), ("cancel", 1)):
            app.main.action_do("rename_session")
            await until(pilot, lambda: app.screen.query(Input))
            line = app.screen.query_one(".keys", Static)
            await until(pilot, lambda: line.region.area)  # noqa: B023
            await pilot.click(line, offset=(str(line.content).index(words) + 1, 0))
            await until(pilot, lambda: app.screen is app.main)
            assert len(client.called("update_session")) == calls


async def test_where_the_palette_would_be_empty_its_key_is_an_ordinary_key(start: Start) -> None:
    async with start(a_client()) as (app, pilot):
        app.main.action_do("edit_keys")
        await until(pilot, lambda: isinstance(app.screen, KeysScreen))
        await pilot.press(*"rename the session", "enter")
        await until(pilot, lambda: isinstance(app.screen, PressKey))
        await pilot.press("ctrl+p")
        problem = app.screen.query_one(".problem", Static)
        await until(pilot, lambda: "is the key of 'Command palette'" in str(problem.render()))


async def test_the_palette_lists_only_available_actions(start: Start) -> None:
    async with start(a_client()) as (app, pilot):
        entries = await open_palette(app, pilot)
        assert any(entry.startswith("Server: start") for entry in entries)
        assert not any(entry.startswith("Server: stop") for entry in entries)


@pytest.mark.parametrize(
    ("session", "worktree", "offered"),
    [
        ({}, {}, set()),
        ({"status": "running"}, {}, {"Stop"}),
        ({}, {"running_scripts": ["setup"]}, {"Stop"}),
        ({}, {"cached_conflict_count": 2}, {"Abort", "Resolve"}),
        ({}, {"cached_uncommitted_added": 3}, {"Abort"}),
    ],
)
async def test_the_palette_lists_stop_and_abort_only_while_something_is_active(
    start: Start, session: dict[str, Any], worktree: dict[str, Any], offered: set[str]
) -> None:
    fields = {"cached_conflict_count": 0} | dict.fromkeys(COUNTS, 0) | worktree
    client = FakeClient(a_state(a_project(), a_worktree(**fields), a_session(**session)))
    titles = {
        "Stop": "Stop the session",
        "Abort": "Abort the merge or rebase",
        "Resolve": "Resolve conflicts with an agent",
    }
    async with start(client) as (app, pilot):
        app.main.open_session("s1")
        entries = await open_palette(app, pilot)
        found = {word for word, title in titles.items() for e in entries if e.startswith(title)}
        assert found == offered
