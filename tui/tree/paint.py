"""Draws the parts of a row in the colors of their roles."""

from collections.abc import Callable

from rich.style import Style
from rich.text import Text

from tui.draw.status_icons import StatusIcon, turn
from tui.tree.filter import find_occurrences
from tui.tree.rows import NAME_ROLES, TAIL_ROLES, Part, fit_parts

ROLES_OF_TEXT = ("text", "muted", "strong", "session", "match")
"""Roles whose colors are not made for the cursor's background."""
MIN_WIDTH = 4
"""Cells that a row keeps for its first parts, however much is at its right edge."""


def paint_row(
    first: Text,
    parts: tuple[Part, ...],
    width: int,
    style: Style,
    style_of: Callable[[str], Style],
    *,
    searched: str = "",
    turns: bool = False,
) -> Text:
    """The row, `width` cells wide, with what changes most at its right edge.

    `first`: what comes before the parts; `style_of`: the style of a role; `searched`: a text to
    mark in names; `turns`: whether the spinner replaces the icon of what runs.
    """
    text, tail = first, Text()
    if searched:
        # A session is found by its name, which then is more important than what follows.
        parts = tuple((part, _found(part, role, searched)) for part, role in parts)
    for part, role in fit_parts(parts, width - first.cell_len):
        side = tail if role in TAIL_ROLES or role.startswith("#") else text
        start = len(side)
        side.append(
            turn(part) if turns and is_turning(part, role) else part, style + style_of(role)
        )
        if searched and role in NAME_ROLES:
            for begin, end in find_occurrences(searched, part):
                side.stylize(style_of("match"), start + begin, start + end)
    available = width - tail.cell_len
    text.truncate(max(MIN_WIDTH, available), overflow="ellipsis")
    text.append(" " * max(0, available - text.cell_len), style)
    return text.append_text(tail)


def _found(text: str, role: str, searched: str) -> str:
    is_match = role == "session" and any(find_occurrences(searched, text))
    return "text" if is_match else role


def is_turning(text: str, role: str) -> bool:
    """Whether a part of a row is the icon of something that runs."""
    return role == StatusIcon.RUNNING.role and StatusIcon.RUNNING.symbol in text
