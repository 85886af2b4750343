"""What OpenCode has in a worktree: its MCP servers and its commands."""

from collections.abc import AsyncIterator, Mapping
from contextlib import suppress

from model.backends import base, opencode_commands
from model.backends.opencode_agents import OwnAgents
from model.backends.opencode_commands import Call
from model.errors import SpinneyError


async def introduction(call: Call, agents: OwnAgents) -> AsyncIterator[base.AgentEvent]:
    """What is told of it; what the program does not answer is left out."""
    with suppress(SpinneyError):
        told = await call("GET", "/mcp", None)
        if isinstance(told, Mapping) and told:
            yield base.McpServersSeen(tuple(sorted(map(str, told))))
    with suppress(SpinneyError):
        known = await opencode_commands.known(call)
        yield base.CommandsKnown((*known, *agents.commands()))
