"""Sends a message of Spinney's own to a session: a given one, the last used, or a new one."""

from typing import TYPE_CHECKING

from model.base.errors import SpinneyError
from model.chat.lookup import session_in
from model.commands.sessions import create_session, deliver_message
from model.domain.messages import SessionMessage
from model.preferences.schema import PromptKey
from model.worktrees import require_worktree

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace


async def send_to_session(
    workspace: "Workspace",
    worktree_id: str,
    text: str,
    session_id: str | None = None,
    prompt: PromptKey | None = None,
) -> SessionMessage:
    """Send `text` to a session of a worktree, and return to which.

    Without `session_id` it goes to the session that was used last, or to a new one that may change
    files, with the agent of the magic prompt `prompt`. No branch is named after it. Raises
    `SpinneyError` if the given session belongs to another worktree.
    """
    chosen = session_id or await _choose_session(workspace, worktree_id, prompt)
    if session_in(workspace.store.state, chosen).worktree_id != worktree_id:
        raise SpinneyError("This session belongs to another worktree. Choose one of this worktree.")
    sent = await deliver_message(workspace, chosen, text)
    return SessionMessage(
        session_id=chosen,
        message_id=sent.message_id,
        status="processing" if sent.status == "processing" else "sent",
    )


async def _choose_session(
    workspace: "Workspace", worktree_id: str, prompt: PromptKey | None
) -> str:
    state = workspace.store.state
    require_worktree(state, worktree_id)
    sessions = state.sessions_of(worktree_id)
    if sessions:
        return max(sessions, key=lambda session: session.updated_at).id
    session = await create_session(workspace, worktree_id, execution_mode="build", prompt=prompt)
    return session.id
