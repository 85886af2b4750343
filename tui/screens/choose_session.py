"""Asks which session of a worktree to write to."""

from typing import TYPE_CHECKING

from model.api.sessions import create_session
from tui.desk import Desk
from tui.screens.choose import Choice, Choose

if TYPE_CHECKING:
    from model.domain.sessions import Session
    from model.domain.worktrees import Worktree
    from model.preferences.schema import PromptKey


async def session_for(
    desk: Desk, worktree: "Worktree", prompt: "PromptKey | None" = None
) -> "Session | None":
    """Return the only session, the chosen one, or a new one; `None` if the user cancels.

    What is sent asks for changes, so a new one may make them; it has the agent of the magic prompt
    `prompt`.
    """
    sessions = desk.state.sessions_of(worktree.id)
    if len(sessions) == 1:
        return sessions[0]
    if not sessions:
        session = await desk.client.call(
            create_session, worktree_id=worktree.id, execution_mode="build", prompt=prompt
        )
        await desk.mirror.wait_for(lambda state: session.id in state.sessions)
        return session
    present = desk.session.id if desk.session is not None else ""
    choices = [Choice(session.id, session.name, session.status) for session in sessions]
    chosen = await desk.ask(Choose("Send to which session?", choices, present))
    return desk.state.sessions.get(chosen or "")
