"""Spinney's own few `/commands` in the message box; every other one is the agent's."""

from collections.abc import Mapping
from typing import Final

from tui.keys.keymap import BY_ID

ORDERS: Final[Mapping[str, str]] = {
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
"""The action that each stands for."""


def is_order(text: str) -> bool:
    """Whether a message is one of them: a single line that begins with it."""
    line = text.strip()
    return line.startswith("/") and "\n" not in line and line[1:].split(" ")[0] in ORDERS


def order(line: str) -> tuple[str, str]:
    """The action that a command stands for, or else why it is not done."""
    name, _, more = line[1:].partition(" ")
    if more.strip():
        return "", (
            f"/{name} is a command of Spinney and takes nothing after it. "
            f"Begin with //{name} to send it to the agent."
        )
    return ORDERS[name], ""


def for_the_agent(text: str) -> str:
    """`//word` is how a command of the agent is written that is called like one of Spinney's."""
    return text[1:] if text.startswith("//") and is_order(text[1:]) else text


def titles() -> list[tuple[str, str]]:
    """Every command, with what it does."""
    return [(f"/{name}", BY_ID[action].title) for name, action in ORDERS.items()]
