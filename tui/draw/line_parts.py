"""Conversion of plain, untrusted text to rows of cells. It is never parsed as markup.

Every row for the terminal passes `to_strip`, which replaces hidden characters by visible marks
before it measures. The application's final filter would push the text after them out of the row.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from rich.cells import cell_len, chop_cells
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from themes.loader import Kind, load_chrome
from tui.draw.wrap import MAX_PROSE, Line, wrap, wrap_code
from tui.terminal.sanitize import escape_control_chars
from tui.terminal.textual_internals import Row

SHOW_ALL_HINT: Final = "(enter shows all)"
"""Ends a row that represents hidden rows."""


def to_strip(line: Iterable[Segment], width: int, kind: Kind) -> Strip:
    """The line on the chrome's background, without control characters, `width` cells wide."""
    background = background_style(kind)
    parts = [_sanitize(part, background) for part in line]
    missing = width - sum(part.cell_length for part in parts)
    if missing < 0:
        return Strip(parts).adjust_cell_length(width, background)
    if missing:
        parts.append(Segment(" " * missing, background))
    return Row(parts, width)


@lru_cache
def background_style(kind: Kind) -> Style:
    """The style of empty cells."""
    ui = load_chrome(kind).ui
    return Style(color=ui["text"], bgcolor=ui["background"])


def _sanitize(segment: Segment, background: Style) -> Segment:
    text, style, _ = segment
    return Segment(text if text.isprintable() else escape_control_chars(text), background + style)


def indent(lines: Iterable[Line], by: int) -> list[Line]:
    """Indent the rows."""
    return [[Segment(" " * by), *line] for line in lines]


def prefix_rows(sign: str, style: Style, lines: Iterable[Line]) -> list[Line]:
    """Prefix the first row with a sign of one cell and a space, the others with spaces."""
    return [[Segment("  " if at else f"{sign} ", style), *line] for at, line in enumerate(lines)]


def wrap_output(text: str, width: int, style: Style) -> list[Line]:
    """Wrap program output: lines break where the row is full, not between words."""
    width = max(width, 2)
    return [
        row or [Segment("", style)]
        for line in text.rstrip("\n").split("\n")
        for row in wrap_code([(line, style)], width, width)
    ]


def wrap_prose(text: str, width: int, style: Style) -> list[Line]:
    """Wrap prose between words, in lines of at most `MAX_PROSE` cells."""
    return wrap([(text.strip(), style)], max(min(width, MAX_PROSE), 2))


def one_line(text: str, width: int) -> str:
    """The first line of a text, at most `width` cells, with an ellipsis if there is more."""
    first, _, rest = text.strip().partition("\n")
    first = first.expandtabs(4)
    if cell_len(first) <= width:
        return f"{first} …" if rest.strip() and cell_len(first) + 2 <= width else first
    return (chop_cells(first, max(width - 1, 2)) or [""])[0] + "…"


def fit(text: str, width: int) -> str:
    """The first line of a text in exactly `width` cells: cut, or followed by spaces."""
    shown = one_line(text, width)
    return shown + " " * (width - cell_len(shown))


def truncate_start(text: str, width: int) -> str:
    """The end of a path, at most `width` cells, with a leading ellipsis if it was cut."""
    if cell_len(text) <= width:
        return text
    kept = text[-max(width - 1, 1) :]
    while cell_len(kept) > width - 1 and len(kept) > 1:
        kept = kept[1:]
    return "…" + kept


def limit_rows(lines: Sequence[Line], limit: int, style: Style) -> tuple[list[Line], bool]:
    """Return at most `limit` rows, plus one that counts hidden rows, and whether any are hidden."""
    # A single hidden row would be replaced by a row that announces it, so it is shown.
    if len(lines) <= limit + 1:
        return list(lines), False
    hidden = f"… {len(lines) - limit} more lines {SHOW_ALL_HINT}"
    return [*lines[:limit], [Segment(hidden, style)]], True
