"""The `/commands` of Spinney in the message box; all others are the agent's."""

from collections.abc import Mapping
from typing import Final

from tui.keys.keymap import BY_ID

SLASH_COMMANDS: Final[Mapping[str, str]] = {
    "agent": "choose_agent",
    "approve": "review_plan",
    "archive": "archive_worktree",
    "clear": "begin_afresh",
    "editor": "open_worktree",
    "help": "help",
    "mode": "cycle_mode",
    "model": "choose_model",
    "new": "new_session",
    "quit": "quit",
    "recreate": "recreate_worktree",
    "rename": "rename_session",
    "shell": "open_shell",
    "thinking": "choose_thinking",
}
"""Actions by command name."""


def is_slash_command(text: str) -> bool:
    """Whether a message is a command of Spinney: a single line that starts with one."""
    line = text.strip()
    return line.startswith("/") and "\n" not in line and line[1:].split(" ")[0] in SLASH_COMMANDS


def resolve_command(line: str) -> tuple[str, str]:
    """Return the action of a command and '', or '' and a message why it cannot be run."""
    name, _, more = line[1:].partition(" ")
    if more.strip():
        return "", (
            f"/{name} is a command of Spinney and takes no arguments. "
            f"Start with //{name} to send it to the agent."
        )
    return SLASH_COMMANDS[name], ""


def unescape_command(text: str) -> str:
    """Remove the escape from `//name`, an agent command with the name of one of Spinney's."""
    return text[1:] if text.startswith("//") and is_slash_command(text[1:]) else text


def list_commands() -> list[tuple[str, str]]:
    """All commands with their titles."""
    return [(f"/{name}", BY_ID[action].title) for name, action in SLASH_COMMANDS.items()]
