"""The command palette's entries on the diff screen."""

from typing import cast

from tui.diff import bars
from tui.diff.state import DiffState
from tui.keys.keymap import ACTIONS, Action
from tui.screens.palette_commands import ActionCommands


class DiffCommands(ActionCommands):
    """What can be done on the diff screen."""

    def _actions(self) -> list[Action]:
        without = bars.useless(cast("DiffState", self.screen))
        here = (a for a in ACTIONS if a.where == "diff" or a.id in ("help", "quit"))
        return [a for a in here if a.id not in without]
