"""Draws the parts of a row in the colors of their roles.

They are no rules of the style sheet: those are parsed and applied again for each theme.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from themes.contrast import ensure_contrast
from themes.loader import Kind, load_chrome
from tui.draw.status_icons import StatusIcon
from tui.tree.filter import find_occurrences
from tui.tree.rows import NAME_ROLES, TAIL_ROLES, Part, fit_parts

_COLORS: Mapping[str, tuple[str, str]] = {
    "text": ("text", ""),
    "muted": ("text_muted", ""),
    "session": ("text_muted", ""),
    "strong": ("text", "bold"),
    "match": ("accent", "bold underline"),
    "added": ("success", ""),
    "removed": ("error", ""),
    "count": ("text_muted", ""),
    "conflict": ("warning", ""),
    "reason": ("warning", ""),
    "activity": ("accent", ""),
    "elapsed": ("text_muted", ""),
    "age": ("text_muted", ""),
    StatusIcon.IDLE.role: ("text_muted", ""),
    StatusIcon.CREATING.role: ("text_muted", ""),
    StatusIcon.RUNNING.role: ("accent", ""),
    StatusIcon.UNREAD.role: ("info", ""),
    StatusIcon.FAILED.role: ("error", ""),
    StatusIcon.NEEDS_YOU.role: ("warning", "bold"),
}
"""The color of each role in the chrome, and how it is written."""
ROLES_OF_TEXT = ("text", "muted", "strong", "session", "match")
"""Roles whose colors are not made for the cursor's background."""
FOLDING_WIDTH = 2
"""Cells of the sign before a row that folds it."""
MIN_WIDTH = 4
"""Cells that a row keeps for its first parts, however much is at its right edge."""


@lru_cache(maxsize=256)
def role_style(role: str, kind: Kind, *, on_cursor: bool) -> Style:
    """The style of a role, or of a color that a user chose, such as `#3f7a50`."""
    ui = load_chrome(kind).ui
    if role.startswith("#"):
        return Style(color=ensure_contrast(role, ui["background"]))
    name, written = _COLORS[role]
    # The cursor's background is made for text; icons keep their color on it.
    is_plain = on_cursor and role in ROLES_OF_TEXT
    return Style.parse(written) + Style(color=None if is_plain else ui[name])


def paint_row(
    folding: str,
    parts: tuple[Part, ...],
    width: int,
    ground: Style,
    style_of: Callable[[str], Style],
    *,
    searched: str = "",
) -> list[Segment]:
    """The row, `width` cells wide, with what changes most at its right edge.

    `folding`: what comes before the parts; `ground`: the style of empty cells; `style_of`: that
    of a role on it; `searched`: a text to mark in names.
    """
    left, tail = [Segment(folding, ground + style_of("muted"))], []
    if searched:
        # A session is found by its name, which then is more important than what follows.
        parts = tuple((part, _found(part, role, searched)) for part, role in parts)
    for part, role in fit_parts(parts, width - left[0].cell_length):
        style = ground + style_of(role)
        if role in TAIL_ROLES or role.startswith("#"):
            tail.append(Segment(part, style))
        elif searched and role in NAME_ROLES:
            left += _mark(part, style, style + style_of("match"), searched)
        else:
            left.append(Segment(part, style))
    available = max(MIN_WIDTH, width - sum(part.cell_length for part in tail))
    return [*_fit(left, available, ground), *tail]


def _fit(segments: list[Segment], width: int, empty: Style) -> Iterable[Segment]:
    """Fill up to `width` cells, or end in an ellipsis there."""
    missing = width - sum(part.cell_length for part in segments)
    if missing >= 0:
        return [*segments, Segment(" " * missing, empty)] if missing else segments
    kept = list(Strip(segments).crop(0, width - 1))
    return [*kept, Segment("…", kept[-1].style)]


def _mark(text: str, style: Style, marked: Style, searched: str) -> list[Segment]:
    end, pieces = 0, []
    for first, behind in find_occurrences(searched, text):
        pieces += [Segment(text[end:first], style), Segment(text[first:behind], marked)]
        end = behind
    return [piece for piece in (*pieces, Segment(text[end:], style)) if piece.text]


def _found(text: str, role: str, searched: str) -> str:
    is_match = role == "session" and any(find_occurrences(searched, text))
    return "text" if is_match else role


def is_turning(text: str, role: str) -> bool:
    """Whether a part of a row is the icon of something that runs."""
    return role == StatusIcon.RUNNING.role and StatusIcon.RUNNING.symbol in text
