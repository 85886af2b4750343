"""Comments as notes: text under the lines that it is about."""

from collections.abc import Sequence
from typing import NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from model.base.text import make_visible
from themes.loader import load_chrome
from tui.draw.colors import Palette
from tui.draw.line_parts import to_strip, wrap_prose
from tui.draw.wrap import Line, pad_line
from tui.terminal import screen_reader

_MAX_LINES = 12
"""Most lines of a note; the whole is shown where it is edited."""
_WIDEST = 100


class Note(NamedTuple):
    """A note about rows of a diff; it stands below the last one."""

    places: range
    """The indexes of its rows in the text."""
    author: str
    text: str


def note_strips(
    notes: Sequence[Note], width: int, left: int, palette: Palette, *, at_cursor: int | None
) -> Sequence[Sequence[Strip]]:
    """Draw notes, `left` columns from the edge; `at_cursor` is the index of the cursor's."""
    return [
        [
            to_strip(line, width, palette.kind)
            for line in _lines(note, width, left, palette, is_here=at == at_cursor)
        ]
        for at, note in enumerate(notes)
    ]


def _lines(note: Note, width: int, left: int, palette: Palette, *, is_here: bool) -> Sequence[Line]:
    """Draw a note with a bar at its left."""
    ui = load_chrome(palette.kind).ui
    ground = Style(bgcolor=ui["accent_muted"] if is_here else ui["panel"])
    author = f"{note.author}: " if screen_reader.is_enabled() else f"{note.author}  "
    inner = min(_WIDEST, width - left - 4)
    indent = len(author)
    text = wrap_prose(make_visible(note.text), max(8, inner - indent), palette.text)
    if len(text) > _MAX_LINES:
        text = [*text[: _MAX_LINES - 1], [Segment(palette.glyphs.more, palette.muted)]]
    bar = "" if screen_reader.is_enabled() else "▌ "
    lines: list[Line] = []
    for at, words in enumerate(text or [[]]):
        head = Segment(author if at == 0 else " " * indent, palette.accent + Style(bold=True))
        line: Line = [Segment(bar, palette.accent), head, *words]
        shown = [Segment(text, (style or Style()) + ground) for text, style, _ in line]
        lines.append([Segment(" " * left), *pad_line(shown, width - left, ground)])
    return lines
