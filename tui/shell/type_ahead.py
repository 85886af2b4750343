"""Keys that came before what will take them was there: held, and handed on in their order.

A person types ahead, and a slow line delivers a whole word in one piece. What comes behind a key
that opens a dialog is meant for that dialog, and not for the message box below it. So after a key
that may do anything but write text the next one waits until its effect has settled, until a screen
that it opens has been painted, and then acts only where it cannot mean something unseen: it writes,
filters or leads back, but never stages, stops or agrees.
"""

from collections import deque
from math import inf
from typing import TYPE_CHECKING, Any, Final

from textual import events

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from textual.app import App
    from textual.dom import DOMNode
    from textual.message_pump import MessagePump
    from textual.screen import Screen
    from textual.timer import Timer
    from textual.widget import Widget

Typed = events.Key | events.Paste

OPENING: Final = frozenset(
    {
        "new_worktree", "search", "add_project", "canvas", "open_diff", "find", "jump",
        "rename_session", "show_scripts", "show_archive", "preferences", "server", "help",
        "choose_model", "choose_agent", "choose_thinking", "commit", "push", "pull_base",
        "pull_request", "abort_merge", "rename_worktree", "label_worktree", "project_settings",
        "new_folder", "rename_folder", "move_project", "link_pull_request", "remove_project",
        "canvas_write", "canvas_answer", "diff_comment", "diff_comments", "delete_session",
        "remove_worktree", "delete_worktree", "clear_pull_request", "stop_spinney",
        "show_raw_log",
    }
)  # fmt: skip
"""Actions that show a dialog or a screen, as a rule: keys wait until it is there."""

_LIMIT: Final = 5.0
"""Seconds after which keys are handed on, whatever they waited for."""
_WRITING: Final = frozenset(
    {"backspace", "delete", "left", "right", "home", "end", "ctrl+j", "ctrl+u", "up", "down"}
)
"""Keys that act at once and only on the text in a box."""
_NEVER_HELD: Final = frozenset({"ctrl+q", "ctrl+z"})
"""Keys that lead out, whatever is going on."""


class TypeAhead:
    """The keys of an application that wait; `take` handles one, `main` is the lowest screen."""

    def __init__(
        self,
        app: "App[Any]",
        main: "Screen[Any]",
        take: "Callable[[Typed], Awaitable[None]]",
    ) -> None:
        self._app = app
        self._main = main
        self._take = take
        self._held: deque[Typed] = deque()
        self._settling = 0
        """Keys whose effect is not known yet."""
        self._opening: set[str] = set()
        """Actions that will show a screen."""
        self._seen_at: float | None = None
        """When the screen that will take those that wait was drawn; `None` where all may act."""
        self._limit: Timer | None = None

    def holds(self, event: Typed) -> bool:
        """Whether this key waits; called for each one that comes from the terminal."""
        if isinstance(event, events.Key) and event.key in _NEVER_HELD:
            return False
        if not self._held and not self._waits():
            return False
        self._held.append(event)
        if self._limit is None:
            self._limit = self._app.set_timer(_LIMIT, self._give_up)
        return True

    def put_first(self, keys: list[events.Key]) -> None:
        """These come next: the rest of a burst of which each letter may do something."""
        self._held.extendleft(reversed(keys))

    def _waits(self) -> bool:
        if self._opening or not getattr(self._app.screen, "is_painted", True):
            self._seen_at = inf
            return True
        return self._settling > 0

    # What is waited for -------------------------------------------------------------------------

    def sent(self, event: Typed, target: "Widget") -> None:
        """A key was given to a widget: wait for its effect, unless it only writes."""
        if not self._only_writes(event, target):
            self._settling += 1
            # Twice: the first round ends when the key was handled, the second when that was which
            # its handlers posted.
            path = [*target.ancestors_with_self] * 2
            self._climb(path, 0)

    def _only_writes(self, event: Typed, target: "Widget") -> bool:
        from textual.widgets import Input, TextArea  # not before the first frame

        if not isinstance(target, Input | TextArea):
            return False
        if isinstance(event, events.Paste) or event.is_printable or event.key in _WRITING:
            return True
        return event.key == "enter" and self._app.screen is self._main

    def _climb(self, path: "list[DOMNode]", at: int) -> None:
        """Stand in line behind the key, in the queue of everything that it comes by."""
        while at < len(path):
            pump: MessagePump = path[at]
            at += 1
            if pump.call_later(self._climb, path, at):
                return
        self._settling = max(self._settling - 1, 0)
        self.look()

    def expect(self, action_id: str) -> None:
        """An action begins that shows a screen."""
        if action_id in OPENING:
            self._opening.add(action_id)

    def opened(self, drawn_at: float) -> None:
        """A screen was painted for the first time, at this time of the clock of events."""
        self._opening.clear()
        if self._seen_at is not None:
            self._seen_at = drawn_at
        self.look()

    def ended(self, action_id: str) -> None:
        """An action has ended, whether or not it showed anything."""
        self._opening.discard(action_id)
        self.look()

    # Handing on ---------------------------------------------------------------------------------

    def look(self) -> None:
        """Hand on what waits, if it need not any longer."""
        if self._held and self._app.is_running:
            self._app.call_later(self._hand_on)

    def _give_up(self) -> None:
        self._settling = 0
        self._opening.clear()
        self._limit = None
        self._app.call_later(self._hand_on, at_once=True)

    async def _hand_on(self, *, at_once: bool = False) -> None:
        while self._held and (at_once or not self._waits()):
            event = self._held.popleft()
            is_seen = self._seen_at is None or event.time > self._seen_at
            if is_seen or self._is_harmless(event):
                await self._take(event)
        if not self._held:
            self._seen_at = None
            if self._limit is not None:
                self._limit.stop()
                self._limit = None

    def _is_harmless(self, event: Typed) -> bool:
        """Whether a key means the same to who has not seen the screen yet."""
        from textual.widgets import Input, TextArea

        from tui.canvas.view import CanvasView
        from tui.screens.filtered import Filtered
        from tui.screens.pick_field import PickField

        app = self._app
        focused = app.focused or app.screen
        if isinstance(event, events.Paste):
            return True
        is_letter = event.is_printable or event.key == "backspace"
        if isinstance(focused, Input | TextArea):
            is_dialog = app.screen is not self._main
            return (
                is_letter
                or event.key in _WRITING
                or (is_dialog and event.key == "enter")
                or (event.key in ("escape", "tab", "shift+tab"))
            )
        if isinstance(focused, CanvasView | PickField) or isinstance(app.screen, Filtered):
            return is_letter or event.key == "escape"
        return event.key == "escape"
