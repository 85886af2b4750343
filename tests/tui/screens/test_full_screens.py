"""What holds for all full screens: their foot, their colours, what they tell."""

from collections.abc import Iterator

import pytest

from model.domain import events as e
from tests.tui.conftest import until
from tests.tui.every_screen import SCREENS, Shown, cells, reached, rows_in_front, still, text_of
from tui.diff.view import DiffView
from tui.shell.app import SpinneyApp
from tui.terminal import screen_reader
from tui.terminal.background import BackgroundReported
from tui.terminal.screen_reader import Announcements
from tui.widgets.key_hints import KeyHints

FULL = [shown for shown in SCREENS if shown.name in ("canvas", "diff")]
CANVAS, DIFF = FULL
(MAIN,) = (shown for shown in SCREENS if shown.name == "conversation")
full_screen = pytest.mark.parametrize("shown", FULL, ids=lambda shown: shown.name)
every_screen = pytest.mark.parametrize(
    "shown",
    [shown for shown in SCREENS if not shown.varies and shown.name != "preferences"],
    ids=lambda shown: shown.name,
)


@pytest.fixture(autouse=True)
def words_no_more() -> Iterator[None]:
    """A process has one terminal: what follows is drawn for eyes again."""
    yield
    screen_reader.set_enabled(False)


def preferred(**changes: object) -> e.PreferencesUpdated:
    return e.PreferencesUpdated(changes=changes)


@pytest.mark.few(3)
@full_screen
@pytest.mark.parametrize("size", [(60, 15), (80, 24), (100, 30), (200, 50)], ids=str)
async def test_the_foot_cuts_no_word_and_ends_with_the_way_to_all_keys(
    shown: Shown, size: tuple[int, int]
) -> None:
    async with reached(shown, size) as (app, _):
        foot = app.screen.query_one(KeyHints).text
        assert "…" not in foot
        assert foot.endswith("esc back  f1 help")
        assert foot.startswith("enter open")


@full_screen
async def test_help_begins_with_the_keys_of_the_screen_that_one_is_on(shown: Shown) -> None:
    async with reached(shown) as (app, pilot):
        screen = app.screen
        await pilot.press("f1")
        await until(pilot, lambda: app.screen is not screen)
        assert "(focused)" in app.screen.content.plain.partition("\n")[0]  # type: ignore[attr-defined]


@full_screen
async def test_the_foot_follows_the_preferences(shown: Shown) -> None:
    client = shown.client()
    async with reached(Shown(shown.name, shown.reach, lambda: client)) as (app, pilot):
        foot = app.screen.query_one(KeyHints)
        own = {"help": "f11", "canvas_stop": "ctrl+y", "diff_stage": "y"}
        client.feed(preferred(keybindings=own))
        await until(pilot, lambda: "f11 help" in foot.text)
        assert "y st" in foot.text
        client.feed(preferred(show_keybinding_hints=False))
        await until(pilot, lambda: not foot.display)


@pytest.mark.longer
@every_screen
async def test_colours_follow_the_terminal_and_the_preference_while_it_is_open(
    shown: Shown,
) -> None:
    client = shown.client()
    async with reached(Shown(shown.name, shown.reach, lambda: client)) as (app, pilot):
        dark = cells(rows_in_front(app))
        app.post_message(BackgroundReported(dark=False))
        await until(pilot, lambda: not app.is_dark)
        await still(app, pilot)
        light = cells(rows_in_front(app))
        client.feed(preferred(theme="dark"))
        await until(pilot, lambda: app.is_dark)
        await still(app, pilot)
        assert cells(rows_in_front(app)) == dark
        client.feed(preferred(theme="light"))
        await until(pilot, lambda: not app.is_dark)
        await still(app, pilot)
        assert cells(rows_in_front(app)) == light
    bright = shown.client()
    bright.feed(preferred(theme="light"))
    async with reached(Shown(shown.name, shown.reach, lambda: bright)) as (app, _):
        assert cells(rows_in_front(app)) == light


@full_screen
async def test_for_ears_what_is_told_in_passing_stays_on_the_screen_in_words(shown: Shown) -> None:
    async with reached(shown, (80, 24), SPINNEY_PLAIN="1") as (app, pilot):
        screen = app.screen
        app.main.say("The disk is full.", bad=True)
        told = screen.query_one(Announcements)
        await until(pilot, lambda: told.region.height == 1)
        assert not app._notifications
        await pilot.press("f1")
        await until(pilot, lambda: app.screen is not screen)
        app.main.say("It works again.")
        in_front = app.screen.query_one(Announcements)
        await until(pilot, lambda: str(in_front.content) == "It works again.")
        assert in_front.region.height == 1
        assert str(told.content) == "error: The disk is full.\nIt works again."


def test_for_ears_a_focus_that_is_told_when_all_screens_have_closed_is_no_fault() -> None:
    app = SpinneyApp(CANVAS.client, environ={"SPINNEY_PLAIN": "1"})
    assert not app.screen_stack
    app.on_descendant_focus()


@pytest.mark.longer
@every_screen
async def test_for_ears_a_dialog_stands_alone_and_the_cursor_is_on_words_where_the_keys_go(
    shown: Shown,
) -> None:
    async with reached(shown, (80, 24), SPINNEY_PLAIN="1") as (app, _):
        if app.screen.is_modal:
            assert "need you" not in "\n".join(text_of(app))
            assert all(row.startswith(" ") for row in text_of(app) if row)
        x, y = app.cursor_position
        assert text_of(app)[y].strip(), (x, y)
        focused = app.focused
        assert focused is None or not focused.region or focused.region.contains(x, y)


@pytest.mark.few(2)
@pytest.mark.parametrize("key", ["f9", "f1", "ctrl+p", "ctrl+g", "ctrl+o", "f8"])
async def test_for_ears_the_cursor_is_back_in_the_message_when_a_screen_closes(key: str) -> None:
    async with reached(MAIN, (80, 24), SPINNEY_PLAIN="1") as (app, pilot):
        app.main.chat.composer.focus()
        await pilot.press(*"word")
        place = app.cursor_position
        assert place == app.main.chat.composer.cursor_screen_offset
        await pilot.press(key)
        await until(pilot, lambda: app.screen is not app.main)
        await still(app, pilot)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is app.main)
        await still(app, pilot)
        assert app.cursor_position == place


@pytest.mark.parametrize("size", [(80, 24), (200, 50)], ids=str)
async def test_for_ears_a_difference_is_told_in_words_one_thing_at_a_time(
    size: tuple[int, int],
) -> None:
    async with reached(DIFF, size, SPINNEY_PLAIN="1") as (app, pilot):
        assert " ".join(text_of(app)[1].split()) == "modified parser.py 2 added 1 removed"
        assert app.cursor_position.y == 1
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.focused, DiffView))
        await pilot.press("down", "down", "shift+down")
        await until(pilot, lambda: "marked" in text_of(app)[4])
        assert [" ".join(row.split()) for row in text_of(app)[1:7]] == [
            "line 40 def read_rows(text):",
            "40 rows = []",
            "marked 41 removed while row:",
            "marked 41 added while row or tail:",
            "42 added rows.append(row) # all of them",
            "43 return rows",
        ]
        assert app.cursor_position.y == 4
        screen = app.screen
        await pilot.press("c")
        await until(pilot, lambda: app.screen is not screen)
        assert "return rows" not in "\n".join(text_of(app))
        await pilot.press(*"Why", "enter")
        await until(pilot, lambda: app.screen is screen)
        await still(app, pilot)
        assert " ".join(text_of(app)[3].split()) == "commented 41 removed while row:"


async def test_for_ears_the_help_names_keys_in_words() -> None:
    async with reached(DIFF, SPINNEY_PLAIN="1") as (app, pilot):
        screen = app.screen
        await pilot.press("f1")
        await until(pilot, lambda: app.screen is not screen)
        page = app.screen.content.plain  # type: ignore[attr-defined]
        assert "shift+up shift+down  Select lines" in page
        assert "left right scroll long lines" in page
        keys = page.partition("Status icons\n")[0]
        assert not {"^", "⇧", "↑", "↓", "←", "→"} & set(keys)


async def test_for_ears_marks_of_sessions_are_words() -> None:
    async with reached(CANVAS, (200, 50), SPINNEY_PLAIN="1") as (app, pilot):
        await pilot.press("tab")
        await still(app, pilot)
        assert " ".join(text_of(app)[1].split()).startswith("marked needs you Run the tests")
        assert app.cursor_position.y == 5
        assert "ctrl+r answer" in app.screen.query_one(KeyHints).text
