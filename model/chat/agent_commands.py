"""Which of an agent's own commands people are offered: foreign words, made fit to be shown."""

import re
from collections.abc import Iterable
from typing import Final

from model.base.text import clean_line
from model.domain.resources import AgentCommand

MOST: Final = 500
"""Commands that are offered; more is a program gone wrong."""

_NAME: Final = re.compile(r"[^\s/_]\S{0,99}")
"""Names with a line at their beginning are for a program's own use (Claude Code 2.1.329)."""

_LONGEST: Final = 300
"""Characters of a description or a hint."""


def offered(told: Iterable[AgentCommand], seen: Iterable[AgentCommand]) -> list[AgentCommand]:
    """What the program `told`, then what was only `seen` in files; each name once."""
    found: dict[str, AgentCommand] = {}
    for command in (*told, *seen):
        name = clean_line(command.name)
        if name == command.name and _NAME.fullmatch(name) and len(found) < MOST:
            shown = AgentCommand(
                name=name,
                description=_short(command.description),
                argument_hint=_short(command.argument_hint),
            )
            found.setdefault(name, shown)
    return list(found.values())


def _short(text: str) -> str:
    line = clean_line(text[: 4 * _LONGEST])
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
