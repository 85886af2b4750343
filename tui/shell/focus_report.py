"""Reports Spinney which session this terminal shows: nothing is sent about it meanwhile."""

from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from model.api.notices import set_focus
from model.base.errors import SpinneyError
from tui.shell.bars import is_conversation_visible
from tui.shell.selection import Selection

if TYPE_CHECKING:
    from tui.store.mirror import Change


class FocusReport:
    """Reports the visible session; none while the terminal reports that it has no focus."""

    def __init__(
        self, screen: Selection, start: Callable[[Coroutine[Any, Any, None]], None]
    ) -> None:
        self._screen = screen
        self._start = start
        self._reported: str | None = None
        screen.watch(screen.app, "app_focus", self.update, init=False)
        # Published before a new screen covers this one, so look again when it does.
        screen.app.screen_change_signal.subscribe(
            screen, lambda _: screen.app.call_later(self.update)
        )

    def follow(self, change: "Change") -> None:
        """Report again to a Spinney that was connected again, and what is open by now."""
        if change.lost is not None:
            self._reported = None
        elif change.loaded or change.sessions:
            self.update()

    def update(self) -> None:
        """Report the session, if it is another one."""
        screen = self._screen
        if screen.mirror.lost is not None or not screen.mirror.is_loaded:
            return
        is_seen = screen.app.app_focus and is_conversation_visible(screen)
        shown = screen.chat.session_id if is_seen else None
        if shown != self._reported:
            self._reported = shown
            self._start(self._report(shown))

    async def _report(self, session_id: str | None) -> None:
        with suppress(SpinneyError):  # The session or the connection is gone.
            await self._screen.client.call(set_focus, session_id=session_id)
