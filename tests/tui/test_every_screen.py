"""Requirements for every screen and dialog: contrast, screen readers, ASCII, focus and sizes."""

import pytest
from textual.pilot import Pilot

from tests.tui.every_screen import BOXES, SCREENS, ScreenCase, find_low_contrast, show_screen
from tests.tui.reading import cells, rows_in_front, screen_lines, screen_rows
from tests.tui.waiting import wait_until_still
from tui.shell.app import SpinneyApp

every_screen = pytest.mark.parametrize("shown", SCREENS, ids=lambda shown: shown.name)


@pytest.mark.parametrize(
    "shown", [shown for shown in SCREENS if shown.varies], ids=lambda shown: shown.name
)
async def test_every_word_is_legible(shown: ScreenCase) -> None:
    """Checked for the other screens in test_snapshots."""
    async with show_screen(shown) as (app, pilot):
        for theme in ("dark", "light"):
            app.use_theme(theme)
            await wait_until_still(app, pilot)
            assert find_low_contrast(rows_in_front(app)) == set(), theme


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
        await wait_until_still(app, pilot)
        text = "\n".join(screen_lines(app))
        assert not BOXES & set(text)
        assert text.strip()


@pytest.mark.longer
@every_screen
async def test_only_ascii_is_drawn_in_a_locale_without_utf_8(shown: ScreenCase) -> None:
    async with show_screen(shown, LANG="de_DE.ISO-8859-1") as (app, _):
        assert not {letter for letter in "\n".join(screen_lines(app)) if not letter.isascii()}


@pytest.mark.longer
@every_screen
async def test_focus_is_visible_and_no_terminal_size_fails(shown: ScreenCase) -> None:
    """Nothing fails at tiny sizes, and text is shown again afterwards."""
    async with show_screen(shown) as (app, pilot):
        await _assert_focus_is_visible(app, pilot)
        for size in ((40, 10), (12, 4), (3, 2), (1, 1), (120, 40)):
            await pilot.resize_terminal(*size)
            await wait_until_still(app, pilot)
        assert "\n".join(screen_lines(app)).strip()


async def _assert_focus_is_visible(app: SpinneyApp, pilot: "Pilot[None]") -> None:
    stops = [widget for widget in app.screen.focus_chain if widget.display]
    if len(stops) < 2:
        return  # the focus cannot move
    seen: list[object] = []
    while app.focused is not None and app.focused not in seen:
        seen.append(app.focused)
        with_focus = cells(screen_rows(app))
        focused = app.focused
        app.screen.set_focus(None)
        await wait_until_still(app, pilot)
        assert cells(screen_rows(app)) != with_focus, (
            f"{focused!r} does not show that it has the focus"
        )
        focused.focus()
        await pilot.press("tab")
        await wait_until_still(app, pilot)
