"""What ctrl+c does where nothing is selected: empties the box, stops the run, twice leaves."""

from collections.abc import Callable
from typing import Final

from tui.composer.widget import MessageArea
from tui.shell.selection import Selection

AGAIN: Final = 3.0
"""Seconds in which a second press leaves."""


class Interrupt:
    """Presses of ctrl+c. The second within `AGAIN` seconds calls `leave`."""

    def __init__(self, main: Selection, leave: Callable[[], None]) -> None:
        self._main = main
        self._leave = leave
        self._leaves = False

    def press(self) -> None:
        """Do the least that there is to do."""
        from tui.screens.dialog import Dialog  # not before the first frame

        main, app = self._main, self._main.app
        screen = app.screen
        if _emptied(app.focused):
            return
        if isinstance(screen, Dialog):
            screen.action_leave()
            return
        session = main.session
        if screen is main and session is not None and session.is_active:
            main.perform("stop_run")
        elif self._leaves:
            self._leave()
        else:
            self._leaves = True
            app.set_timer(AGAIN, self._forget)
            main.say("Press ctrl+c again to quit.")

    def _forget(self) -> None:
        self._leaves = False


def _emptied(box: object) -> bool:
    """Whether there was any text to remove; undo, or ↑ in the message box, brings it back."""
    from textual.widgets import Input, TextArea

    if isinstance(box, MessageArea):
        return box.empty()
    if isinstance(box, Input | TextArea) and (box.value if isinstance(box, Input) else box.text):
        box.clear()
        return True
    return False
