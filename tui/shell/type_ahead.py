"""Holds keys that arrive before the screen they are meant for, and delivers them in order.

Users type ahead, and a slow line delivers a whole word in one piece. A key behind one that opens a
dialog is meant for that dialog, not for the message box below it. So after a click, and after a key
that may do more than write text, the next one waits until its effect has settled and a screen that
it opens has been painted. On a screen that the user had not seen yet, a held key is then delivered
only if it is safe: it may write, filter or go back, but never stage, stop or confirm.
"""

from collections import deque
from math import inf
from typing import TYPE_CHECKING, Any, Final

from textual import events

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

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
        "!", "search_history", "resume_session", "show_usage",
        "share_session", "share_project", "show_guests",
        "continue_foreign_session", "continue_elsewhere",
        "rename_session", "show_scripts", "show_archive", "preferences", "server", "help",
        "choose_model", "choose_agent", "choose_thinking", "commit", "push", "pull_base",
        "pull_request", "abort_merge", "rename_worktree", "label_worktree", "project_settings",
        "change_base",
        "new_folder", "rename_folder", "move_project", "link_pull_request", "remove_project",
        "canvas_write", "canvas_answer", "diff_comment", "diff_comments", "diff_send", "diff_push",
        "diff_pull_base", "diff_commit", "diff_pull_request", "diff_abort_merge",
        "diff_log", "diff_stash", "diff_continue", "log", "stash", "log_amend", "log_fixup",
        "log_push", "log_message", "delete_session",
        "remove_worktree", "delete_worktree", "clear_pull_request", "stop_spinney",
        "restart_spinney",
        "show_raw_log", "open_work", "pr_show", "pr_merge", "pr_update", "pr_edit", "pr_reviewers",
        "pr_reply", "pr_resolve", "pr_automatic", "land", "show_landing", "show_train",
        "show_sweep", "landing_next", "landing_land", "landing_send", "landing_train",
        "landing_undo", "landing_push",
    }
)  # fmt: skip
"""Actions that usually show a dialog or a screen: keys wait until it is painted."""

STARTING: Final = frozenset({"new_session", "begin_afresh", "fork_session", "new_worktree"})
"""Actions that end in a new session or worktree: keys wait until it is open and are for it."""

_LIMIT: Final = 5.0
"""Seconds after which held keys are delivered in any case."""
_ROUNDS: Final = 3
"""How often to follow an event through the message queues: the first round ends when the event was
handled, the second when the messages of its handlers were, the third when those of theirs were.
"""
_EDITING: Final = frozenset(
    {"backspace", "delete", "left", "right", "home", "end", "ctrl+j", "ctrl+u", "up", "down"}
)
"""Keys that take effect at once and only on the text in a box."""
_NEVER_HELD: Final = frozenset({"ctrl+q", "ctrl+z"})
"""Keys that leave the program and are never delayed."""


class TypeAhead:
    """The queue of held keys; `deliver` handles one, `main` is the lowest screen."""

    def __init__(
        self,
        app: "App[Any]",
        main: "Screen[Any]",
        deliver: "Callable[[Typed], Awaitable[None]]",
    ) -> None:
        self._app = app
        self._main = main
        self._deliver = deliver
        self._held: deque[Typed] = deque()
        self._settling = 0
        """Keys and clicks whose effect is not known yet."""
        self._opening: set[str] = set()
        """Running actions that are expected to show a screen."""
        self._starting: set[str] = set()
        """Running actions that are expected to open a new session or worktree."""
        self._is_new = False
        """Whether what is open now was opened by one of them after the held keys were pressed."""
        self._last_key = ""
        self._seen_at: float | None = None
        """When the target screen was drawn; `None` if all held keys may be delivered."""
        self._limit: Timer | None = None

    def hold(self, event: Typed) -> bool:
        """Hold this key if it must wait; return whether it does. Called for each key."""
        if isinstance(event, events.Key) and event.key in _NEVER_HELD:
            return False
        if not self._held and not self._must_wait():
            return False
        self._held.append(event)
        if self._limit is None:
            self._limit = self._app.set_timer(_LIMIT, self._on_timeout)
        return True

    def put_first(self, keys: "Sequence[Typed]") -> None:
        """Deliver these next: the rest of a burst in which each letter may be a command."""
        self._held.extendleft(reversed(keys))

    def _must_wait(self) -> bool:
        screen = self._app.screen
        is_starting = bool(self._starting) and screen is self._main
        if self._opening or is_starting or not getattr(screen, "is_painted", True):
            self._seen_at = inf
            return True
        return self._settling > 0

    # Conditions ---------------------------------------------------------------------------------

    def key_sent(self, event: Typed, target: "Widget") -> None:
        """Wait for the effect of a key that was given to a widget, unless it only writes."""
        self._last_key = event.key if isinstance(event, events.Key) else ""
        if not self._only_writes(event, target):
            self._await_effect(target)

    def click_sent(self, target: "Widget") -> None:
        """Wait for the effect of a click on a widget: it may open what the next keys are for."""
        self._await_effect(target)

    def _only_writes(self, event: Typed, target: "Widget") -> bool:
        from textual.widgets import Input, TextArea  # not before the first frame

        if not isinstance(target, Input | TextArea):
            return False
        return isinstance(event, events.Paste) or event.is_printable or event.key in _EDITING

    def _await_effect(self, target: "Widget") -> None:
        self._settling += 1
        self._follow_queues([*target.ancestors_with_self] * _ROUNDS, 0)

    def _follow_queues(self, path: "list[DOMNode]", at: int) -> None:
        """Queue behind the event in every message queue that it bubbles through."""
        while at < len(path):
            pump: MessagePump = path[at]
            at += 1
            if pump.call_later(self._follow_queues, path, at):
                return
        self._settling = max(self._settling - 1, 0)
        self.release()

    def expect(self, action_id: str) -> None:
        """Note the start of an action; keys wait if it shows a screen."""
        if action_id in OPENING:
            self._opening.add(action_id)
        if action_id in STARTING:
            self._starting.add(action_id)

    def screen_opened(self, drawn_at: float) -> None:
        """Note that a screen was first painted, at this time on the clock of events."""
        self._opening.clear()
        if self._held:
            self._seen_at = drawn_at
        self.release()

    def place_opened(self) -> None:
        """Note that another session or worktree is open."""
        self._is_new |= bool(self._starting and self._held)
        self._starting.clear()
        self.release()

    def action_ended(self, action_id: str) -> None:
        """Note the end of an action, whether or not it showed a screen."""
        self._opening.discard(action_id)
        if action_id in self._starting:  # nothing new is open: what waits must not be sent
            self._starting.discard(action_id)
            self._seen_at = inf if self._held else None
        self.release()

    # Delivery -----------------------------------------------------------------------------------

    def release(self) -> None:
        """Deliver held keys that no longer have to wait."""
        if self._held and self._app.is_running:
            self._app.call_later(self._deliver_held)

    def _on_timeout(self) -> None:
        self._settling = 0
        self._opening.clear()
        self._starting.clear()
        self._limit = None
        self._app.call_later(self._deliver_held, at_once=True)

    async def _deliver_held(self, *, at_once: bool = False) -> None:
        while self._held and (at_once or not self._must_wait()):
            event = self._held.popleft()
            was_visible = self._seen_at is None or event.time > self._seen_at
            if was_visible or self._is_safe(event):
                await self._deliver(event)
        if not self._held:
            self._seen_at = None
            self._is_new = False
            if self._limit is not None:
                self._limit.stop()
                self._limit = None

    def _is_safe(self, event: Typed) -> bool:
        """Whether a key typed before this screen was visible can be delivered to it."""
        from textual.widgets import Input, TextArea

        from tui.canvas.view import CanvasView
        from tui.screens.filtered import Filtered
        from tui.screens.palette import Palette
        from tui.screens.pick_field import PickField

        app = self._app
        if isinstance(event, events.Paste):
            return True
        if event.key == "ctrl+p" and isinstance(app.screen, Palette):
            return True  # it shows fewer commands
        focused = app.focused or app.screen
        is_letter = event.is_printable or event.key == "backspace"
        if isinstance(focused, Input | TextArea):
            if event.key == "enter":  # what was typed, but nothing by a second enter
                is_new = app.screen is not self._main or self._is_new
                return is_new and self._last_key != "enter"
            return is_letter or event.key in {*_EDITING, "escape", "tab", "shift+tab"}
        if isinstance(focused, CanvasView | PickField) or isinstance(app.screen, Filtered):
            return is_letter or event.key == "escape"
        return event.key == "escape"
