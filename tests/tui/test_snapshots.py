"""Every screen as it was last looked at and found good, with words that can all be read.

A file in `snapshots/` holds the text of a screen, or of a dialog's box, in three sizes and, in the
middle one, where each style stands and what it is in the dark and in the light. Look at what
changed, accept it with `SPINNEY_SNAPSHOTS=1 make test TESTS=tests/tui/test_snapshots.py`, and read
the diff.
"""

import os
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from string import ascii_letters

import pytest
from rich.style import Style
from textual.pilot import Pilot

from tests.tui.every_screen import (
    SCREENS,
    Shown,
    cells,
    hard_to_read,
    reached,
    rows_in_front,
    still,
)
from tui.shell.app import SpinneyApp

FOLDER = Path(__file__).parent / "snapshots"
IS_ACCEPTED = bool(os.environ.get("SPINNEY_SNAPSHOTS"))

Look = tuple[str, str]
"""A style in the dark and in the light."""


@pytest.mark.few(8)
@pytest.mark.parametrize(
    "shown", [shown for shown in SCREENS if not shown.varies], ids=lambda shown: shown.name
)
async def test_it_looks_as_it_was_accepted(shown: Shown) -> None:
    async with reached(shown, size=(120, 40)) as (app, pilot):
        parts = [*_text("120×40", app), *await _styles(app, pilot)]
        for width, height in ((80, 24), (200, 50)):
            await pilot.resize_terminal(width, height)
            await still(app, pilot)
            parts += _text(f"{width}×{height}", app)
    path, found = FOLDER / f"{shown.name}.txt", "\n".join(parts) + "\n"
    if IS_ACCEPTED:
        path.write_text(found, encoding="utf-8")
    assert path.exists(), f"{shown.name} was not accepted yet; this module says how"
    assert found == path.read_text(encoding="utf-8")


def _text(title: str, app: SpinneyApp) -> list[str]:
    return [f"== {title}", *_folded(strip.text.rstrip() for strip in rows_in_front(app))]


def _folded(lines: Iterable[str]) -> list[str]:
    """Equal lines after one another as one, with how often it comes."""
    counted = ((line, len(list(equal))) for line, equal in groupby(lines))
    return [line if count == 1 else f"{line}  ×{count}" for line, count in counted]


async def _styles(app: SpinneyApp, pilot: "Pilot[None]") -> list[str]:
    """The styles of each row as letters with how often each comes, and what the letters mean."""
    drawn = []
    for theme in ("dark", "light"):
        app.use_theme(theme)
        await still(app, pilot)
        assert hard_to_read(rows_in_front(app)) == set(), theme
        drawn.append([[_look(style) for _, style in row] for row in cells(rows_in_front(app))])
    app.use_theme("dark")
    letters: dict[Look, str] = {}
    lines = []
    for dark, light in zip(*drawn, strict=True):
        runs = ((look, len(list(run))) for look, run in groupby(zip(dark, light, strict=True)))
        lines.append(" ".join(f"{_letter(letters, look)}{length}" for look, length in runs))
    legend = [f"{letter}  {dark}  |  {light}" for (dark, light), letter in letters.items()]
    return ["== styles", *_folded(lines), "== dark | light", *legend]


def _letter(letters: dict[Look, str], look: Look) -> str:
    at = len(letters)
    prefix = ascii_letters[at // len(ascii_letters) - 1] if at >= len(ascii_letters) else ""
    return letters.setdefault(look, prefix + ascii_letters[at % len(ascii_letters)])


def _look(style: Style) -> str:
    return str(Style(
        color=style.color, bgcolor=style.bgcolor, bold=style.bold, italic=style.italic,
        underline=style.underline, strike=style.strike, reverse=style.reverse,
    ))  # fmt: skip
