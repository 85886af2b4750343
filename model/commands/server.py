"""Implements `model.api.server`."""

import asyncio
import os
import secrets
from typing import TYPE_CHECKING, Any

from model.api import server as api
from model.base.errors import SpinneyError
from model.base.qr import qr_rows
from model.commands.registry import implements
from model.domain.events import TaskCompleted
from model.preferences.apply import apply_changes
from model.preferences.schema import Preferences

if TYPE_CHECKING:
    from model.runtime.http_server import HttpServer
    from model.runtime.workspace import Workspace


@implements(api.get_http_server_status)
async def get_http_server_status(workspace: "Workspace") -> dict[str, Any]:
    return _server(workspace).status()


def status_when_stopped(preferences: Preferences) -> dict[str, Any]:
    """The result of `get_http_server_status` while the server is stopped."""
    return {
        "running": False,
        "base_url": None,
        "port": preferences.http_server_port,
        "localhost_only": preferences.http_server_localhost_only,
        "token_required": preferences.http_server_token_required,
    }


@implements(api.get_connection_qr)
async def get_connection_qr(workspace: "Workspace") -> api.ConnectionCode:
    status = _server(workspace).status()
    if not status["running"] or status["localhost_only"]:
        raise SpinneyError(
            "Other devices cannot connect. Allow connections from the network first.", "conflict"
        )
    token = workspace.store.state.preferences.http_server_token
    fragment = f"#token={token}" if status["token_required"] and token else ""
    url = f"{status['base_url'].rstrip('/')}/{fragment}"
    return api.ConnectionCode(url=url, rows=qr_rows(url))


@implements(api.start_http_server)
async def start_http_server(
    workspace: "Workspace",
    port: int | None = None,
    localhost_only: bool | None = None,
    token_required: bool | None = None,
) -> dict[str, Any]:
    preferences = workspace.store.state.preferences
    if not preferences.http_server_token:
        await _generate_token(workspace)
    was_running = _server(workspace).status()["running"]
    await _server(workspace).start(
        preferences.http_server_port if port is None else port,
        localhost_only=_first_set(localhost_only, preferences.http_server_localhost_only),
        token_required=_first_set(token_required, preferences.http_server_token_required),
    )
    status = _server(workspace).status()
    if not was_running:
        _report(workspace, f"The server answers at {status['base_url']}.")
    return status


@implements(api.stop_http_server)
async def stop_http_server(workspace: "Workspace") -> dict[str, Any]:
    was_running = _server(workspace).status()["running"]
    await _server(workspace).stop()
    if was_running:
        _report(workspace, "The server is stopped.")
    return _server(workspace).status()


@implements(api.get_http_server_token)
async def get_http_server_token(workspace: "Workspace") -> str:
    if not workspace.store.state.preferences.http_server_token:
        await _generate_token(workspace)
    return workspace.store.state.preferences.http_server_token or ""


@implements(api.stop_spinney)
async def stop_spinney(workspace: "Workspace") -> dict[str, int]:
    if workspace.request_shutdown is None:
        raise SpinneyError("This Spinney is part of another program and ends with it.")
    # After the response has been sent.
    asyncio.get_running_loop().call_later(0.1, workspace.request_shutdown)
    return {"pid": os.getpid(), "interrupted": len(workspace.store.state.interruptible_sessions())}


@implements(api.regenerate_http_token)
async def regenerate_http_token(workspace: "Workspace") -> dict[str, Any]:
    await _generate_token(workspace)
    return _server(workspace).status()


async def _generate_token(workspace: "Workspace") -> None:
    token = secrets.token_urlsafe(32)
    preferences = workspace.store.state.preferences
    await workspace.change_preferences(apply_changes(preferences, {"http_server_token": token}))


def _report(workspace: "Workspace", detail: str) -> None:
    workspace.store.record(TaskCompleted(task="http_server", ok=True, detail=detail))


def _server(workspace: "Workspace") -> "HttpServer":
    if workspace.http_server is None:
        raise SpinneyError("This Spinney was started without a server.", "internal_error")
    return workspace.http_server


def _first_set(given: bool | None, preference: bool) -> bool:
    return preference if given is None else given
