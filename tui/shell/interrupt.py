"""Handles ctrl+c without a selection: clears the input, stops the run, or quits if repeated.

Within a second after an escape or ctrl+c, or after a screen closed, another one is most likely a
reflex, as many programs take two to get out of everything. It does not stop the run behind.
"""

from collections.abc import Callable
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Final

from tui.shell.selection import Selection

if TYPE_CHECKING:
    from textual.events import Key

REPEAT_WINDOW: Final = 2.0
"""Seconds within which a second press quits."""
PAUSE: Final = 1.0
"""Seconds."""
_KEYS: Final = frozenset({"escape", "ctrl+c"})
"""Keys that close what is open, and else stop the run."""


class StopGuard:
    """Decides whether the key that was pressed last may stop something.

    All times are those of key events, which have the time of their arrival: what was pressed before
    the answer to the key before it could be seen is not meant.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._key = ""
        self._pressed_at = -inf
        self._closed_at = -inf
        """When the key before it was pressed, or a screen closed, whichever came last."""
        self._said_at = -inf
        """When it was last said that another press stops it."""

    def key_sent(self, event: "Key") -> None:
        """Note a key that is being delivered."""
        if self._key in _KEYS:
            self._closed_at = max(self._closed_at, self._pressed_at)
        self._key, self._pressed_at = event.key, event.time

    def click_sent(self) -> None:
        """Note a click: what it does is not done by the key before it."""
        self._key = ""

    def screen_closed(self) -> None:
        """Note that a screen or dialog closes."""
        self._closed_at = self._clock()

    def may_stop(self) -> bool:
        """Whether the last key may stop something; if not, another one may, if that is said now."""
        since, pressed = self._closed_at, self._pressed_at
        if self._key not in _KEYS or pressed - since >= PAUSE or since < self._said_at < pressed:
            return True
        self._said_at = self._clock()
        return False


def must_repeat(screen: Selection, key: str) -> bool:
    """Whether a key has to be pressed again to stop what runs; says so.

    A plan that waits is only set aside, and that takes two presses anyway.
    """
    session, worktree = screen.session, screen.worktree
    if session is not None and session.is_active:
        what = "" if session.waiting_for == "plan" else "run"
    else:
        what = "setup" if worktree is not None and worktree.running_scripts == ["setup"] else ""
    if not what or screen.application.may_stop():
        return False
    screen.say(f"{key} again stops the {what}.")
    return True


def leave_projects(screen: Selection) -> bool:
    """Go from the project tree to the message box; return whether there was anything to leave."""
    covers_chat = screen.has_class("narrow") and screen.has_class("tree-open")
    if not covers_chat and screen.focused is not screen.projects:
        return False
    # Also where the projects stay visible: one key too many after clearing the filter must not
    # stop a run.
    screen.remove_class("tree-open")
    screen.focus_chat()
    return True


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
            # The first one leaves the projects or a plan that waits, as the first escape does.
            is_left = leave_projects(main) or (
                session.waiting_for == "plan" and main.chat.request.step_back()
            )
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
