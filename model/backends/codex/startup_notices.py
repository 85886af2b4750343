"""Notes on Codex's start: ignored hooks and settings, MCP servers that did not start, and warnings
about its settings.
"""

import asyncio
import logging
from typing import Final

from model.backends.codex.server import NAME
from model.backends.json_rpc import JsonRpc
from model.backends.json_values import Json

_MAX_LENGTH: Final = 300
"""Maximum characters of a message of the program."""

_UNTRUSTED: Final = ("untrusted", "modified")

_TIMEOUT: Final = 3.0
"""Seconds to report what is ignored; the session does not wait longer."""

_log = logging.getLogger(__name__)


async def find_ignored(rpc: JsonRpc, worktree: str) -> list[str]:
    """Notes on the user's and the project's settings that are ignored there, with the reasons."""
    requests = (
        rpc.request("config/read", {"cwd": worktree, "includeLayers": True}, _TIMEOUT),
        rpc.request("hooks/list", {"cwds": [worktree]}, _TIMEOUT),
    )
    notes: list[str] = []
    responses = await asyncio.gather(*requests, return_exceptions=True)
    for response, parse in zip(
        responses, (_find_ignored_projects, _find_ignored_hooks), strict=True
    ):
        if not isinstance(response, dict):
            continue  # not supported, or too slow
        try:
            notes += parse(response)
        except (AttributeError, KeyError, TypeError) as error:
            _log.warning("unexpected response of Codex about ignored settings: %r", error)
    return notes


def _find_ignored_projects(response: Json) -> list[str]:
    layers = response.get("layers")
    return [
        f"{NAME} ignores the settings and hooks in {layer['name'].get('dotCodexFolder')}: you"
        " have not trusted that folder. Run `codex` there once and trust it."
        for layer in (layers if isinstance(layers, list) else ())
        if layer.get("disabledReason")
        and layer.get("config")
        and layer["name"]["type"] == "project"
    ]


def _find_ignored_hooks(response: Json) -> list[str]:
    notes = []
    folders = response.get("data")
    for folder in folders if isinstance(folders, list) else ():
        hooks = [hook for hook in folder.get("hooks", ()) if hook.get("enabled") is True]
        untrusted = [hook for hook in hooks if hook.get("trustStatus") in _UNTRUSTED]
        if untrusted:
            notes.append(_describe_untrusted(untrusted))
        for error in folder.get("errors", ())[:1]:
            reason = shorten(f"{error.get('path')}: {error.get('message')}")
            notes.append(f"{NAME} ignores hooks that it cannot read. {reason}")
    return notes


def _describe_untrusted(hooks: list[Json]) -> str:
    events = ", ".join(sorted({str(hook.get("eventName")) for hook in hooks}))
    count = f"{len(hooks)} of your hooks" if len(hooks) > 1 else "one of your hooks"
    return (
        f"{NAME} ignores {count} ({events}): you have not trusted what would run, or it has"
        " changed. Run `codex` in a terminal and review them with `/hooks`."
    )


def describe_failed_server(params: Json) -> str:
    """The note on an MCP server that did not start."""
    name = params.get("name")
    if params.get("failureReason") == "reauthenticationRequired":
        return f"The MCP server {name} needs you to sign in again. Run: `codex mcp login {name}`."
    error = str(params.get("error") or "").rpartition("MCP startup failed: ")[2]
    return (
        f"The MCP server {name} did not start, so its tools are missing. {shorten(error)}".rstrip()
    )


def describe_warning(params: Json) -> str:
    """The note on a warning about the user's settings, or on a deprecated setting in them."""
    warning = shorten(
        " ".join(str(params.get(key) or "") for key in ("summary", "details", "message"))
    )
    # The program brings its own copy.
    return (
        ""
        if "could not find bubblewrap" in warning
        else f"{NAME} reports: {warning}"
        if warning
        else ""
    )


def shorten(text: str) -> str:
    """Put a text on one line and truncate it."""
    line = " ".join(text.split())
    return line if len(line) <= _MAX_LENGTH else f"{line[: _MAX_LENGTH - 1]}…"
