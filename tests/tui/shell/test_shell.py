"""The shell of the application: start, sizes, keys, colors, connection and quitting."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from textual.widgets import Input, OptionList

from model.base.errors import SpinneyError
from model.domain.events.program import PreferencesUpdated, TaskCompleted
from model.domain.events.sessions import SessionUpdated, SessionWaiting
from model.preferences.schema import Preferences
from tests.tui.builders import a_project, a_session, a_state, a_worktree
from tests.tui.conftest import Start
from tests.tui.fake_client import FakeClient, a_client
from tests.tui.reading import notifications
from tests.tui.waiting import until
from tui.actions.all import FUNCTIONS
from tui.actions.changes import ON_DIFF_SCREEN
from tui.actions.landing import ON_LANDING
from tui.actions.sweep import ON_SWEEP
from tui.canvas.screen import CANVAS
from tui.diff.actions import DIFF
from tui.diff.conflicts import CONFLICTS
from tui.diff.log_actions import LOG
from tui.hosting.pull_request_actions import PULL_REQUEST
from tui.hosting.work_actions import WORK
from tui.keys import keymap, overrides
from tui.screens.dialog import Confirm, Dialog, Report
from tui.screens.problem import Problem
from tui.shell.app import SpinneyApp
from tui.shell.leave import Leave
from tui.shell.local_actions import LOCAL
from tui.widgets.top_bar import TopBar

ROOT = Path(__file__).parents[3]


def test_importing_the_program_loads_only_what_the_first_frame_needs() -> None:
    program = (
        "import sys, tui.shell.app;"
        "heavy = {'aiohttp', 'git', 'pygments', 'pydantic', 'sqlite3', 'markdown_it',"
        "'textual.widgets._text_area', 'tui.composer.widget'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "[]"


def test_every_action_has_a_function() -> None:
    of_canvas = {"canvas_back", "canvas_scope", *CANVAS}
    of_diff = {"diff_back", *DIFF, *ON_DIFF_SCREEN}
    of_diff |= {*CONFLICTS, *LOG, "log_push", "log_back"}
    of_landing = {"landing_back", "landing_refresh", *ON_LANDING, *ON_SWEEP}
    of_landing |= {"sweep_back", "sweep_refresh", "sweep_mark_safe", "sweep_scope"}
    of_hosting = {"pr_back", "pr_refresh", "pr_next_part", "pr_previous_part", *PULL_REQUEST}
    of_hosting |= {"work_back", "work_refresh", "work_next_tab", "work_previous_tab", *WORK}
    known = FUNCTIONS.keys() | LOCAL.keys() | of_canvas | of_diff | of_landing | of_hosting
    assert {action.id for action in keymap.ACTIONS} <= known


def test_the_actions_of_the_page_alone_are_listed() -> None:
    page = (ROOT / "server" / "web" / "js" / "actions.js").read_text()
    found = re.findall(r'\{ id: "(\w+)"', page)
    assert tuple(name for name in found if name not in keymap.BY_ID) == keymap.PAGE_ACTIONS


def test_no_two_actions_share_a_key_and_none_has_an_ambiguous_key() -> None:
    assert overrides.find_conflicts({}) == []
    keys = {key for action in keymap.ACTIONS for key in action.keys.split(",")}
    assert not keys & {"ctrl+m", "ctrl+i", "ctrl+h", "ctrl+s", "ctrl+enter"}


async def test_the_first_frame_is_drawn_before_the_client_connects() -> None:
    asked: list[bool] = []

    def connect() -> FakeClient:
        asked.append(bool(app.main.chat.size.width))
        return FakeClient()

    app = SpinneyApp(connect, environ={})
    async with app.run_test() as pilot:
        await until(pilot, lambda: asked)
        assert asked == [True]


async def test_an_error_at_the_start_fills_the_screen() -> None:
    def connect() -> FakeClient:
        raise SpinneyError("The disk is full [/]: free some space.")

    app = SpinneyApp(connect, environ={})
    async with app.run_test() as pilot:
        await until(pilot, lambda: isinstance(app.screen, Problem))
        assert "The disk is full [/]" in str(app.screen.query("Static").first().render())
        await pilot.press("q")
    assert app.return_code == 1


async def test_problems_found_at_the_start_are_shown(start: Start) -> None:
    client = a_client()
    client.answers["get_problems"] = lambda given: ["preferences.json [was] broken."]
    async with start(client) as (app, pilot):
        await until(pilot, lambda: app._notifications)
        assert notifications(app) == ["preferences.json [was] broken."]


async def test_a_failed_task_is_reported(start: Start) -> None:
    client = a_client()
    async with start(client) as (app, pilot):
        client.feed(TaskCompleted(task="push", ok=False, detail="[/x] rejected"))
        await until(pilot, lambda: app._notifications)
        assert notifications(app) == ["Push failed: [/x] rejected"]


async def test_a_failed_script_says_how_to_show_its_full_output(start: Start) -> None:
    client = a_client()
    async with start(client) as (app, pilot):
        client.feed(TaskCompleted(task="setup", ok=False, detail="setup failed.\nline 2"))
        await until(pilot, lambda: app._notifications)
        (note,) = app._notifications
        assert note.message == "setup failed. ⇧f7 shows the full output."


async def test_a_hidden_session_notifies_when_it_needs_the_user(start: Start) -> None:
    client = FakeClient(
        a_state(a_project(), a_worktree(), a_session(), a_session(id="s2", name="[/]"))
    )
    async with start(client) as (app, pilot):
        app.main.open_session("s1")
        for session_id in ("s1", "s2"):
            client.feed(SessionWaiting(session_id=session_id, waiting_for="plan", request=None))
        await until(pilot, lambda: app._notifications)
        assert notifications(app) == ["'[/]' needs you: plan (^space)"]


async def test_a_lost_connection_is_shown_until_it_is_back(start: Start) -> None:
    client = a_client()
    async with start(client) as (app, pilot):
        bar = app.main.query_one(TopBar)
        client.lose()
        await until(pilot, lambda: "connection lost" in bar.text)
        client.reload()
        await until(pilot, lambda: "connection lost" not in bar.text)


async def test_after_missed_events_the_open_conversation_is_loaded_again(start: Start) -> None:
    client = a_client()
    async with start(client) as (app, pilot):
        await until(pilot, lambda: len(client.called("get_messages")) == 1)
        app.main.projects.focus()
        client.reload()
        await until(pilot, lambda: len(client.called("get_messages")) == 2)
        assert app.focused is app.main.projects


async def test_the_bar_counts_waiting_and_running_sessions(start: Start) -> None:
    client = FakeClient(
        a_state(
            a_project(),
            a_worktree(),
            a_session(status="running"),
            a_session(id="s2", status="waiting", waiting_for="plan"),
            a_session(id="s3", status="waiting", waiting_for="plan"),
        )
    )
    async with start(client) as (app, _):
        assert "2 need you · 1 running" in app.main.query_one(TopBar).text


@pytest.mark.parametrize(("width", "height"), [(59, 24), (80, 14)])
async def test_a_too_small_terminal_shows_the_size_that_is_needed(
    start: Start, width: int, height: int
) -> None:
    async with start(a_client(), size=(width, height)) as (app, pilot):
        sentence = app.main.query_one("#too-small")
        assert sentence.display
        assert "60×15" in str(sentence.render())
        await pilot.resize_terminal(120, 40)
        await until(pilot, lambda: not sentence.display)


async def test_at_80_columns_the_projects_open_over_the_chat_on_demand(start: Start) -> None:
    async with start(a_client(), size=(80, 24)) as (app, pilot):
        pane = app.main.query_one("#projects")
        assert not pane.display
        await pilot.press("f2")
        await until(pilot, lambda: pane.display and app.main.projects.has_focus)
        assert app.main.chat.size.width == 80
        await pilot.press("escape")
        await until(pilot, lambda: not pane.display)
        assert app.main.chat.composer.has_focus


@pytest.mark.parametrize("size", [(60, 15), (80, 24), (250, 60)])
async def test_the_layout_fits_every_size(start: Start, size: tuple[int, int]) -> None:
    async with start(a_client(), size=size) as (app, _):
        assert app.main.chat.composer.region.bottom <= size[1]
        assert app.main.query_one("#keys").region.bottom == size[1]


@pytest.mark.parametrize("size", [(60, 15), (80, 24), (200, 50)])
@pytest.mark.parametrize(
    "action",
    ["new_worktree", "add_project", "rename_session", "choose_model", "choose_thinking", "help",
     "check_agents", "remove_worktree", "delete_session", "start_server"],
)  # fmt: skip
async def test_every_dialog_shows_its_keys_at_every_size(
    start: Start, size: tuple[int, int], action: str
) -> None:
    client = a_client()
    client.answers["start_http_server"] = lambda given: {
        "running": True,
        "base_url": "http://127.0.0.1:3456",
        "token_required": False,
    }
    async with start(client, size=size) as (app, pilot):
        app.main.open_session("s1")
        app.main.action_do(action)
        await until(pilot, lambda: isinstance(app.screen, Dialog))
        keys = app.screen.query(".keys").last()
        await until(pilot, lambda: keys.region.height)
        assert keys.region.bottom < size[1]
        assert keys.region in app.screen.query_one(".dialog").content_region


async def test_tab_cycles_through_the_panes(start: Start) -> None:
    async with start(a_client()) as (app, pilot):
        await until(pilot, lambda: app.main.chat.transcript and app.main.chat.composer.has_focus)
        seen = []
        for _ in range(3):
            before = app.focused
            await pilot.press("tab")
            await until(pilot, lambda before=before: app.focused is not before)  # type: ignore[misc]
            seen.append(app.focused.id if app.focused else None)
        assert seen == ["tree", "transcript", "composer"]


async def test_tab_does_nothing_while_no_pane_is_shown(start: Start) -> None:
    async with start(a_client()) as (app, pilot):
        await until(pilot, lambda: app.main.chat.composer.has_focus)
        for pane in (app.main.projects, *app.main.chat.children):
            pane.display = False  # as while the program ends
        app.main.action_do("next_pane")
        assert app.is_running


async def test_letters_typed_in_the_conversation_go_to_the_message_box(start: Start) -> None:
    async with start(a_client()) as (app, pilot):
        chat = app.main.chat
        await until(pilot, lambda: chat.transcript and chat.composer.has_focus)
        await pilot.press("tab")
        await until(pilot, lambda: app.main.projects.has_focus)
        await pilot.press("tab")
        await until(pilot, lambda: chat.transcript and chat.transcript.has_focus)
        await pilot.press(*"hey")
        await until(pilot, lambda: app.main.chat.composer.text == "hey")


async def test_the_theme_follows_the_preference_at_once(start: Start) -> None:
    client = a_client()
    async with start(client) as (app, pilot):
        assert app.theme == "spinney-dark"
        client.feed(PreferencesUpdated(changes={"theme": "light"}))
        await until(pilot, lambda: app.theme == "spinney-light")
        client.feed(PreferencesUpdated(changes={"theme": "system"}))
        await until(pilot, lambda: app.theme == "spinney-dark")


async def test_custom_keys_replace_the_built_in_ones(start: Start) -> None:
    client = a_client()
    preferences = Preferences(keybindings={"help": "mod+y", "unknown": "x"})
    client.reload(replace(client.state, preferences=preferences))
    async with start(client) as (app, pilot):
        await until(pilot, lambda: app.main.key_overrides)
        (sentence,) = notifications(app)
        assert sentence == "Unknown actions in your keyboard shortcuts: unknown."
        await pilot.press("f1")
        await pilot.pause()
        assert app.screen is app.main
        app.main.projects.focus()
        await pilot.press("ctrl+y")
        await until(pilot, lambda: isinstance(app.screen, Report))
        assert "ctrl+y" in app.screen.content.plain  # type: ignore[attr-defined]


async def test_the_palette_finds_an_action_by_its_title(start: Start) -> None:
    client = a_client()
    async with start(client) as (app, pilot):
        await pilot.press("ctrl+p")
        await until(pilot, lambda: app.screen is not app.main and app.screen.query(Input))
        await pilot.press(*"theme: light")
        found = app.screen.query_one(OptionList)
        await until(pilot, lambda: "Theme: light" in str(found.options[0].prompt))
        await pilot.press("enter")
        await until(pilot, lambda: client.called("update_preferences"))
        assert client.called("update_preferences")[0]["changes"] == {"theme": "light"}


async def test_it_quits_at_once_when_nothing_runs(start: Start) -> None:
    client = a_client()
    async with start(client) as (app, pilot):
        await pilot.press("ctrl+q")
        await until(pilot, lambda: not app.is_running)
    assert client.called("close")


async def test_it_asks_before_a_run_is_interrupted(start: Start) -> None:
    async with start(a_client(status="running")) as (app, pilot):
        await pilot.press("ctrl+q")
        await until(pilot, lambda: isinstance(app.screen, Leave))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        await pilot.press("ctrl+q")
        await until(pilot, lambda: isinstance(app.screen, Leave))
        await pilot.press("l")  # without a Spinney in the background it cannot keep running
        assert app.is_running
        await pilot.press("q")
        await until(pilot, lambda: not app.is_running)
        assert app.ending == "quit"


@pytest.mark.parametrize("key", ["l", "enter", "ctrl+c"])
async def test_enter_and_another_ctrl_c_leave_it_running(start: Start, key: str) -> None:
    async with start(a_client(status="running")) as (app, pilot):
        app.outlived = True
        await pilot.press("ctrl+q")
        await until(pilot, lambda: isinstance(app.screen, Leave))
        await pilot.press(key)
        await until(pilot, lambda: not app.is_running)
        assert app.ending == "leave"


async def test_an_attached_screen_leaves_at_once_and_stops_nothing(start: Start) -> None:
    client = a_client(status="running")
    async with start(client) as (app, pilot):
        app.attached = True
        await pilot.press("ctrl+q")
        await until(pilot, lambda: not app.is_running)
    assert not client.called("stop_spinney")


async def test_an_attached_screen_stops_spinney_after_confirmation(start: Start) -> None:
    client = a_client(status="running")
    async with start(client) as (app, pilot):
        app.attached = True
        app.main.action_do("stop_spinney")
        await until(pilot, lambda: isinstance(app.screen, Confirm))
        assert "1 run is interrupted" in app.screen.sentence  # type: ignore[attr-defined]
        await pilot.press("right", "enter")
        await until(pilot, lambda: not app.is_running)
    assert client.called("stop_spinney")


async def test_a_draft_stays_while_the_connection_is_lost(start: Start) -> None:
    client = a_client()
    async with start(client) as (app, pilot):
        await pilot.press(*"half a thought")
        client.lose()
        await until(pilot, lambda: "connection lost" in app.main.query_one(TopBar).text)
        client.reload()
        await until(pilot, lambda: "connection lost" not in app.main.query_one(TopBar).text)
        assert app.main.chat.composer.text == "half a thought"


async def test_the_clock_runs_only_while_a_session_runs(start: Start) -> None:
    client = a_client()
    async with start(client) as (app, pilot):
        clock = app.main.chat.status._clock
        assert clock is not None
        assert not clock._active.is_set()
        client.feed(SessionUpdated(session_id="s1", updates={"status": "running"}))
        await until(pilot, lambda: clock._active.is_set())
