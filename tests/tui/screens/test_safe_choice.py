"""Dialogs that delete, discard, stop or open something up: one unmeant enter changes nothing."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import OptionList

from model.api.changes import Changes
from model.api.worktrees import RemovalLosses
from model.domain import events as e
from tests.tui.conftest import Start, until
from tests.tui.every_screen import focused, session
from tests.tui.fake_client import FakeClient, a_project, a_session, a_state, a_worktree
from tests.tui.shell.test_repeated_keys import burst, everything_is_handled
from tui.canvas.screen import Canvas
from tui.screens.archive import Archive
from tui.screens.dialog import Confirm
from tui.screens.keymap_editor import KeysScreen
from tui.screens.preferences import PreferencesScreen
from tui.screens.profile_editor import ProfilesScreen
from tui.screens.server import ServerScreen
from tui.shell.app import SpinneyApp
from tui.store.places import Place
from tui.widgets.dialog_button import DialogButton

Reach = Callable[[SpinneyApp, "Pilot[None]"], Awaitable[None]]

SERVER = {
    "running": False, "base_url": None, "port": 3456, "localhost_only": True,
    "token_required": True,
}  # fmt: skip


def act(action_id: str) -> Reach:
    """Do an action in the session s1."""

    async def reach(app: SpinneyApp, pilot: "Pilot[None]") -> None:
        await session("s1")(app, pilot)
        app.main.action_do(action_id)

    return reach


def on_canvas(*keys: str) -> Reach:
    """Press keys on the canvas."""

    async def reach(app: SpinneyApp, pilot: "Pilot[None]") -> None:
        app.main.action_do("canvas")
        await until(pilot, lambda: isinstance(app.screen, Canvas) and app.screen.view.cells)
        await pilot.press(*keys)

    return reach


def on_screen(action_id: str, screen: type[Any], *keys: str) -> Reach:
    """Press keys on a screen that an action opens."""

    async def reach(app: SpinneyApp, pilot: "Pilot[None]") -> None:
        app.main.action_do(action_id)
        await until(pilot, lambda: isinstance(app.screen, screen) and app.screen.is_painted)
        await pilot.press(*keys)

    return reach


async def _remove_folder(app: SpinneyApp, pilot: "Pilot[None]") -> None:
    app.main.projects.focus()
    app.main.projects.move_cursor_to(Place("project", "f"))
    await until(pilot, lambda: app.main.projects.place == Place("project", "f"))
    await pilot.press("delete")


async def _remove_profile(app: SpinneyApp, pilot: "Pilot[None]") -> None:
    app.push_screen(ProfilesScreen(app.main))
    await until(
        pilot, lambda: isinstance(app.screen, ProfilesScreen) and app.screen.query(OptionList)
    )
    await pilot.press("delete")


async def _stop_spinney(app: SpinneyApp, pilot: "Pilot[None]") -> None:
    app.attached = True
    await act("stop_spinney")(app, pilot)


def a_client(*, at_work: bool = False, **worktree: Any) -> FakeClient:
    status = "running" if at_work else "idle"
    folder = a_project(id="f", name="work", is_folder=True, path="", default_branch="")
    client = FakeClient(
        a_state(
            a_project(),
            folder,
            a_worktree(**worktree),
            a_session(status=status),
            a_session(id="s2", name="Another", status=status),
        )
    )

    def stop(given: dict[str, Any]) -> None:
        client.feed(e.SessionUpdated(session_id=given["session_id"], updates={"status": "idle"}))

    client.answers |= {
        "stop_generation": stop,
        "get_removal_losses": lambda given: RemovalLosses(
            files=[], commits=0, sessions=1, running=[]
        ),
        "list_changed_files": lambda given: Changes(files=[], base="main", operation="merge"),
        "abort_merge": lambda given: "merge",
        "get_http_server_status": lambda given: SERVER,
        "get_http_server_token": lambda given: "token",
        "regenerate_http_token": lambda given: SERVER,
    }
    return client


def working() -> FakeClient:
    return a_client(at_work=True)


def losing() -> FakeClient:
    client = a_client()
    client.answers["get_removal_losses"] = lambda given: RemovalLosses(
        files=["a.py"], commits=2, sessions=1, running=[]
    )
    return client


def archived() -> FakeClient:
    client = a_client()
    client.feed(e.SessionUpdated(session_id="s2", updates={"archived_at": 5.0}))
    return client


def preferring(**changes: Any) -> Callable[[], FakeClient]:
    def client() -> FakeClient:
        found = a_client()
        found.feed(e.PreferencesUpdated(changes=changes))
        return found

    return client


@dataclass(frozen=True)
class Deciding:
    """A dialog: the way to it, and the command that is called once it is agreed to."""

    name: str
    reach: Reach
    command: str
    client: Callable[[], FakeClient] = a_client


PROFILE = {"name": "mine", "settings_json": "{}"}
DIALOGS = (
    Deciding("delete a session", act("delete_session"), "delete_session"),
    Deciding("archive what works", act("archive_session"), "archive_session", working),
    Deciding(
        "delete what was archived",
        on_screen("show_archive", Archive, "delete"), "delete_session", archived,
    ),
    Deciding("delete a worktree", act("delete_worktree"), "remove_worktree"),
    Deciding("delete a worktree with losses", act("delete_worktree"), "remove_worktree", losing),
    Deciding("remove a worktree", act("remove_worktree"), "remove_worktree"),
    Deciding(
        "remove means delete",
        act("remove_worktree"), "remove_worktree", preferring(removal_behavior="delete"),
    ),
    Deciding(
        "archive a worktree that works", act("archive_worktree"), "archive_worktree", working
    ),
    Deciding(
        "cancel a creation",
        act("cancel_git"), "cancel_git", lambda: a_client(status="creating"),
    ),
    Deciding("remove a project", act("remove_project"), "remove_project"),
    Deciding("remove a folder", _remove_folder, "delete_folder"),
    Deciding("abort a merge", act("abort_merge"), "abort_merge"),
    Deciding(
        "forget a pull request",
        act("clear_pull_request"), "clear_worktree_pr", lambda: a_client(pr_number=7),
    ),
    Deciding("stop Spinney", _stop_spinney, "stop_spinney"),
    Deciding("stop several", on_canvas("tab", "tab", "ctrl+x"), "stop_generation", working),
    Deciding("archive several", on_canvas("tab", "tab", "delete"), "archive_session"),
    Deciding("archive one at work", on_canvas("delete"), "archive_session", working),
    Deciding("let the network in", on_screen("server", ServerScreen, "l"), "update_preferences"),
    Deciding("don't require token", on_screen("server", ServerScreen, "r"), "update_preferences"),
    Deciding("make a new token", on_screen("server", ServerScreen, "g"), "regenerate_http_token"),
    Deciding(
        "give up a list",
        on_screen("preferences", PreferencesScreen, *"known_mcp_servers", "delete"),
        "update_preferences", preferring(known_mcp_servers=["files"]),
    ),
    Deciding(
        "give up all keys",
        on_screen("edit_keys", KeysScreen, "ctrl+r"),
        "update_preferences", preferring(keybindings={"help": "f11"}),
    ),
    Deciding(
        "remove a profile",
        _remove_profile, "update_preferences", preferring(custom_cli_profiles=[PROFILE]),
    ),
)  # fmt: skip


async def asked(dialog: Deciding, app: SpinneyApp, pilot: "Pilot[None]") -> Confirm:
    await dialog.reach(app, pilot)
    await until(pilot, lambda: isinstance(app.screen, Confirm) and app.screen.is_painted)
    assert isinstance(app.screen, Confirm)
    return app.screen


@pytest.mark.few(6)
@pytest.mark.parametrize("dialog", DIALOGS, ids=lambda dialog: dialog.name)
async def test_enter_alone_changes_nothing_and_the_other_choice_does_it(
    start: Start, dialog: Deciding
) -> None:
    client = dialog.client()
    async with start(client) as (app, pilot):
        question = await asked(dialog, app, pilot)
        await pilot.press("enter")
        await until(pilot, lambda: question not in app.screen_stack)
        await everything_is_handled(pilot)
        assert not client.called(dialog.command) and not client.called("stop_generation")
        while app.screen is not app.main:
            await pilot.press("escape")
            await everything_is_handled(pilot)
        await asked(dialog, app, pilot)
        await pilot.press("right", "enter")
        await until(pilot, lambda: client.called(dialog.command))


@pytest.mark.parametrize("asks", [True, False])
async def test_a_session_is_archived_after_a_question_where_that_is_wanted(
    start: Start, asks: bool
) -> None:
    client = preferring(confirm_session_close=asks)()
    async with start(client) as (app, pilot):
        await act("archive_session")(app, pilot)
        if asks:
            await until(pilot, lambda: isinstance(app.screen, Confirm) and app.screen.is_painted)
            await pilot.press("escape")
            await until(pilot, lambda: app.screen is app.main)
            assert not client.called("archive_session")
            await act("archive_session")(app, pilot)
            await until(pilot, lambda: isinstance(app.screen, Confirm) and app.screen.is_painted)
            await pilot.press("enter")
        await until(pilot, lambda: client.called("archive_session"))
        assert app.screen is app.main


def buttons(app: SpinneyApp) -> list[str]:
    return [str(button.render()).strip() for button in app.screen.query(DialogButton)]


async def test_the_choices_are_moved_over_clicked_and_named_with_their_keys(start: Start) -> None:
    client = a_client()
    dialog = DIALOGS[0]
    async with start(client, size=(80, 24)) as (app, pilot):
        await asked(dialog, app, pilot)
        assert buttons(app) == ["❯ Cancel  esc", "Delete  y"]
        await pilot.press("tab")
        assert buttons(app) == ["Cancel  esc", "❯ Delete  y"]
        await pilot.press("left")
        assert buttons(app) == ["❯ Cancel  esc", "Delete  y"]
        await pilot.click(app.screen.query(DialogButton).first())
        await until(pilot, lambda: app.screen is app.main)
        assert not client.called("delete_session")
        await asked(dialog, app, pilot)
        await pilot.click(app.screen.query(DialogButton).last())
        await until(pilot, lambda: client.called("delete_session"))


async def test_the_choices_of_a_long_question_are_seen_and_the_question_is_scrolled(
    start: Start,
) -> None:
    async with start(a_client(), size=(80, 24)) as (app, pilot):
        app.push_screen(Confirm("Long", "\n".join(map(str, range(60))), "delete"))
        await until(pilot, lambda: app.screen.query(DialogButton))
        last = app.screen.query(DialogButton).last()
        await until(pilot, lambda: last.region.area)
        assert app.screen.region.contains_region(last.region)
        page = app.screen.query_one(".page")
        await pilot.press("down", "down")
        await until(pilot, lambda: page.scroll_offset.y == 2)


@pytest.mark.parametrize("action_id", ["delete_session", "remove_worktree", "delete_worktree"])
async def test_no_key_on_its_way_agrees_to_a_deletion(start: Start, action_id: str) -> None:
    client = a_client(at_work=False)
    async with start(client) as (app, pilot):
        await focused("#tree")(app, pilot)
        app.main.action_do(action_id)
        burst(app, "right", "enter", "y")
        await until(pilot, lambda: isinstance(app.screen, Confirm) and app.screen.is_painted)
        await everything_is_handled(pilot)
        assert isinstance(app.screen, Confirm)
        assert not client.called("delete_session") and not client.called("remove_worktree")
