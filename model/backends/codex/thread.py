"""A session's thread of Codex: begun, or opened again where it was left."""

import asyncio
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from model.backends.base import Launch, Settings
from model.backends.codex import policy
from model.backends.codex.models import Own
from model.backends.codex.server import NAME, CodexServer
from model.backends.json_rpc import JsonRpc, RpcError
from model.base.errors import SpinneyError

Json = dict[str, Any]

_PATIENCE: Final = 60.0
"""Seconds to open a thread; the MCP servers of the person start with it."""

_HELD: Final = "active writer"
_LOST: Final = ("no rollout found", "invalid session id", "not found", "is archived")
"""In what the program says of a thread that another program has open, or that it has not."""


class ThreadHeldError(SpinneyError):
    """Another running Codex has the conversation open."""

    def __init__(self) -> None:
        super().__init__(
            f"Another {NAME} has this conversation open. End it there and send the message again.",
            "conflict",
        )


@dataclass(slots=True)
class Thread:
    """The session's conversation as the program knows it."""

    id: str
    own: Own
    """What the person's configuration says of models."""
    mark: str
    """The value of `codex_policy.MARK` that its commands carry."""
    git: list[Path]
    """What a commit writes to."""
    servers: tuple[str, ...]
    """The MCP servers that the person has."""
    web_is_off: bool
    own_key: str | None = None
    """The variable with the key of the person's own provider; see `codex_errors.described`."""
    is_kept: bool = False
    """Whether the program has it on disk, which it has from the first message on."""
    is_lost: bool = False
    """Whether it stands in for a conversation that the program has no more."""


async def open_thread(
    server: CodexServer, launch: Launch, settings: Settings, token: str | None, mark: str = ""
) -> Thread:
    """The thread with this token, or a new one where there is none or the program lost it.

    Raises `ThreadHeldError` when another program has it, else `SpinneyError`.
    """
    mark = mark or uuid.uuid4().hex
    rpc = server.rpc.with_recorder(launch.record)
    read = await rpc.request("config/read", {"cwd": str(launch.worktree)})
    servers = sorted({*_servers(read), *policy.servers_of(launch.profile)})
    own = Own.of(read, launch.profile)
    told: Json = {
        "cwd": str(launch.worktree),
        "config": policy.thread_config(launch, settings, mark, servers),
    }
    if model := server.models.at_start(settings, own):
        told["model"] = model
    answer = await _resumed(rpc, told, token) if token else None
    is_kept = answer is not None
    if answer is None:
        instructions = "baseInstructions" if launch.text_only else "developerInstructions"
        if launch.system_prompt:
            told[instructions] = launch.system_prompt
        told["ephemeral"] = launch.text_only
        answer = await rpc.request("thread/start", told, _PATIENCE)
    return Thread(
        id=_id_of(answer),
        own=own,
        mark=mark,
        git=await asyncio.to_thread(policy.git_places, launch.worktree),
        servers=tuple(servers),
        web_is_off=policy.web_is_off(launch, settings),
        own_key=_own_key(read),
        is_kept=is_kept,
        is_lost=bool(token) and not is_kept,
    )


async def _resumed(rpc: JsonRpc, told: Mapping[str, Any], token: str) -> Json | None:
    words = {**told, "threadId": token, "excludeTurns": True}
    try:
        answer = await rpc.request("thread/resume", words, _PATIENCE)
    except RpcError as error:
        if _HELD in error.message:
            raise ThreadHeldError from error
        if any(words in error.message for words in _LOST):
            return None
        raise
    # It was seen to resume another conversation than the one that was asked for.
    return answer if _id_of(answer) == token else None


def _id_of(answer: Mapping[str, Any]) -> str:
    thread = answer.get("thread")
    found = thread.get("id") if isinstance(thread, dict) else None
    if not isinstance(found, str):
        raise SpinneyError(f"{NAME} did not begin a conversation. Try again.", "backend_error")
    return found


def _own_key(read: Mapping[str, Any]) -> str | None:
    config: Any = read.get("config")
    try:
        provider = config["model_providers"][config["model_provider"]]
        is_own = not provider.get("requires_openai_auth")
    except (KeyError, TypeError, AttributeError):
        return None
    return str(provider.get("env_key") or "") if is_own else None


def _servers(read: Mapping[str, Any]) -> list[str]:
    config = read.get("config")
    servers = config.get("mcp_servers") if isinstance(config, dict) else None
    return list(servers) if isinstance(servers, dict) else []
