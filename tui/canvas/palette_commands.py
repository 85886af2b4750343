"""The command palette's entries on the canvas."""

from tui.keys.keymap import ACTIONS, Action
from tui.screens.palette_commands import ActionCommands


class CanvasCommands(ActionCommands):
    """What can be done on the canvas."""

    def _actions(self) -> list[Action]:
        return [a for a in ACTIONS if a.where == "canvas" or a.id in ("canvas", "help", "quit")]
