"""Claude Code's slash commands: as listed by the program, and as found in files before that."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from model.backends.command_files import read_commands, read_skills
from model.backends.json_values import Json, as_objects
from model.domain.agent_commands import AgentCommand

COMPACT: Final = AgentCommand(
    name="compact",
    description="Shorten the conversation to a summary",
    argument_hint="[what to keep]",
)


def parse_commands(response: Json) -> tuple[AgentCommand, ...]:
    """The commands listed in the response to `initialize`."""
    return tuple(
        AgentCommand(
            name=str(each["name"]),
            description=str(each.get("description") or ""),
            argument_hint=str(each.get("argumentHint") or ""),
        )
        for each in as_objects(response.get("commands"))
        if each.get("name")
    )


def update_commands(known: tuple[AgentCommand, ...], names: object) -> tuple[AgentCommand, ...]:
    """The commands named at the start of a turn, which come without descriptions."""
    if not isinstance(names, list):
        return known
    by_name = {command.name: command for command in known}
    current = [str(name) for name in names]
    return tuple(by_name.get(name) or AgentCommand(name=name) for name in dict.fromkeys(current))


def find_commands(worktree: Path, environment: Mapping[str, str]) -> tuple[AgentCommand, ...]:
    """The project's and the user's commands. Reads files: call it in a thread."""
    home = Path(environment.get("HOME") or Path.home())
    user_folder = worktree / (environment.get("CLAUDE_CONFIG_DIR") or home / ".claude")
    found: list[AgentCommand] = []
    for folder in (worktree / ".claude", user_folder):
        found += [*read_skills(folder / "skills"), *read_commands(folder / "commands", ":")]
    return tuple(found)
