"""Requirements for every screen and dialog: snapshot, colors, contrast, focus, sizes, terminals.

A screen is opened once for all that can be checked on it, one function a requirement. To accept a
changed snapshot, run `SPINNEY_SNAPSHOTS=1 make test TESTS=tests/tui/test_every_screen.py`, and
review the diff.
"""

import os
from pathlib import Path

import pytest
from rich.style import Style
from textual.pilot import Pilot

from model.domain.events.program import PreferencesUpdated
from tests.tui.every_screen import BOXES, SCREENS, ScreenCase, find_low_contrast, show_screen
from tests.tui.fake_client import FakeClient
from tests.tui.reading import cells, rows_in_front, screen_lines, screen_rows
from tests.tui.snapshot_text import Cells, describe_styles, describe_text, read_cells
from tests.tui.waiting import until, wait_until_still
from tui.shell.app import SpinneyApp
from tui.terminal.background import BackgroundReported

SNAPSHOTS = Path(__file__).parent / "snapshots"
IS_WHOLE_TIER = os.environ.get("SPINNEY_TESTS_REPEAT") == "1"
IS_ACCEPTED = bool(os.environ.get("SPINNEY_SNAPSHOTS")) and not IS_WHOLE_TIER
"""What is drawn becomes the snapshot; not in a whole tier, whose results are not looked at."""
SHOWS_THEME = ("preferences", "theme")
"""Screens that say which theme is set."""

pytestmark = pytest.mark.painted  # some widgets lay out their rows when they are painted
every_screen = pytest.mark.parametrize("shown", SCREENS, ids=lambda shown: shown.name)


@every_screen
async def test_a_screen_is_as_accepted_in_every_theme_size_and_character_set(
    shown: ScreenCase,
) -> None:
    client = shown.client()
    async with show_screen(ScreenCase(shown.name, shown.reach, lambda: client)) as (app, pilot):
        text = describe_text(app)
        dark, light = await _check_that_it_follows_the_theme(shown, client, app, pilot)
        text += describe_styles(dark, light)
        for size in ((80, 24), (200, 50)):
            await pilot.resize_terminal(*size)
            await wait_until_still(pilot)
            text += describe_text(app)
        if not shown.varies:
            _check_snapshot(shown.name, "\n".join(text) + "\n")
        await pilot.resize_terminal(120, 40)
        await wait_until_still(pilot)
        await _check_that_the_focus_is_visible(app, pilot)
        await _check_that_no_size_fails(app, pilot)
    await _check_that_it_opens_in_light_ascii(shown, light)


async def _check_that_it_follows_the_theme(
    shown: ScreenCase, client: FakeClient, app: SpinneyApp, pilot: "Pilot[None]"
) -> tuple[Cells, Cells]:
    """It follows the terminal and the preference, and every word is legible: dark and light."""
    dark = await _read_in_theme(app, pilot, is_dark=True)
    assert find_low_contrast(rows_in_front(app)) == set(), "dark"
    app.post_message(BackgroundReported(dark=False))
    light = await _read_in_theme(app, pilot, is_dark=False)
    assert find_low_contrast(rows_in_front(app)) == set(), "light"
    if shown.name == "preferences":  # says that one was changed
        app.post_message(BackgroundReported(dark=True))
        assert await _read_in_theme(app, pilot, is_dark=True) == dark
        return dark, light
    for theme, look in (("dark", dark), ("light", light), ("dark", dark)):
        client.feed(PreferencesUpdated(changes={"theme": theme}))
        assert await _read_in_theme(app, pilot, is_dark=theme == "dark") == look, theme
    return dark, light


async def _read_in_theme(app: SpinneyApp, pilot: "Pilot[None]", *, is_dark: bool) -> Cells:
    await until(pilot, lambda: app.is_dark == is_dark)
    await wait_until_still(pilot)
    return read_cells(app)


def _check_snapshot(name: str, found: str) -> None:
    path = SNAPSHOTS / f"{name}.txt"
    if IS_ACCEPTED:
        path.write_text(found, encoding="utf-8")
    assert path.exists(), f"{name} was not accepted yet; this module says how"
    assert found == path.read_text(encoding="utf-8")


async def _check_that_the_focus_is_visible(app: SpinneyApp, pilot: "Pilot[None]") -> None:
    stops = [widget for widget in app.screen.focus_chain if widget.display]
    if len(stops) < 2:
        return  # the focus cannot move
    seen: list[object] = []
    while app.focused is not None and app.focused not in seen:
        seen.append(app.focused)
        with_focus = cells(screen_rows(app))
        focused = app.focused
        app.screen.set_focus(None)
        await wait_until_still(pilot)
        assert cells(screen_rows(app)) != with_focus, (
            f"{focused!r} does not show that it has the focus"
        )
        focused.focus()
        await pilot.press("tab")
        await wait_until_still(pilot)


async def _check_that_no_size_fails(app: SpinneyApp, pilot: "Pilot[None]") -> None:
    """Nothing fails at tiny sizes, and text is shown again afterwards."""
    for size in ((40, 10), (12, 4), (3, 2), (1, 1), (120, 40)):
        await pilot.resize_terminal(*size)
        await wait_until_still(pilot)
    assert "\n".join(screen_lines(app)).strip()


async def _check_that_it_opens_in_light_ascii(shown: ScreenCase, light: Cells) -> None:
    """Opened in the light theme and another character set, it is ASCII in the same colors."""
    client = shown.client()
    client.feed(PreferencesUpdated(changes={"theme": "light"}))
    case = ScreenCase(shown.name, shown.reach, lambda: client)
    async with show_screen(case, LANG="de_DE.ISO-8859-1") as (app, _):
        assert not {letter for letter in "\n".join(screen_lines(app)) if not letter.isascii()}
        if shown.name not in SHOWS_THEME and not shown.varies:
            assert _styles_of(read_cells(app)) == _styles_of(light)


def _styles_of(rows: Cells) -> list[list[Style]]:
    return [[style for _, style in row] for row in rows]


@pytest.mark.longer
@every_screen
async def test_a_screen_reader_finds_no_box_and_the_cursor_on_focused_text(
    shown: ScreenCase,
) -> None:
    async with show_screen(shown, (80, 24), SPINNEY_PLAIN="1") as (app, pilot):
        lines = screen_lines(app)
        assert not BOXES & set("".join(lines))
        if app.screen.is_modal:  # It stands alone.
            assert "need you" not in "\n".join(lines)
            assert all(row.startswith(" ") for row in lines if row)
        x, y = app.cursor_position
        assert lines[y].strip(), (x, y)
        focused = app.focused
        assert focused is None or not focused.region or focused.region.contains(x, y)
        await pilot.resize_terminal(120, 40)  # With the panes beside it.
        await wait_until_still(pilot)
        text = "\n".join(screen_lines(app))
        assert not BOXES & set(text)
        assert text.strip()
