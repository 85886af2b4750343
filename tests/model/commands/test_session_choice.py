"""To which session a message of Spinney's own goes."""

import pytest

from model.base.errors import SpinneyError
from model.commands.session_choice import send_to_session
from model.commands.sessions import create_session
from model.domain.events.sessions import SessionUpdated
from model.domain.events.worktrees import WorktreeCreated
from model.domain.sessions import Session
from model.domain.worktrees import Worktree
from model.runtime.workspace import Workspace


async def test_a_worktree_without_sessions_gets_one_that_may_change_files(
    workspace: Workspace, worktree: Worktree
) -> None:
    sent = await send_to_session(workspace, worktree.id, "Mend it.")
    session = workspace.store.state.sessions[sent.session_id]
    assert (session.worktree_id, session.execution_mode) == (worktree.id, "build")
    assert sent.status == "processing"
    page = await workspace.store.messages(session.id)
    assert (page.messages[0].id, page.messages[0].text) == (sent.message_id, "Mend it.")


async def test_a_new_session_has_the_agent_of_the_prompt(
    workspace: Workspace, worktree: Worktree
) -> None:
    sent = await send_to_session(workspace, worktree.id, "Mend it.", prompt="resolve_conflicts")
    assert workspace.store.state.sessions[sent.session_id].prompt == "resolve_conflicts"


async def test_the_session_that_was_used_last_is_chosen_unless_another_is_given(
    workspace: Workspace, worktree: Worktree, session: Session
) -> None:
    other = await create_session(workspace, worktree.id)
    used = SessionUpdated(session_id=session.id, updates={"updated_at": other.updated_at + 1})
    await workspace.store.accept(used)
    assert (await send_to_session(workspace, worktree.id, "Mend it.")).session_id == session.id
    given = await send_to_session(workspace, worktree.id, "Mend it.", other.id)
    assert given.session_id == other.id


async def test_a_session_of_another_worktree_gets_nothing(
    workspace: Workspace, worktree: Worktree, session: Session
) -> None:
    elsewhere = worktree.model_copy(update={"id": "elsewhere"})
    await workspace.store.accept(WorktreeCreated(worktree=elsewhere))
    with pytest.raises(SpinneyError, match="another worktree"):
        await send_to_session(workspace, "elsewhere", "Mend it.", session.id)
    assert workspace.store.state.sessions[session.id].message_count == 0
