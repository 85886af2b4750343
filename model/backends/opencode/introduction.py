"""What OpenCode has in a worktree: its MCP servers and its commands."""

from collections.abc import AsyncIterator, Mapping
from contextlib import suppress

from model.backends import base
from model.backends.opencode import commands
from model.backends.opencode.agents import OwnAgents
from model.backends.opencode.commands import Call
from model.base.errors import SpinneyError


async def introduction(call: Call, agents: OwnAgents) -> AsyncIterator[base.AgentEvent]:
    """What is told of it; what the program does not answer is left out."""
    with suppress(SpinneyError):
        told = await call("GET", "/mcp", None)
        if isinstance(told, Mapping) and told:
            yield base.McpServersSeen(tuple(sorted(map(str, told))))
    with suppress(SpinneyError):
        known = await commands.known(call)
        yield base.CommandsKnown((*known, *agents.commands()))
