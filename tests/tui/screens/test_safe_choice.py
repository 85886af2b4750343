"""Dialogs that confirm risky actions: an accidental enter changes nothing."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest
from textual.pilot import Pilot
from textual.widgets import OptionList

from model.api.changes import Changes
from model.api.worktrees import RemovalLosses
from model.domain.events.program import PreferencesUpdated
from model.domain.events.sessions import SessionUpdated
from tests.tui.builders import a_folder, a_project, a_session, a_state, a_worktree
from tests.tui.conftest import Start
from tests.tui.every_screen import focused, session
from tests.tui.fake_client import FakeClient
from tests.tui.shell.test_repeated_keys import drain_events, post_keys
from tests.tui.waiting import until
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
    """Perform an action in the session s1."""

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


def client_for_decisions(*, running: bool = False, **worktree: Any) -> FakeClient:
    status = "running" if running else "idle"
    client = FakeClient(
        a_state(
            a_project(),
            a_folder(),
            a_worktree(**worktree),
            a_session(status=status),
            a_session(id="s2", name="Another", status=status),
        )
    )

    def stop(given: dict[str, Any]) -> None:
        client.feed(SessionUpdated(session_id=given["session_id"], updates={"status": "idle"}))

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


def running_client() -> FakeClient:
    return client_for_decisions(running=True)


def client_with_losses() -> FakeClient:
    client = client_for_decisions()
    client.answers["get_removal_losses"] = lambda given: RemovalLosses(
        files=["a.py"], commits=2, sessions=1, running=[]
    )
    return client


def archived_client() -> FakeClient:
    client = client_for_decisions()
    client.feed(SessionUpdated(session_id="s2", updates={"archived_at": 5.0}))
    return client


def client_with(**changes: Any) -> Callable[[], FakeClient]:
    def client() -> FakeClient:
        prepared = client_for_decisions()
        prepared.feed(PreferencesUpdated(changes=changes))
        return prepared

    return client


@dataclass(frozen=True)
class Decision:
    """A dialog: how to reach it, and the command that is called when it is confirmed."""

    name: str
    reach: Reach
    command: str
    client: Callable[[], FakeClient] = client_for_decisions


PROFILE = {"name": "mine", "settings_json": "{}"}
DIALOGS = (
    Decision("delete a session", act("delete_session"), "delete_session"),
    Decision(
        "archive a running session",
        act("archive_session"), "archive_session", running_client,
    ),
    Decision(
        "delete an archived session",
        on_screen("show_archive", Archive, "delete"), "delete_session", archived_client,
    ),
    Decision("delete a worktree", act("delete_worktree"), "remove_worktree"),
    Decision(
        "delete a worktree with losses",
        act("delete_worktree"), "remove_worktree", client_with_losses,
    ),
    Decision("remove a worktree", act("remove_worktree"), "remove_worktree"),
    Decision(
        "remove means delete",
        act("remove_worktree"), "remove_worktree", client_with(removal_behavior="delete"),
    ),
    Decision(
        "archive a running worktree", act("archive_worktree"), "archive_worktree", running_client
    ),
    Decision(
        "cancel a creation",
        act("cancel_git"), "cancel_git", lambda: client_for_decisions(status="creating"),
    ),
    Decision("remove a project", act("remove_project"), "remove_project"),
    Decision("remove a folder", _remove_folder, "delete_folder"),
    Decision("abort a merge", act("abort_merge"), "abort_merge"),
    Decision(
        "unlink a pull request",
        act("clear_pull_request"), "clear_worktree_pr", lambda: client_for_decisions(pr_number=7),
    ),
    Decision("stop Spinney", _stop_spinney, "stop_spinney"),
    Decision("stop several", on_canvas("tab", "tab", "ctrl+x"), "stop_generation", running_client),
    Decision("archive several", on_canvas("tab", "tab", "delete"), "archive_session"),
    Decision("archive a running one", on_canvas("delete"), "archive_session", running_client),
    Decision("allow network access", on_screen("server", ServerScreen, "l"), "update_preferences"),
    Decision("don't require token", on_screen("server", ServerScreen, "r"), "update_preferences"),
    Decision("replace the token", on_screen("server", ServerScreen, "g"), "regenerate_http_token"),
    Decision(
        "reset a list",
        on_screen("preferences", PreferencesScreen, *"known_mcp_servers", "delete"),
        "update_preferences", client_with(known_mcp_servers=["files"]),
    ),
    Decision(
        "reset all keys",
        on_screen("edit_keys", KeysScreen, "ctrl+r"),
        "update_preferences", client_with(keybindings={"help": "f11"}),
    ),
    Decision(
        "remove a profile",
        _remove_profile, "update_preferences", client_with(custom_cli_profiles=[PROFILE]),
    ),
)  # fmt: skip


async def open_confirmation(dialog: Decision, app: SpinneyApp, pilot: "Pilot[None]") -> Confirm:
    await dialog.reach(app, pilot)
    await until(pilot, lambda: isinstance(app.screen, Confirm) and app.screen.is_painted)
    assert isinstance(app.screen, Confirm)
    return app.screen


@pytest.mark.parametrize("dialog", DIALOGS, ids=lambda dialog: dialog.name)
async def test_enter_alone_changes_nothing_and_the_other_choice_confirms(
    start: Start, dialog: Decision
) -> None:
    client = dialog.client()
    async with start(client) as (app, pilot):
        question = await open_confirmation(dialog, app, pilot)
        await pilot.press("enter")
        await until(pilot, lambda: question not in app.screen_stack)
        await drain_events(pilot)
        assert not client.called(dialog.command) and not client.called("stop_generation")
        while app.screen is not app.main:
            await pilot.press("escape")
            await drain_events(pilot)
        await open_confirmation(dialog, app, pilot)
        await pilot.press("right", "enter")
        await until(pilot, lambda: client.called(dialog.command))


@pytest.mark.parametrize("asks", [True, False])
async def test_archiving_a_session_asks_if_the_preference_is_set(start: Start, asks: bool) -> None:
    client = client_with(confirm_session_close=asks)()
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


def button_labels(app: SpinneyApp) -> list[str]:
    return [str(button.render()).strip() for button in app.screen.query(DialogButton)]


async def test_the_choices_are_navigated_clicked_and_labeled_with_their_keys(start: Start) -> None:
    client = client_for_decisions()
    dialog = DIALOGS[0]
    async with start(client, size=(80, 24)) as (app, pilot):
        await open_confirmation(dialog, app, pilot)
        assert button_labels(app) == ["❯ Cancel  esc", "Delete  y"]
        await pilot.press("tab")
        assert button_labels(app) == ["Cancel  esc", "❯ Delete  y"]
        await pilot.press("left")
        assert button_labels(app) == ["❯ Cancel  esc", "Delete  y"]
        await pilot.click(app.screen.query(DialogButton).first())
        await until(pilot, lambda: app.screen is app.main)
        assert not client.called("delete_session")
        await open_confirmation(dialog, app, pilot)
        await pilot.click(app.screen.query(DialogButton).last())
        await until(pilot, lambda: client.called("delete_session"))


async def test_the_choices_stay_visible_while_a_long_question_is_scrolled(
    start: Start,
) -> None:
    async with start(client_for_decisions(), size=(80, 24)) as (app, pilot):
        app.push_screen(Confirm("Long", "\n".join(map(str, range(60))), "delete"))
        await until(pilot, lambda: app.screen.query(DialogButton))
        last = app.screen.query(DialogButton).last()
        await until(pilot, lambda: last.region.area)
        assert app.screen.region.contains_region(last.region)
        page = app.screen.query_one(".page")
        await pilot.press("down", "down")
        await until(pilot, lambda: page.scroll_offset.y == 2)


@pytest.mark.parametrize("action_id", ["delete_session", "remove_worktree", "delete_worktree"])
async def test_keys_already_typed_do_not_confirm_a_deletion(start: Start, action_id: str) -> None:
    client = client_for_decisions(running=False)
    async with start(client) as (app, pilot):
        await focused("#tree")(app, pilot)
        app.main.action_do(action_id)
        post_keys(app, "right", "enter", "y")
        await until(pilot, lambda: isinstance(app.screen, Confirm) and app.screen.is_painted)
        await drain_events(pilot)
        assert isinstance(app.screen, Confirm)
        assert not client.called("delete_session") and not client.called("remove_worktree")
