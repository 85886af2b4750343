"""What a person should know of how Codex was started: hooks that it leaves out, servers that did
not start, what it says of its settings.
"""

import asyncio
import logging
from typing import Any, Final

from model.backends.codex.server import NAME
from model.backends.json_rpc import JsonRpc

Json = dict[str, Any]

_LONGEST: Final = 300
"""Characters of what the program says."""

_LEFT_OUT: Final = ("untrusted", "modified")

_PATIENCE: Final = 3.0
"""Seconds to tell what is left out: the session does not wait longer for it."""

_log = logging.getLogger(__name__)


async def left_out(rpc: JsonRpc, worktree: str) -> list[str]:
    """What of the person's and the project's settings does not hold there, each with why."""
    asked = (
        rpc.request("config/read", {"cwd": worktree, "includeLayers": True}, _PATIENCE),
        rpc.request("hooks/list", {"cwds": [worktree]}, _PATIENCE),
    )
    notes: list[str] = []
    told = await asyncio.gather(*asked, return_exceptions=True)
    for answer, read in zip(told, (_project_left_out, _hooks_left_out), strict=True):
        if not isinstance(answer, dict):
            continue  # a program that does not tell it, or not in time
        try:
            notes += read(answer)
        except (AttributeError, KeyError, TypeError) as error:
            _log.warning("Codex tells in another form what it leaves out: %r", error)
    return notes


def _project_left_out(told: Json) -> list[str]:
    layers = told.get("layers")
    return [
        f"{NAME} leaves out the settings and hooks in {layer['name'].get('dotCodexFolder')}: you"
        " have not trusted that folder. Run `codex` there once, and say that you do."
        for layer in (layers if isinstance(layers, list) else ())
        if layer.get("disabledReason")
        and layer.get("config")
        and layer["name"]["type"] == "project"
    ]


def _hooks_left_out(told: Json) -> list[str]:
    notes = []
    places = told.get("data")
    for place in places if isinstance(places, list) else ():
        hooks = [hook for hook in place.get("hooks", ()) if hook.get("enabled") is True]
        waiting = [hook for hook in hooks if hook.get("trustStatus") in _LEFT_OUT]
        if waiting:
            notes.append(_waiting_for_trust(waiting))
        for error in place.get("errors", ())[:1]:
            said = short(f"{error.get('path')}: {error.get('message')}")
            notes.append(f"{NAME} leaves out hooks that it cannot read. {said}")
    return notes


def _waiting_for_trust(hooks: list[Json]) -> str:
    events = ", ".join(sorted({str(hook.get("eventName")) for hook in hooks}))
    many = f"{len(hooks)} hooks" if len(hooks) > 1 else "a hook"
    return (
        f"{NAME} leaves out {many} of yours ({events}): you have not trusted what would run, or it"
        " was changed since. Run `codex` in a terminal and look through them with `/hooks`."
    )


def server_failed(params: Json) -> str:
    """That an MCP server did not start."""
    name = params.get("name")
    if params.get("failureReason") == "reauthenticationRequired":
        return f"The MCP server {name} wants a new sign-in. Run: `codex mcp login {name}`."
    said = str(params.get("error") or "").rpartition("MCP startup failed: ")[2]
    return f"The MCP server {name} did not start, so its tools are missing. {short(said)}".rstrip()


def of_settings(params: Json) -> str:
    """A warning about the person's settings, or about what is no longer to be used in them."""
    said = short(" ".join(str(params.get(key) or "") for key in ("summary", "details", "message")))
    # A copy of it comes with the program.
    return "" if "could not find bubblewrap" in said else f"{NAME} says: {said}" if said else ""


def short(said: str) -> str:
    """On one line, and not too long."""
    line = " ".join(said.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
