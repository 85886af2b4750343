"""Runs actions and other work that the user started, and reports errors."""

from collections.abc import Awaitable, Coroutine, Hashable
from typing import Any, Final

from model.base.errors import SpinneyError, as_user_error
from tui.shell.selection import Selection

REPEATABLE: Final = frozenset(
    {
        "cycle_mode", "next_waiting", "previous_session", "next_session", "last_session",
        "widen_tree", "narrow_tree", "move_up", "move_down",
        "find_next", "find_previous", "remove_queued", "canvas_layout",
        "diff_mark", "diff_next_side", "diff_layout", "diff_next_hunk", "diff_previous_hunk",
    }
)  # fmt: skip
"""Actions for which every key press counts, even while an earlier one is still running."""


class ActionRunner:
    """Starts work as Textual workers of the main screen."""

    def __init__(self, screen: Selection) -> None:
        self._screen = screen
        self._running: set[tuple[str, Hashable]] = set()
        """Actions in progress, each with its subject."""

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Run in the background; errors become notifications."""
        self._screen.run_worker(self._guard(work), exit_on_error=False)

    def run_once(self, action_id: str, subject: Hashable, work: Coroutine[Any, Any, None]) -> bool:
        """Run an action, unless it still runs for the same subject; return whether it began.

        A key that is held down, or pressed twice in one burst over a slow line, counts once.
        """
        if (action_id, subject) in self._running and action_id not in REPEATABLE:
            work.close()
            return False
        self._running.add((action_id, subject))
        self._screen.application.type_ahead.expect(action_id)
        self.start(self._run(action_id, subject, work))
        return True

    async def _run(self, action_id: str, subject: Hashable, work: Awaitable[None]) -> None:
        try:
            await work
        finally:
            self._running.discard((action_id, subject))
            self._screen.application.type_ahead.action_ended(action_id)

    async def _guard(self, work: Awaitable[None]) -> None:
        try:
            await work
        except SpinneyError as error:
            self._screen.say(error.message, bad=True)
        except TimeoutError:
            self._screen.say("That took too long. Check again in a moment.", bad=True)
        except Exception as error:
            self._screen.say(as_user_error(error, "an action").message, bad=True)
