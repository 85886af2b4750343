"""The list of an agent's own commands that users are offered, cleaned of untrusted text."""

import re
from collections.abc import Iterable
from typing import Final

from model.base.text import clean_line
from model.domain.agent_commands import AgentCommand

MAX_COMMANDS: Final = 500
"""Commands that are offered; a longer list means that the program is broken."""

_NAME: Final = re.compile(r"[^\s/_]\S{0,99}")
"""Names that start with an underscore are internal to the program (Claude Code 2.1.329)."""

_MAX_LENGTH: Final = 300
"""Characters of a description or a hint."""


def merge_commands(
    reported: Iterable[AgentCommand], from_files: Iterable[AgentCommand]
) -> list[AgentCommand]:
    """Combine the commands the program reported with those found in files; each name once."""
    merged: dict[str, AgentCommand] = {}
    for command in (*reported, *from_files):
        name = clean_line(command.name)
        if name == command.name and _NAME.fullmatch(name) and len(merged) < MAX_COMMANDS:
            shown = AgentCommand(
                name=name,
                description=_truncate(command.description),
                argument_hint=_truncate(command.argument_hint),
            )
            merged.setdefault(name, shown)
    return list(merged.values())


def _truncate(text: str) -> str:
    line = clean_line(text[: 4 * _MAX_LENGTH])
    return line if len(line) <= _MAX_LENGTH else f"{line[: _MAX_LENGTH - 1]}…"
