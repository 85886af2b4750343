"""Implements `model.api.foreign_sessions`."""

from pathlib import Path
from typing import TYPE_CHECKING

from model.api import foreign_sessions as api
from model.base.errors import SpinneyError
from model.commands.registry import implements
from model.domain.foreign_sessions import ForeignSessions, ResumeCommand
from model.domain.modes import ExecutionMode
from model.domain.sessions import Session
from model.domain.worktrees import Worktree
from model.preferences import profiles
from model.worktrees import refuse_while_archived, require_worktree

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace


@implements(api.list_foreign_sessions)
async def list_foreign_sessions(workspace: "Workspace", worktree_id: str) -> ForeignSessions:
    return await workspace.foreign_sessions.list_sessions(_usable(workspace, worktree_id))


@implements(api.continue_foreign_session)
async def continue_foreign_session(
    workspace: "Workspace",
    worktree_id: str,
    backend: str,
    conversation_id: str,
    execution_mode: ExecutionMode = "plan",
) -> Session:
    worktree = _usable(workspace, worktree_id)
    state = workspace.store.state
    profile = profiles.resolve_name(state.preferences, state.projects[worktree.project_id])
    model = await workspace.models.choose_default_model(
        backend, state.preferences, Path(worktree.path), profile
    )
    fields = {
        "execution_mode": execution_mode,
        "model": model,
        "thinking_level": state.preferences.thinking_level,
    }
    return await workspace.foreign_sessions.continue_session(
        worktree, backend, conversation_id, fields
    )


@implements(api.get_resume_command)
async def get_resume_command(workspace: "Workspace", session_id: str) -> ResumeCommand:
    return await workspace.chats.hand_over(session_id)


def _usable(workspace: "Workspace", worktree_id: str) -> Worktree:
    worktree = require_worktree(workspace.store.state, worktree_id)
    refuse_while_archived(worktree)
    if worktree.status != "ready":
        raise SpinneyError(f"The directory of '{worktree.name}' is not there.", "conflict")
    return worktree
