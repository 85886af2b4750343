"""A session's thread in Codex: starting or resuming it."""

import asyncio
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from model.backends.base import CannotForkError, Launch, Settings, lost_turn_reason
from model.backends.codex import policy
from model.backends.codex.models import UserConfig
from model.backends.codex.server import NAME, CodexServer
from model.backends.json_rpc import JsonRpc, RpcError
from model.backends.json_values import Json, as_object
from model.base.errors import SpinneyError

_TIMEOUT: Final = 60.0
"""Seconds to open a thread; the user's MCP servers start with it."""

_HELD: Final = "active writer"
_LOST: Final = ("no rollout found", "invalid session id", "not found", "is archived")
"""Parts of the error for a thread that another program has open, and for one that is missing."""

_UNFINISHED: Final = "in-progress turn"
"""Part of the error for a turn that was cut off."""


class ThreadHeldError(SpinneyError):
    """Another Codex process has the conversation open."""

    def __init__(self) -> None:
        super().__init__(
            f"Another {NAME} has this conversation open. Close it there and resend the message.",
            "conflict",
        )


@dataclass(slots=True)
class CodexThread:
    """An open thread: the session's conversation in the program."""

    id: str
    config: UserConfig
    """The model settings in the user's configuration."""
    mark: str
    """The value of `policy.SESSION_VARIABLE` in the environment of its commands."""
    git_folders: list[Path]
    """The folders that a commit writes to."""
    mcp_servers: tuple[str, ...]
    """The configured MCP servers."""
    is_web_disabled: bool
    provider_key: str | None = None
    """The variable with the key of the user's own provider; see `errors.describe_error`."""
    is_persisted: bool = False
    """Whether it is stored on disk, which is the case from the first message on."""
    is_replacement: bool = False
    """Whether it replaces a conversation that the program no longer has."""
    is_copy: bool = False
    """Whether it is a copy of a conversation that another program has open."""


async def open_thread(
    server: CodexServer,
    launch: Launch,
    settings: Settings,
    token: str | None,
    mark: str = "",
    fork_at: str | None = None,
    copies: bool = False,
) -> CodexThread:
    """Open the thread with this token, or a new one if there is none or the program lost it.

    With `fork_at`, open a copy of it that ends with this turn; with `copies`, a copy of all of it.
    Raises `ThreadHeldError` if another program has it open, `CannotForkError` if the turn is lost,
    else `SpinneyError`.
    """
    mark = mark or uuid.uuid4().hex
    rpc = server.rpc.with_recorder(launch.recorder)
    config_response = await rpc.request("config/read", {"cwd": str(launch.worktree)})
    servers = sorted({*_list_servers(config_response), *policy.get_profile_servers(launch.profile)})
    config = UserConfig.from_response(config_response, launch.profile)
    params: Json = {
        "cwd": str(launch.worktree),
        "config": policy.build_thread_config(launch, settings, mark, servers),
    }
    if model := server.models.initial_model(settings, config):
        params["model"] = model
    response = None
    if token and (fork_at or copies):
        response = await _fork(rpc, params, token, fork_at)
    elif token:
        response = await _resume(rpc, params, token)
    is_persisted = response is not None
    if response is None:
        instructions = "baseInstructions" if launch.text_only else "developerInstructions"
        if launch.system_prompt:
            params[instructions] = launch.system_prompt
        params["ephemeral"] = launch.text_only
        response = await rpc.request("thread/start", params, _TIMEOUT)
    return CodexThread(
        id=_thread_id(response),
        config=config,
        mark=mark,
        git_folders=await asyncio.to_thread(policy.find_git_folders, launch.worktree),
        mcp_servers=tuple(servers),
        is_web_disabled=policy.is_web_disabled(launch, settings),
        provider_key=_find_provider_key(config_response),
        is_persisted=is_persisted,
        is_replacement=bool(token) and not is_persisted,
        is_copy=bool(token) and copies,
    )


async def _fork(rpc: JsonRpc, settings: Mapping[str, Any], token: str, turn: str | None) -> Json:
    """Copy a thread, up to and with a turn if one is given; works while it is open elsewhere."""
    params = {**settings, "threadId": token, "excludeTurns": True}
    if turn:
        params["lastTurnId"] = turn
    try:
        return await rpc.request("thread/fork", params, _TIMEOUT)
    except RpcError as error:
        if any(part in error.message for part in (*_LOST, _UNFINISHED)):
            raise CannotForkError(lost_turn_reason(NAME)) from error
        raise


async def _resume(rpc: JsonRpc, settings: Mapping[str, Any], token: str) -> Json | None:
    params = {**settings, "threadId": token, "excludeTurns": True}
    try:
        response = await rpc.request("thread/resume", params, _TIMEOUT)
    except RpcError as error:
        if _HELD in error.message:
            raise ThreadHeldError from error
        if any(part in error.message for part in _LOST):
            return None
        raise
    # It has been seen to resume another conversation than the requested one.
    return response if _thread_id(response) == token else None


def _thread_id(response: Mapping[str, Any]) -> str:
    thread_id = as_object(response.get("thread")).get("id")
    if not isinstance(thread_id, str):
        raise SpinneyError(f"{NAME} did not start a conversation. Try again.", "backend_error")
    return thread_id


def _find_provider_key(response: Mapping[str, Any]) -> str | None:
    config: Any = response.get("config")
    try:
        provider = config["model_providers"][config["model_provider"]]
        is_own = not provider.get("requires_openai_auth")
    except (KeyError, TypeError, AttributeError):
        return None
    return str(provider.get("env_key") or "") if is_own else None


def _list_servers(response: Mapping[str, Any]) -> list[str]:
    return list(as_object(as_object(response.get("config")).get("mcp_servers")))
