"""What an entry of the key map says about a user action."""

from dataclasses import dataclass
from typing import Literal

Scope = Literal[
    "everywhere", "message box", "projects", "canvas", "diff", "log", "pull request", "work",
    "landing", "sweep",
]  # fmt: skip
"""Where the keys of an action work: everywhere, or in one pane or screen."""


@dataclass(frozen=True, slots=True)
class Action:
    """A user action."""

    id: str
    """Its name in the `keybindings` preference, and the name of the function that performs it."""
    keys: str
    """Default keys, separated by commas; empty if it is only in the command palette."""
    title: str
    """Its title in the help and the command palette."""
    scope: Scope = "everywhere"
    hint: str = ""
    """Its label in the footer; empty if it is not shown there."""
    help: str = ""
    """An optional sentence that explains the title."""
    in_palette: bool = True
