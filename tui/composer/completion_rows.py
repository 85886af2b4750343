"""The rows of the completion list: the text that each inserts, and how they are drawn."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from textual.content import Content

from model.base.text import clean_line
from tui.composer.slash_commands import SLASH_COMMANDS

if TYPE_CHECKING:
    from model.domain.agent_commands import AgentCommand

_MAX_NAME_WIDTH: Final = 20
"""Maximum cells of an agent's name."""

_MAX_HINT_WIDTH: Final = 24
"""Cells of a hint that fit before the descriptions."""


@dataclass(frozen=True, slots=True)
class Row:
    """A completion."""

    text: str
    hint: str = ""
    """Its arguments."""
    about: str = ""
    agent: str = ""
    """The agent that has the command; empty for a file or a command of Spinney."""
    is_rare: bool = False


def spinney_rows() -> list[Row]:
    """The commands of Spinney."""
    return [
        Row(f"/{name}", command.argument, command.title, is_rare=command.is_rare)
        for name, command in SLASH_COMMANDS.items()
    ]


def agent_rows(agent: str, commands: Iterable["AgentCommand"]) -> list[Row]:
    """The commands of an agent, with two slashes if Spinney has a command of the same name."""
    return [
        Row(
            f"//{command.name}" if command.name in SLASH_COMMANDS else f"/{command.name}",
            clean_line(command.argument_hint),
            clean_line(command.description),
            clean_line(agent)[:_MAX_NAME_WIDTH],
        )
        for command in commands
    ]


def filter_rows(rows: Iterable[Row], word: str) -> list[Row]:
    """The rows that match `word`, an exact match first and rare commands last.

    A prefix of a part of a name matches.
    """
    found = [row for row in rows if row.text.startswith(word) or _has_part(row, word[1:])]
    return sorted(found, key=lambda row: (row.text != word, row.is_rare))


def argument_rows(rows: Iterable[Row], word: str) -> list[Row]:
    """The rows whose argument or description contains the argument in `word`.

    Those that begin with it are first.
    """
    line = word.casefold()
    typed = line.partition(" ")[2].strip()
    found = [row for row in rows if typed in f"{row.text.partition(' ')[2]} {row.about}".casefold()]
    return sorted(found, key=lambda row: not row.text.casefold().startswith(line))


def _has_part(row: Row, letters: str) -> bool:
    parts = re.split("[:/]", row.text.lstrip("/"))[1:]
    return bool(letters) and any(part.startswith(letters) for part in parts)


def render_rows(rows: Sequence[Row], width: int, chosen: int) -> Content:
    """Render the rows, the selected one highlighted."""
    name_width = max(len(row.text) + min(len(row.hint), _MAX_HINT_WIDTH) + 2 for row in rows)
    has_one_column = not any(row.about or row.agent for row in rows)
    column = width if has_one_column else min(name_width, width // 2)
    lines = []
    for index, row in enumerate(rows):
        style = "$on-selection on $selection" if index == chosen else ""
        line = _line(row, width, column, "" if style else "$text-muted")
        lines.append(line.truncate(width, pad=True).stylize_before(style))
    return Content("\n").join(lines)


def _line(row: Row, width: int, column: int, muted: str) -> Content:
    text = row.text
    if row.text.startswith("@") and len(text) > column - 1:
        text = f"…{text[2 - column :]}"  # the end of a path is most informative
    left = Content.assemble(f" {text}", (f" {row.hint}" if row.hint else "", muted))
    left = left.truncate(column, ellipsis=True, pad=True)
    available = width - column - (len(row.agent) + 2 if row.agent else 0) - 2
    if available < 1:
        return left
    about = Content.styled(row.about, muted).truncate(available, ellipsis=True, pad=True)
    return Content.assemble(left, "  ", about, (f" {row.agent} " if row.agent else "", muted))
