"""The program of an ACP agent: where it is on this machine, how it is greeted, what it can do."""

import asyncio
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model import __version__
from model.agents.agents_file import AgentRow, McpServer
from model.backends.acp.json_values import Told, as_object, as_objects, as_text
from model.backends.process import agent_environment
from model.backends.traffic import Record
from model.base.errors import SpinneyError

PROTOCOL: Final = 1
"""The version of the protocol that is spoken here."""

INTRODUCTION: Final[Told] = {
    "protocolVersion": PROTOCOL,
    # Neither files nor terminals: an agent works on the worktree itself, as the others do.
    "clientCapabilities": {
        "fs": {"readTextFile": False, "writeTextFile": False},
        "terminal": False,
    },
    "clientInfo": {"name": "spinney", "title": "Spinney", "version": __version__},
}


class ProtocolError(SpinneyError):
    """The agent speaks another version of the protocol."""


@dataclass(frozen=True, slots=True)
class Abilities:
    """What an agent says of itself when it is greeted."""

    version: str | None = None
    resumes: tuple[str, ...] = ()
    """The methods that take up a conversation; first the one that does not replay it."""
    sees_images: bool = False
    reaches_http: bool = False
    """Whether it knows MCP servers that are no programs."""
    sign_ins: tuple[str, ...] = ()
    """Its ways to sign in, in words."""


def abilities(label: str, command: str, told: Told) -> Abilities:
    """What the answer to `initialize` tells. Raises `ProtocolError`."""
    if told.get("protocolVersion") != PROTOCOL:
        spoken = told.get("protocolVersion", "no version")
        raise ProtocolError(
            f"{label} speaks {spoken} of the Agent Client Protocol, and Spinney {PROTOCOL}."
            " Update the older one of the two.",
            "backend_unavailable",
        )
    can = as_object(told.get("agentCapabilities"))
    sessions = as_object(can.get("sessionCapabilities"))
    resumes = ("session/resume",) if isinstance(sessions.get("resume"), dict) else ()
    loads = ("session/load",) if can.get("loadSession") is True else ()
    mcp = as_object(can.get("mcpCapabilities"))
    return Abilities(
        version=as_text(as_object(told.get("agentInfo")).get("version")) or None,
        resumes=(*resumes, *loads),
        sees_images=as_object(can.get("promptCapabilities")).get("image") is True,
        reaches_http=mcp.get("http") is True,
        sign_ins=tuple(_sign_in(command, way) for way in as_objects(told.get("authMethods"))),
    )


def _sign_in(command: str, way: Told) -> str:
    name = as_text(way.get("name")) or as_text(way.get("id"))
    if way.get("type") == "terminal":
        args = way.get("args")
        words = [command, *map(str, args if isinstance(args, list) else ())]
        return f"{name} (run: {' '.join(words)})"
    explained = as_text(way.get("description"))
    return f"{name} ({explained})" if explained else name


def environment(row: AgentRow, extra: Mapping[str, str]) -> dict[str, str]:
    """The program's environment; what `agents.toml` says wins."""
    return {**agent_environment(extra), **row.env}


def hide_secrets(row: AgentRow, record: Record) -> None:
    """Keep what `agents.toml` says of keys out of the session's raw log."""
    record.hide(row.env)
    for server in row.mcp_servers:
        record.hide({**server.env, "authorization": list(server.headers.values())})


async def find(row: AgentRow, path: str | None) -> str:
    """Where the program is on the search path. Raises `backend_unavailable` when it is nowhere."""
    program = await asyncio.to_thread(_which, row.program, path)
    if program is None:
        raise SpinneyError(
            f"{row.label} is not installed: there is no program {row.program}. Install it, or"
            f" correct the command of [{row.name.partition(':')[2]}] in agents.toml.",
            "backend_unavailable",
        )
    return program


def _which(command: str, path: str | None = None) -> str | None:
    return shutil.which(str(Path(command).expanduser()), path=path)


def servers_for(can: Abilities, servers: Iterable[McpServer]) -> list[Told]:
    """The MCP servers as the protocol names them; without those that the agent cannot reach.

    Looks for programs on disk: call it in a thread.
    """
    return [_server(server) for server in servers if can.reaches_http or not server.url]


def _server(server: McpServer) -> Told:
    if server.url:
        headers = _pairs(server.headers)
        return {"type": "http", "name": server.name, "url": server.url, "headers": headers}
    return {
        "name": server.name,
        "command": _which(server.command) or server.command,  # has to be a whole path
        "args": list(server.args),
        "env": _pairs(server.env),
    }


def _pairs(values: Mapping[str, str]) -> list[Told]:
    return [{"name": name, "value": value} for name, value in values.items()]
