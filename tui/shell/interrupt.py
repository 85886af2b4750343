"""What ctrl+c does where nothing is selected: empties the box, stops the run, twice leaves."""

from typing import TYPE_CHECKING, Final

from textual.widgets import Input, TextArea

from tui.composer.widget import MessageArea
from tui.screens.dialog import Dialog

if TYPE_CHECKING:
    from tui.shell.app import SpinneyApp

AGAIN: Final = 3.0
"""Seconds in which a second press leaves."""


class Interrupt:
    """The presses of ctrl+c in an application."""

    def __init__(self, app: "SpinneyApp") -> None:
        self._app = app
        self._leaves = False

    def press(self) -> None:
        """Do the least that there is to do."""
        app, screen = self._app, self._app.screen
        if _emptied(app.focused):
            return
        if isinstance(screen, Dialog):
            screen.action_leave()
            return
        session = app.main.session
        if screen is app.main and session is not None and session.is_active:
            app.main.action_do("stop_run")
        elif self._leaves:
            app.leave()
        else:
            self._leaves = True
            app.set_timer(AGAIN, self._forget)
            app.main.say("Press ctrl+c again to quit.")

    def _forget(self) -> None:
        self._leaves = False


def _emptied(box: object) -> bool:
    """Whether there was any text to remove; undo, or ↑ in the message box, brings it back."""
    if isinstance(box, MessageArea):
        return box.empty()
    if isinstance(box, Input | TextArea) and (box.value if isinstance(box, Input) else box.text):
        box.clear()
        return True
    return False
