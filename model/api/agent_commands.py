"""Slash commands of agents."""

from model.api.command import command
from model.domain.agent_commands import AgentCommand


@command
async def list_agent_commands(worktree_id: str, backend: str | None = None) -> list[AgentCommand]:
    """List the slash commands of an agent in a worktree; a message can be `/name` with the
    arguments of its hint.

    `backend` defaults to the agent that a new session in the worktree would use. Once the agent has
    run in the worktree, these are the commands that its program reports; before that, those in the
    command files of the worktree and of the user. No event reports changes: call this whenever the
    list is needed.
    """
