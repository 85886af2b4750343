"""Sends a session what keeps its worktree from landing: a conflict, or a red check."""

from typing import TYPE_CHECKING

from model.api.landing import send_landing_message, write_landing_message
from model.base.text import clean_line, make_visible
from tui.desk import Desk
from tui.screens.choose_session import session_for
from tui.screens.go_ahead import GoAhead

if TYPE_CHECKING:
    from model.domain.worktrees import Worktree


async def send_problem(desk: Desk, worktree: "Worktree") -> None:
    """Show the message, and send it on enter to the session that the user chooses."""
    written = await desk.client.call(write_landing_message, worktree_id=worktree.id)
    title = f"Send to the session of {clean_line(worktree.name)}"
    if not await desk.ask(GoAhead(title, make_visible(written.message), "send")):
        return
    session = await session_for(desk, worktree)
    if session is None:
        return
    await desk.client.call(send_landing_message, worktree_id=worktree.id, session_id=session.id)
    desk.say(f"Sent to '{clean_line(session.name)}'.")
