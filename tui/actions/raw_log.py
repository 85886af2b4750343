"""The action about a session's raw log."""

from typing import TYPE_CHECKING

from model.commands.preferences import update_preferences
from model.commands.raw_logs import get_raw_log

if TYPE_CHECKING:
    from tui.screens.raw_log import Piece
    from tui.shell.main_screen import MainScreen


async def show_raw_log(screen: "MainScreen") -> None:
    """Look at what the session's program was sent and said."""
    from tui.screens.raw_log import PAGE_SIZE, RawLog, RawLogWork

    session, link = screen.session, screen.link
    if session is None or link is None:
        screen.say("Open a session first.")
        return
    session_id = session.id

    async def read(before: int | None, after: int | None) -> "Piece":
        return await screen.client.call(
            get_raw_log, session_id=session_id, before=before, after=after, limit=PAGE_SIZE
        )

    async def switch(is_on: bool) -> None:
        await screen.client.call(update_preferences, changes={"debug_mode_enabled": is_on})

    work = RawLogWork(read, switch, screen.spinney.copy)
    await screen.app.push_screen_wait(RawLog(session.name, lambda: link.palette, work))
