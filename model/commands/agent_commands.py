"""Implements `model.api.agent_commands`."""

from typing import TYPE_CHECKING

from model.api import agent_commands as api
from model.commands.registry import implements
from model.domain.resources import AgentCommand
from model.preferences.precedence import backend_for
from model.worktrees import worktree_in

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace


@implements(api.list_agent_commands)
async def list_agent_commands(
    workspace: "Workspace", worktree_id: str, backend: str | None = None
) -> list[AgentCommand]:
    state = workspace.store.state
    worktree = worktree_in(state, worktree_id)
    project = state.projects[worktree.project_id]
    agent = backend_for(
        project, state.preferences, backend, catalog=workspace.catalog, demo=workspace.demo
    )
    return await workspace.commands_of(agent, worktree)
