"""Keeps a key that was pressed once too often, to close something, from stopping the run behind it.

Within a second after an escape, or after a screen closed, another one is most likely a reflex: many
programs take two to get out of everything.
"""

from collections.abc import Callable
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Final

from tui.shell.selection import Selection

if TYPE_CHECKING:
    from textual.events import Key

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
    if not what or screen.application.stop_guard.may_stop():
        return False
    screen.say(f"{key} again stops the {what}.")
    return True
