"""Handles ctrl+c without a selection: clears the input, stops the run, or quits if repeated."""

from collections.abc import Callable
from typing import Final

from tui.shell.selection import Selection
from tui.shell.stop_guard import must_repeat

REPEAT_WINDOW: Final = 2.0
"""Seconds within which a second press quits."""


class Interrupt:
    """Handles presses of ctrl+c. The second within `REPEAT_WINDOW` seconds calls `leave`."""

    def __init__(self, main: Selection, leave: Callable[[], None]) -> None:
        self._main = main
        self._leave = leave
        self._is_armed = False

    def press(self) -> None:
        """Clear the input, close the dialog, stop the run, or quit: the first that applies."""
        from tui.screens.dialog import Dialog  # not before the first frame

        main, app = self._main, self._main.app
        screen = app.screen
        if _clear_input(app.focused):
            return
        if isinstance(screen, Dialog):
            screen.action_leave()
            return
        session = main.session
        if screen is main and session is not None and session.is_active:
            # The first one leaves a plan waiting, as the first escape does.
            is_left = session.waiting_for == "plan" and main.chat.request.step_back()
            if not is_left and not must_repeat(main, "ctrl+c"):
                main.perform("stop_run")
        elif self._is_armed:
            self._leave()
        else:
            self._is_armed = True
            app.set_timer(REPEAT_WINDOW, self._disarm)
            main.say("Press ctrl+c again to quit.")

    def _disarm(self) -> None:
        self._is_armed = False


def _clear_input(box: object) -> bool:
    """Clear the text and return whether there was any; undo, or ↑ in the message box, restores."""
    from textual.widgets import Input, TextArea

    from tui.composer.message_area import MessageArea

    if isinstance(box, MessageArea):
        return box.empty()
    if isinstance(box, Input | TextArea) and (box.value if isinstance(box, Input) else box.text):
        box.clear()
        return True
    return False
