"""The action that shows a session's raw log."""

from typing import TYPE_CHECKING

from model.api.preferences import update_preferences
from model.api.raw_logs import get_raw_log
from tui.desk import Desk

if TYPE_CHECKING:
    from tui.screens.raw_log import Piece


async def show_raw_log(desk: Desk) -> None:
    """Show the input and output of the session's agent program."""
    from tui.screens.raw_log import PAGE_SIZE, RawLog, RawLogWork

    session = desk.session
    if session is None:
        desk.say("Open a session first.")
        return
    session_id = session.id

    async def read(before: int | None, after: int | None) -> "Piece":
        return await desk.client.call(
            get_raw_log, session_id=session_id, before=before, after=after, limit=PAGE_SIZE
        )

    async def switch(is_on: bool) -> None:
        await desk.client.call(update_preferences, changes={"debug_mode_enabled": is_on})

    work = RawLogWork(read, switch, desk.host.copy)
    await desk.ask(RawLog(session.name, lambda: desk.palette, work))
