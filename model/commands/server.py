"""Implements `model.api.server`."""

import asyncio
import os
import secrets
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from model.api import server as api
from model.base.errors import SpinneyError
from model.base.qr import qr_rows
from model.base.text import clean_line
from model.commands.registry import implements
from model.domain.events.program import TaskCompleted
from model.domain.program import ProgramStatus, RestartAnswer
from model.preferences.apply import apply_changes
from model.preferences.schema import Preferences
from model.runtime.http_server import preferred_certificate
from model.service.addresses import (
    Kind,
    find_interface,
    is_address,
    list_interfaces,
)
from model.service.certificates import CertificateFiles

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


@implements(api.list_server_addresses)
async def list_server_addresses(workspace: "Workspace") -> list[api.ServerAddress]:
    status = _server(workspace).status()
    return await asyncio.to_thread(find_addresses, status) if status["running"] else []


def find_addresses(status: Mapping[str, Any]) -> list[api.ServerAddress]:
    """The addresses of a running server with this status, the best for other devices first."""
    scheme, port, host = urlsplit(status["base_url"]).scheme, status["port"], status["host"]
    interfaces = list_interfaces()
    if host != "0.0.0.0":
        interfaces = [find_interface(host, interfaces)]

    def address(name: str, kind: "Kind | Literal['name']", label: str) -> api.ServerAddress:
        shown = f"[{name}]" if ":" in name else name
        return api.ServerAddress(url=f"{scheme}://{shown}:{port}", kind=kind, label=label)

    found = [address(each.address, each.kind, each.label) for each in interfaces]
    # A browser accepts the certificate only under these.
    names = [name for name in status["certificate_names"] if "*" not in name]
    found += [address(each, "name", "certificate") for each in names if not is_address(each)]
    order = ("name", "vpn", "network", "machine")
    return sorted(found, key=lambda each: order.index(each.kind))


@implements(api.get_connection_qr)
async def get_connection_qr(workspace: "Workspace", url: str | None = None) -> api.ConnectionCode:
    status = _server(workspace).status()
    if not status["running"] or status["localhost_only"]:
        raise SpinneyError(
            "Other devices cannot connect. Allow connections from the network first.", "conflict"
        )
    known = [each.url for each in await list_server_addresses(workspace)]
    if url is not None and url not in known:
        raise SpinneyError(
            f"The server has no address {clean_line(url)}. It has: {', '.join(known)}.", "not_found"
        )
    token = workspace.store.state.preferences.http_server_token
    fragment = f"#token={token}" if status["token_required"] and token else ""
    shown = f"{(url or status['base_url']).rstrip('/')}/{fragment}"
    return api.ConnectionCode(url=shown, rows=qr_rows(shown))


@implements(api.start_http_server)
async def start_http_server(
    workspace: "Workspace",
    port: int | None = None,
    localhost_only: bool | None = None,
    token_required: bool | None = None,
    host: str | None = None,
) -> dict[str, Any]:
    return await start_server(workspace, port, localhost_only, token_required, host)


async def start_server(
    workspace: "Workspace",
    port: int | None = None,
    localhost_only: bool | None = None,
    token_required: bool | None = None,
    host: str | None = None,
    tls: CertificateFiles | None = None,
) -> dict[str, Any]:
    """Start the server and return its status; what is not given comes from the preferences.

    Raises `SpinneyError`.
    """
    preferences = workspace.store.state.preferences
    if not preferences.http_server_token:
        await _generate_token(workspace)
    was_running = _server(workspace).status()["running"]
    await _server(workspace).start(
        preferences.http_server_port if port is None else port,
        localhost_only=_first_set(localhost_only, preferences.http_server_localhost_only),
        token_required=_first_set(token_required, preferences.http_server_token_required),
        host=preferences.http_server_host if host is None else host,
        tls=tls or preferred_certificate(preferences),
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


@implements(api.get_program_status)
async def get_program_status(workspace: "Workspace") -> ProgramStatus:
    await workspace.restarter.check_installation()
    return workspace.restarter.status


@implements(api.restart_spinney)
async def restart_spinney(
    workspace: "Workspace", when: Literal["now", "idle"] | None = None
) -> RestartAnswer:
    return await workspace.restarter.restart(when)


@implements(api.cancel_restart)
async def cancel_restart(workspace: "Workspace") -> ProgramStatus:
    workspace.restarter.cancel()
    return workspace.restarter.status


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
