"""Discovers the MCP servers and commands that OpenCode offers in a worktree."""

from collections.abc import AsyncIterator
from contextlib import suppress

from model.backends import agent_events
from model.backends.json_values import as_object
from model.backends.opencode import commands
from model.backends.opencode.agents import CustomAgents
from model.backends.opencode.commands import Call
from model.base.errors import SpinneyError


async def discover(call: Call, agents: CustomAgents) -> AsyncIterator[agent_events.AgentEvent]:
    """Yield the MCP servers and commands; calls that fail are skipped."""
    with suppress(SpinneyError):
        if servers := as_object(await call("GET", "/mcp", None)):
            yield agent_events.McpServersListed(tuple(sorted(map(str, servers))))
    with suppress(SpinneyError):
        listed = await commands.list_commands(call)
        yield agent_events.CommandsListed((*listed, *agents.commands()))
