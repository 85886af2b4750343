"""Implements `model.api.agent_commands`."""

from typing import TYPE_CHECKING

from model.api import agent_commands as api
from model.commands.registry import implements
from model.domain.agent_commands import AgentCommand
from model.preferences.precedence import choose_backend
from model.worktrees import require_worktree

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace


@implements(api.list_agent_commands)
async def list_agent_commands(
    workspace: "Workspace", worktree_id: str, backend: str | None = None
) -> list[AgentCommand]:
    state = workspace.store.state
    worktree = require_worktree(state, worktree_id)
    project = state.projects[worktree.project_id]
    agent = choose_backend(
        project, state.preferences, backend, catalog=workspace.catalog, demo=workspace.demo
    )
    return await workspace.list_agent_commands(agent, worktree)
