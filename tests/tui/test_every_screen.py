"""What holds for every screen and dialog: it can be read, heard, and worked with keys alone."""

import pytest
from rich.color import ColorSystem
from textual.strip import Strip

from tests.tui.every_screen import (
    SCREENS,
    Shown,
    cells,
    reached,
    rows,
    rows_in_front,
    still,
    text_of,
)
from themes.contrast import TEXT, contrast
from tui.terminal.output_filters import make_legible, nearest_color

BOXES = {chr(code) for code in range(0x2500, 0x25A0)}
ORNAMENTS = BOXES | set("▪■□")

every_screen = pytest.mark.parametrize("shown", SCREENS, ids=lambda shown: shown.name)


def hard_to_read(strips: list[Strip], system: ColorSystem) -> set[str]:
    """Words whose contrast is below that of text, with the two colours that are drawn."""
    found = set()
    for segment in (segment for strip in strips for segment in strip):
        words, style = segment.text.strip(), segment.style
        if not set(words) - ORNAMENTS or style is None or not (style.color and style.bgcolor):
            continue
        if system is not ColorSystem.TRUECOLOR:
            style = make_legible(style, system)
        pair = [nearest_color(color, system) for color in (style.color, style.bgcolor) if color]
        if contrast(*pair) < TEXT:
            found.add(f"{words!r} {' on '.join(pair)}")
    return found


@every_screen
async def test_every_word_on_it_can_be_read(shown: Shown) -> None:
    async with reached(shown) as (app, pilot):
        for theme in ("dark", "light"):
            app.use_theme(theme)
            await still(app, pilot)
            for system in (ColorSystem.TRUECOLOR, ColorSystem.EIGHT_BIT, ColorSystem.STANDARD):
                assert hard_to_read(rows_in_front(app), system) == set(), (theme, system.name)


@pytest.mark.longer
@every_screen
async def test_no_box_is_drawn_for_ears(shown: Shown) -> None:
    async with reached(shown, SPINNEY_PLAIN="1") as (app, _):
        text = "\n".join(text_of(app))
        assert not BOXES & set(text)
        assert text.strip()


@pytest.mark.longer
@every_screen
async def test_it_is_drawn_with_ascii_alone_where_that_is_wanted(shown: Shown) -> None:
    async with reached(shown, LANG="de_DE.ISO-8859-1") as (app, _):
        assert not {letter for letter in "\n".join(text_of(app)) if not letter.isascii()}


@pytest.mark.longer
@every_screen
async def test_what_has_the_keys_looks_different(shown: Shown) -> None:
    async with reached(shown) as (app, pilot):
        stops = [widget for widget in app.screen.focus_chain if widget.display]
        if len(stops) < 2:
            return  # there is nowhere else that the keys could go
        seen: list[object] = []
        while app.focused is not None and app.focused not in seen:
            seen.append(app.focused)
            with_keys = cells(rows(app))
            focused = app.focused
            app.screen.set_focus(None)
            await still(app, pilot)
            assert cells(rows(app)) != with_keys, f"{focused!r} does not show that it has the keys"
            focused.focus()
            await pilot.press("tab")
            await still(app, pilot)


@pytest.mark.longer
@every_screen
async def test_no_terminal_is_too_small_for_it(shown: Shown) -> None:
    """Nothing fails while it is dragged to a corner, and it can be read again afterwards."""
    async with reached(shown) as (app, pilot):
        for size in ((40, 10), (12, 4), (3, 2), (1, 1), (120, 40)):
            await pilot.resize_terminal(*size)
            await still(app, pilot)
        assert "\n".join(text_of(app)).strip()
