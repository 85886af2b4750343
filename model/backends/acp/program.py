"""The program of an ACP agent: finding it, its environment, and its capabilities."""

import asyncio
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model import __version__
from model.agents.agents_file import AgentRow, McpServer
from model.backends.json_values import Json, as_object, as_objects, as_text
from model.backends.process import build_agent_environment
from model.backends.traffic import TrafficRecorder
from model.base.errors import SpinneyError
from model.domain.modes import ExecutionMode

PROTOCOL_VERSION: Final = 1
"""The supported version of the protocol."""

INITIALIZE_PARAMS: Final[Json] = {
    "protocolVersion": PROTOCOL_VERSION,
    # Neither files nor terminals: the agent works in the worktree directly, like all others.
    "clientCapabilities": {
        "fs": {"readTextFile": False, "writeTextFile": False},
        "terminal": False,
    },
    "clientInfo": {"name": "spinney", "title": "Spinney", "version": __version__},
}


SESSION_META: Final[Json] = {
    # Otherwise claude-agent-acp decides about commands in plan mode by itself (0.49, 0.101).
    "claudeCode": {"options": {"settings": {"useAutoModeDuringPlan": False}}},
}
"""Settings for the agents that read them, sent with each conversation that is opened."""


class ProtocolError(SpinneyError):
    """The agent uses another version of the protocol."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an agent reports in its response to `initialize`."""

    version: str | None = None
    resume_methods: tuple[str, ...] = ()
    """The methods that resume a conversation; first the one that does not replay it."""
    accepts_images: bool = False
    supports_http: bool = False
    """Whether it supports MCP servers over HTTP."""
    sign_in_methods: tuple[str, ...] = ()
    """Descriptions of its sign-in methods."""


def parse_capabilities(label: str, command: str, response: Json) -> Capabilities:
    """Parse the response to `initialize`. Raises `ProtocolError`."""
    if response.get("protocolVersion") != PROTOCOL_VERSION:
        version = response.get("protocolVersion", "no version")
        raise ProtocolError(
            f"{label} uses version {version} of the Agent Client Protocol, Spinney uses"
            f" {PROTOCOL_VERSION}. Update the older of the two.",
            "backend_unavailable",
        )
    agent = as_object(response.get("agentCapabilities"))
    sessions = as_object(agent.get("sessionCapabilities"))
    resume = ("session/resume",) if isinstance(sessions.get("resume"), dict) else ()
    load = ("session/load",) if agent.get("loadSession") is True else ()
    mcp = as_object(agent.get("mcpCapabilities"))
    methods = as_objects(response.get("authMethods"))
    return Capabilities(
        version=as_text(as_object(response.get("agentInfo")).get("version")) or None,
        resume_methods=(*resume, *load),
        accepts_images=as_object(agent.get("promptCapabilities")).get("image") is True,
        supports_http=mcp.get("http") is True,
        sign_in_methods=tuple(_describe_sign_in(command, method) for method in methods),
    )


def describe_unasking_mode(label: str, name: str, mode: ExecutionMode) -> str:
    """The note about an agent that has no mode which is known to ask."""
    return (
        f"{label} may act without asking you in its mode '{name}': it offers none that is known to"
        f' ask. If it has one, name it in agents.toml: modes = {{{mode} = "…"}}'
    )


def _describe_sign_in(command: str, method: Json) -> str:
    name = as_text(method.get("name")) or as_text(method.get("id"))
    if method.get("type") == "terminal":
        args = method.get("args")
        argv = [command, *map(str, args if isinstance(args, list) else ())]
        return f"{name} (run: {' '.join(argv)})"
    description = as_text(method.get("description"))
    return f"{name} ({description})" if description else name


def environment(row: AgentRow, extra: Mapping[str, str]) -> dict[str, str]:
    """The program's environment; values in `agents.toml` take precedence."""
    return {**build_agent_environment(extra), **row.env}


def hide_secrets(row: AgentRow, record: TrafficRecorder) -> None:
    """Mask the secrets of `agents.toml` in the session's raw log."""
    record.mask_secrets(row.env)
    for server in row.mcp_servers:
        record.mask_secrets({**server.env, "authorization": list(server.headers.values())})


async def find_program(row: AgentRow, path: str | None) -> str:
    """Find the program on the search path. Raises `backend_unavailable` if it is missing."""
    program = await asyncio.to_thread(_which, row.program, path)
    if program is None:
        raise SpinneyError(
            f"{row.label} is not installed: there is no program '{row.program}'. Install it, or"
            f" correct the command of [{row.name.partition(':')[2]}] in agents.toml.",
            "backend_unavailable",
        )
    return program


def _which(command: str, path: str | None = None) -> str | None:
    return shutil.which(str(Path(command).expanduser()), path=path)


def build_mcp_servers(capabilities: Capabilities, servers: Iterable[McpServer]) -> list[Json]:
    """The MCP servers in the protocol's format; without those that the agent does not support.

    Searches for programs on disk: call it in a thread.
    """
    return [_server(server) for server in servers if capabilities.supports_http or not server.url]


def _server(server: McpServer) -> Json:
    if server.url:
        headers = _pairs(server.headers)
        return {"type": "http", "name": server.name, "url": server.url, "headers": headers}
    return {
        "name": server.name,
        "command": _which(server.command) or server.command,  # must be an absolute path
        "args": list(server.args),
        "env": _pairs(server.env),
    }


def _pairs(values: Mapping[str, str]) -> list[Json]:
    return [{"name": name, "value": value} for name, value in values.items()]
