"""Plain foreign text to rows of cells: nothing in it is parsed, nothing of it is markup.

Every row on its way to the terminal passes `strip_of`, which shows hidden characters as marks
before it measures: the application's last guard would push what is behind them out of the row.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from rich.cells import cell_len, chop_cells
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from themes.loader import Kind, chrome
from tui.draw.wrap import Line, wrap, wrap_code
from tui.terminal.sanitize import harmless
from tui.terminal.textual_internals import Row

SHOWS_ALL: Final = "(enter shows all)"
"""Ends the row that stands for rows that are not shown."""


def strip_of(line: Iterable[Segment], width: int, kind: Kind) -> Strip:
    """The row on the chrome's ground, harmless and exactly `width` cells wide."""
    ground = ground_style(kind)
    parts = [_harmless(part, ground) for part in line]
    room = width - sum(part.cell_length for part in parts)
    if room < 0:
        return Strip(parts).adjust_cell_length(width, ground)
    if room:
        parts.append(Segment(" " * room, ground))
    return Row(parts, width)


@lru_cache
def ground_style(kind: Kind) -> Style:
    """What shows where nothing is drawn."""
    ui = chrome(kind).ui
    return Style(color=ui["text"], bgcolor=ui["background"])


def _harmless(segment: Segment, ground: Style) -> Segment:
    text, style, _ = segment
    return Segment(text if text.isprintable() else harmless(text), ground + style)


def indented(lines: Iterable[Line], by: int) -> list[Line]:
    """The rows moved to the right."""
    return [[Segment(" " * by), *line] for line in lines]


def behind_sign(sign: str, style: Style, lines: Iterable[Line]) -> list[Line]:
    """The rows with a sign of one cell and a blank before the first, and blanks before the rest."""
    return [[Segment("  " if at else f"{sign} ", style), *line] for at, line in enumerate(lines)]


def output_rows(text: str, width: int, style: Style) -> list[Line]:
    """Output as programs write it: cut where the row is full, not between words."""
    width = max(width, 2)
    return [
        row or [Segment("", style)]
        for line in text.rstrip("\n").split("\n")
        for row in wrap_code([(line, style)], width, width)
    ]


def prose_rows(text: str, width: int, style: Style) -> list[Line]:
    """Sentences, broken between words."""
    return wrap([(text.strip(), style)], max(width, 2))


def one_line(text: str, width: int) -> str:
    """The first line of a text, cut to `width` cells with an ellipsis where there is more."""
    first, _, rest = text.strip().partition("\n")
    first = first.expandtabs(4)
    if cell_len(first) <= width:
        return f"{first} …" if rest.strip() and cell_len(first) + 2 <= width else first
    return (chop_cells(first, max(width - 1, 2)) or [""])[0] + "…"


def end_of_line(text: str, width: int) -> str:
    """The end of a path, cut to `width` cells with an ellipsis before it."""
    if cell_len(text) <= width:
        return text
    kept = text[-max(width - 1, 1) :]
    while cell_len(kept) > width - 1 and len(kept) > 1:
        kept = kept[1:]
    return "…" + kept


def cut(lines: Sequence[Line], limit: int, more: Style) -> tuple[list[Line], bool]:
    """At most `limit` rows and, where there are more, a row that says how many; whether so."""
    # One row too many is shown rather than replaced by a row that announces it.
    if len(lines) <= limit + 1:
        return list(lines), False
    hidden = f"… {len(lines) - limit} more lines {SHOWS_ALL}"
    return [*lines[:limit], [Segment(hidden, more)]], True
