"""The rows of the list over the message box: what each would write, and how it is drawn."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from textual.content import Content

from model.base.text import clean_line
from tui.composer.slash_commands import ORDERS, titles

if TYPE_CHECKING:
    from model.domain.resources import AgentCommand

_WIDEST_NAME: Final = 20
"""Cells of an agent's name."""

_WIDEST_HINT: Final = 24
"""Cells of a hint that the descriptions make room for."""


@dataclass(frozen=True, slots=True)
class Row:
    """What may be written."""

    text: str
    hint: str = ""
    """What may follow it."""
    about: str = ""
    agent: str = ""
    """Whose command it is, where not Spinney's."""


def orders() -> list[Row]:
    """Spinney's own commands."""
    return [Row(text, about=about) for text, about in titles()]


def agent_rows(agent: str, commands: Iterable["AgentCommand"]) -> list[Row]:
    """An agent's own commands, as they have to be written: two slashes where Spinney has one."""
    return [
        Row(
            f"//{each.name}" if each.name in ORDERS else f"/{each.name}",
            clean_line(each.argument_hint),
            clean_line(each.description),
            clean_line(agent)[:_WIDEST_NAME],
        )
        for each in commands
    ]


def fitting(rows: Iterable[Row], word: str) -> list[Row]:
    """Those that `word` may become, the same one first; a part of a name is enough."""
    found = [row for row in rows if row.text.startswith(word) or _has_part(row, word[1:])]
    return sorted(found, key=lambda row: row.text != word)


def _has_part(row: Row, letters: str) -> bool:
    parts = re.split("[:/]", row.text.lstrip("/"))[1:]
    return bool(letters) and any(part.startswith(letters) for part in parts)


def drawn(rows: Sequence[Row], width: int, chosen: int) -> Content:
    """The rows below each other, the chosen one marked."""
    widest = max(len(row.text) + min(len(row.hint), _WIDEST_HINT) + 2 for row in rows)
    alone = not any(row.about or row.agent for row in rows)
    column = width if alone else min(widest, width // 2)
    lines = []
    for place, row in enumerate(rows):
        style = "$on-selection on $selection" if place == chosen else ""
        line = _line(row, width, column, "" if style else "$text-muted")
        lines.append(line.truncate(width, pad=True).stylize_before(style))
    return Content("\n").join(lines)


def _line(row: Row, width: int, column: int, muted: str) -> Content:
    text = row.text
    if row.text.startswith("@") and len(text) > column - 1:
        text = f"…{text[2 - column :]}"  # of a path the end tells most
    left = Content.assemble(f" {text}", (f" {row.hint}" if row.hint else "", muted))
    left = left.truncate(column, ellipsis=True, pad=True)
    room = width - column - (len(row.agent) + 2 if row.agent else 0) - 2
    if room < 1:
        return left
    about = Content.styled(row.about, muted).truncate(room, ellipsis=True, pad=True)
    return Content.assemble(left, "  ", about, (f" {row.agent} " if row.agent else "", muted))
