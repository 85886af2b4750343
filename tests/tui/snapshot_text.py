"""The text and styles of a screen, as its file in `snapshots/` holds them.

It has the text of the screen, or of a dialog's box, in three sizes and, in the first one, the
place of each style and its dark and light values.
"""

from collections.abc import Iterable
from itertools import groupby
from string import ascii_letters

from rich.style import Style

from tests.tui.reading import cells, rows_in_front
from tui.shell.app import SpinneyApp

Look = tuple[str, str]
"""A style in the dark and in the light theme."""
Cells = list[list[tuple[str, Style]]]


def describe_text(app: SpinneyApp) -> list[str]:
    """The text in the present size."""
    width, height = app.size
    lines = (strip.text.rstrip() for strip in rows_in_front(app))
    return [f"== {width}×{height}", *_fold_repeats(lines)]


def read_cells(app: SpinneyApp) -> Cells:
    """The characters and styles of the screen, or of a dialog's box."""
    return cells(rows_in_front(app))


def describe_styles(dark: Cells, light: Cells) -> list[str]:
    """The styles of each row as letters with run lengths, and a legend of the letters."""
    drawn = [[[_look(style) for _, style in row] for row in rows] for rows in (dark, light)]
    letters: dict[Look, str] = {}
    lines = []
    for pair in zip(*drawn, strict=True):
        runs = ((look, len(list(run))) for look, run in groupby(zip(*pair, strict=True)))
        lines.append(" ".join(f"{_letter(letters, look)}{length}" for look, length in runs))
    legend = [f"{letter}  {one}  |  {other}" for (one, other), letter in letters.items()]
    return ["== styles", *_fold_repeats(lines), "== dark | light", *legend]


def _fold_repeats(lines: Iterable[str]) -> list[str]:
    """Replace runs of equal lines by one line with a count."""
    counted = ((line, len(list(equal))) for line, equal in groupby(lines))
    return [line if count == 1 else f"{line}  ×{count}" for line, count in counted]


def _letter(letters: dict[Look, str], look: Look) -> str:
    at = len(letters)
    prefix = ascii_letters[at // len(ascii_letters) - 1] if at >= len(ascii_letters) else ""
    return letters.setdefault(look, prefix + ascii_letters[at % len(ascii_letters)])


def _look(style: Style) -> str:
    return str(Style(
        color=style.color, bgcolor=style.bgcolor, bold=style.bold, italic=style.italic,
        underline=style.underline, strike=style.strike, reverse=style.reverse,
    ))  # fmt: skip
