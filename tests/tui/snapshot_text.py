"""Compares every screen with its accepted snapshot, and checks the contrast of its words.

A file in `snapshots/` holds the text of a screen, or of a dialog's box, in three sizes and, in the
middle one, the place of each style and its dark and light values. To accept a change, run
`SPINNEY_SNAPSHOTS=1 make test TESTS=tests/tui/test_snapshots.py`, and review the diff.
"""

import os
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from string import ascii_letters

import pytest
from rich.style import Style
from textual.pilot import Pilot

from tests.tui.every_screen import SCREENS, ScreenCase, find_low_contrast, show_screen
from tests.tui.reading import cells, rows_in_front
from tests.tui.waiting import wait_until_still
from tui.shell.app import SpinneyApp

FOLDER = Path(__file__).parent / "snapshots"
IS_ACCEPTED = bool(os.environ.get("SPINNEY_SNAPSHOTS"))

Look = tuple[str, str]
"""A style in the dark and in the light theme."""


@pytest.mark.few(8)
@pytest.mark.parametrize(
    "shown", [shown for shown in SCREENS if not shown.varies], ids=lambda shown: shown.name
)
async def test_a_screen_matches_its_accepted_snapshot(shown: ScreenCase) -> None:
    async with show_screen(shown, size=(120, 40)) as (app, pilot):
        parts = [*_text("120×40", app), *await _styles(app, pilot)]
        for width, height in ((80, 24), (200, 50)):
            await pilot.resize_terminal(width, height)
            await wait_until_still(app, pilot)
            parts += _text(f"{width}×{height}", app)
    path, found = FOLDER / f"{shown.name}.txt", "\n".join(parts) + "\n"
    if IS_ACCEPTED:
        path.write_text(found, encoding="utf-8")
    assert path.exists(), f"{shown.name} was not accepted yet; this module says how"
    assert found == path.read_text(encoding="utf-8")


def _text(title: str, app: SpinneyApp) -> list[str]:
    return [f"== {title}", *_fold_repeats(strip.text.rstrip() for strip in rows_in_front(app))]


def _fold_repeats(lines: Iterable[str]) -> list[str]:
    """Replace runs of equal lines by one line with a count."""
    counted = ((line, len(list(equal))) for line, equal in groupby(lines))
    return [line if count == 1 else f"{line}  ×{count}" for line, count in counted]


async def _styles(app: SpinneyApp, pilot: "Pilot[None]") -> list[str]:
    """The styles of each row as letters with run lengths, and a legend of the letters."""
    drawn = []
    for theme in ("dark", "light"):
        app.use_theme(theme)
        await wait_until_still(app, pilot)
        assert find_low_contrast(rows_in_front(app)) == set(), theme
        drawn.append([[_look(style) for _, style in row] for row in cells(rows_in_front(app))])
    app.use_theme("dark")
    letters: dict[Look, str] = {}
    lines = []
    for dark, light in zip(*drawn, strict=True):
        runs = ((look, len(list(run))) for look, run in groupby(zip(dark, light, strict=True)))
        lines.append(" ".join(f"{_letter(letters, look)}{length}" for look, length in runs))
    legend = [f"{letter}  {dark}  |  {light}" for (dark, light), letter in letters.items()]
    return ["== styles", *_fold_repeats(lines), "== dark | light", *legend]


def _letter(letters: dict[Look, str], look: Look) -> str:
    at = len(letters)
    prefix = ascii_letters[at // len(ascii_letters) - 1] if at >= len(ascii_letters) else ""
    return letters.setdefault(look, prefix + ascii_letters[at % len(ascii_letters)])


def _look(style: Style) -> str:
    return str(Style(
        color=style.color, bgcolor=style.bgcolor, bold=style.bold, italic=style.italic,
        underline=style.underline, strike=style.strike, reverse=style.reverse,
    ))  # fmt: skip
