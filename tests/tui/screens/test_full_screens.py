"""Behavior shared by the full screens: key hints, colors and screen reader output."""

import pytest

from model.domain.events.program import PreferencesUpdated
from model.domain.landing import LandingDesk
from tests.tui.a_hosting_service import open_work
from tests.tui.every_screen import SCREENS, ScreenCase, show_screen
from tests.tui.fake_client import FakeClient
from tests.tui.reading import screen_lines
from tests.tui.waiting import until, wait_until_still
from tui.diff.view import DiffView
from tui.hosting.work_screen import WorkScreen
from tui.landing.screen import LandingScreen
from tui.shell.app import SpinneyApp
from tui.terminal.screen_reader import Announcements
from tui.widgets.key_hints import KeyHints

FULL = [shown for shown in SCREENS if shown.name in ("canvas", "diff")]
CANVAS, DIFF = FULL
(MAIN,) = (shown for shown in SCREENS if shown.name == "conversation")
full_screen = pytest.mark.parametrize("shown", FULL, ids=lambda shown: shown.name)


def preferences_updated(**changes: object) -> PreferencesUpdated:
    return PreferencesUpdated(changes=changes)


@full_screen
async def test_key_hints_are_not_truncated_and_end_with_back_and_help(shown: ScreenCase) -> None:
    async with show_screen(shown) as (app, pilot):
        for size in ((60, 15), (80, 24), (100, 30), (200, 50)):
            await pilot.resize_terminal(*size)
            await wait_until_still(pilot)
            hints = app.screen.query_one(KeyHints).text
            assert "…" not in hints, size
            assert hints.endswith("esc back  f1 help"), size
            assert hints.startswith(("enter open", "tab files")), size


@full_screen
async def test_help_begins_with_the_keys_of_the_current_screen(shown: ScreenCase) -> None:
    async with show_screen(shown) as (app, pilot):
        screen = app.screen
        await pilot.press("f1")
        await until(pilot, lambda: app.screen is not screen)
        assert "(focused)" in app.screen.content.plain.partition("\n")[0]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "shown",
    [one for one in SCREENS if one.name in ("canvas", "diff", "log", "sweep", "archive")],
    ids=lambda shown: shown.name,
)
async def test_landing_and_open_work_are_a_key_away_from_every_screen(shown: ScreenCase) -> None:
    async with show_screen(shown) as (app, pilot):
        client = app.main.client
        assert isinstance(client, FakeClient)
        client.answers |= {"get_landing_desk": lambda given: LandingDesk(project_id="p1", rows=[])}
        client.answers |= {
            "get_train": lambda given: None,
            "list_open_work": lambda given: open_work(),
        }
        await pilot.press("shift+f11")
        await until(pilot, lambda: isinstance(app.screen, LandingScreen))
        await pilot.press("shift+f9")
        await until(pilot, lambda: isinstance(app.screen, WorkScreen))
        assert len(app.screen_stack) == 2, "a session that is opened there is seen"
        await pilot.press("shift+f9")
        await until(pilot, lambda: app.screen is app.main)


@full_screen
async def test_key_hints_follow_the_preferences(shown: ScreenCase) -> None:
    client = shown.client()
    async with show_screen(ScreenCase(shown.name, shown.reach, lambda: client)) as (app, pilot):
        hints = app.screen.query_one(KeyHints)
        own = {"help": "f11", "canvas_stop": "ctrl+y", "diff_stage": "y"}
        client.feed(preferences_updated(keybindings=own))
        await until(pilot, lambda: "f11 help" in hints.text)
        assert "y st" in hints.text
        client.feed(preferences_updated(show_keybinding_hints=False))
        await until(pilot, lambda: not hints.display)


@full_screen
async def test_screen_reader_notifications_stay_on_the_screen_as_text(shown: ScreenCase) -> None:
    async with show_screen(shown, (80, 24), SPINNEY_PLAIN="1") as (app, pilot):
        screen = app.screen
        app.main.say("The disk is full.", bad=True)
        announcements = screen.query_one(Announcements)
        await until(pilot, lambda: announcements.region.height == 1)
        assert not app._notifications
        await pilot.press("f1")
        await until(pilot, lambda: app.screen is not screen)
        app.main.say("It works again.")
        in_front = app.screen.query_one(Announcements)
        await until(pilot, lambda: str(in_front.content) == "It works again.")
        assert in_front.region.height == 1
        assert str(announcements.content) == "error: The disk is full.\nIt works again."


def test_screen_reader_ignores_a_focus_event_after_all_screens_closed() -> None:
    app = SpinneyApp(CANVAS.client, environ={"SPINNEY_PLAIN": "1"})
    assert not app.screen_stack
    app.on_descendant_focus()


@pytest.mark.parametrize("key", ["f9", "f1", "ctrl+p", "ctrl+g", "ctrl+o", "f8"])
async def test_screen_reader_cursor_returns_to_the_message_box(key: str) -> None:
    async with show_screen(MAIN, (80, 24), SPINNEY_PLAIN="1") as (app, pilot):
        app.main.chat.composer.focus()
        await pilot.press(*"word")
        place = app.cursor_position
        assert place == app.main.chat.composer.cursor_screen_offset
        await pilot.press(key)
        await until(pilot, lambda: app.screen is not app.main)
        await wait_until_still(pilot)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        await wait_until_still(pilot)
        assert app.cursor_position == place


@pytest.mark.parametrize("size", [(80, 24), (200, 50)], ids=str)
async def test_screen_reader_diff_is_shown_in_words_with_the_files_above_it(
    size: tuple[int, int],
) -> None:
    def rows(start: int, end: int) -> list[str]:
        return [" ".join(row.split()) for row in screen_lines(app)[start:end]]

    async with show_screen(DIFF, size, SPINNEY_PLAIN="1") as (app, pilot):
        assert rows(2, 3) == ["modified parser.py 2 added 1 removed"]
        assert isinstance(app.focused, DiffView)
        assert app.cursor_position.y == 4
        await pilot.press("down", "down", "shift+down")
        await until(pilot, lambda: "marked" in screen_lines(app)[7])
        assert rows(4, 10) == [
            "line 40 def read_rows(text):",
            "40 rows = []",
            "marked 41 removed while row:",
            "marked 41 added while row or tail:",
            "42 added rows.append(row) # all of them",
            "43 return rows",
        ]
        assert app.cursor_position.y == 7
        screen = app.screen
        await pilot.press("c")
        await until(pilot, lambda: app.screen is not screen)
        assert "return rows" not in "\n".join(screen_lines(app))
        await pilot.press(*"Why", "enter")
        await until(pilot, lambda: app.screen is screen)
        await wait_until_still(pilot)
        assert rows(6, 9) == [
            "commented 41 removed while row:",
            "commented 41 added while row or tail:",
            "you: Why",
        ]


async def test_screen_reader_help_names_keys_in_words() -> None:
    async with show_screen(DIFF, SPINNEY_PLAIN="1") as (app, pilot):
        screen = app.screen
        await pilot.press("f1")
        await until(pilot, lambda: app.screen is not screen)
        page = app.screen.content.plain  # type: ignore[attr-defined]
        assert "shift+up shift+down  Select lines" in page
        assert "left right scroll long lines" in " ".join(page.split())
        keys = page.partition("Status icons\n")[0]
        assert not {"^", "⇧", "↑", "↓", "←", "→"} & set(keys)


async def test_screen_reader_session_marks_are_words() -> None:
    async with show_screen(CANVAS, (200, 50), SPINNEY_PLAIN="1") as (app, pilot):
        await pilot.press("tab")
        await wait_until_still(pilot)
        assert " ".join(screen_lines(app)[1].split()).startswith("marked needs you Run the tests")
        assert app.cursor_position.y == 5
        assert "ctrl+r answer" in app.screen.query_one(KeyHints).text
