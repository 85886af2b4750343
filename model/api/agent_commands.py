"""An agent's own commands, for whoever wants to write one."""

from model.api.command import command
from model.domain.resources import AgentCommand


@command
async def list_agent_commands(worktree_id: str, backend: str | None = None) -> list[AgentCommand]:
    """The agent's own commands in a worktree: a message may be `/name` and what the hint says.

    `backend`: by default the agent that a new session there would have. Once it was spoken to,
    these are the commands that its program tells; before, those that lie in files of the worktree
    and of the person. No event tells of a change: ask when they are needed.
    """
