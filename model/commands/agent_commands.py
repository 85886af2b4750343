"""An agent's own commands, for whoever wants to write one."""

from typing import TYPE_CHECKING

from model.commands.registry import command
from model.domain.resources import AgentCommand
from model.preferences.precedence import backend_for
from model.worktrees import worktree_in

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace


@command
async def list_agent_commands(
    workspace: "Workspace", worktree_id: str, backend: str | None = None
) -> list[AgentCommand]:
    """The agent's own commands in a worktree: a message may be `/name` and what the hint says.

    `backend`: by default the agent that a new session there would have. Once it was spoken to,
    these are the commands that its program tells; before, those that lie in files of the worktree
    and of the person. No event tells of a change: ask when they are needed.
    """
    state = workspace.store.state
    worktree = worktree_in(state, worktree_id)
    project = state.projects[worktree.project_id]
    agent = backend_for(
        project, state.preferences, backend, catalog=workspace.catalog, demo=workspace.demo
    )
    return await workspace.commands_of(agent, worktree)
