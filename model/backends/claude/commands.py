"""Claude Code's own commands: as the program lists them, and as they lie in files before that."""

from collections.abc import Mapping
from pathlib import Path

from model.backends.claude.json_values import Line, as_objects
from model.backends.command_files import commands_in, skills_in
from model.domain.resources import AgentCommand


def listed(introduction: Line) -> tuple[AgentCommand, ...]:
    """What the answer to `initialize` lists."""
    return tuple(
        AgentCommand(
            name=str(each["name"]),
            description=str(each.get("description") or ""),
            argument_hint=str(each.get("argumentHint") or ""),
        )
        for each in as_objects(introduction.get("commands"))
        if each.get("name")
    )


def renewed(known: tuple[AgentCommand, ...], names: object) -> tuple[AgentCommand, ...]:
    """Those that a turn's beginning names, which it does without telling what they do."""
    if not isinstance(names, list):
        return known
    about = {command.name: command for command in known}
    now = [str(name) for name in names]
    return tuple(about.get(name) or AgentCommand(name=name) for name in dict.fromkeys(now))


def in_files(worktree: Path, environment: Mapping[str, str]) -> tuple[AgentCommand, ...]:
    """The project's and the person's. Reads files: call it in a thread."""
    home = Path(environment.get("HOME") or Path.home())
    own = worktree / (environment.get("CLAUDE_CONFIG_DIR") or home / ".claude")
    found: list[AgentCommand] = []
    for place in (worktree / ".claude", own):
        found += [*skills_in(place / "skills"), *commands_in(place / "commands", ":")]
    return tuple(found)
