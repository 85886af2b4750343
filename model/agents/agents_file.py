"""A person's own agents: `agents.toml`, a table for each program that speaks the Agent Client
Protocol. `docs/agents.md` tells people what goes into it.

The wire name of an agent is `acp:` and its table's name.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from model.agents.catalog import (
    BackendRow,
    Catalog,
    ModelRow,
    load_overrides,
    model_row,
    read_tables,
)

PREFIX: Final = "acp:"

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_MODES: Final = ("plan", "build", "yolo")
_AGENT_KEYS: Final = ("label", "command", "args", "env", "models", "modes", "mcp_servers")
_SERVER_KEYS: Final = ("command", "args", "env", "url", "headers")


@dataclass(frozen=True, slots=True)
class McpServer:
    """An MCP server that is handed to an agent: a program, or an address."""

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AgentRow(BackendRow):
    """An agent of `agents.toml`; its command is `program`."""

    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    """On top of Spinney's own environment."""
    modes: Mapping[str, str] = field(default_factory=dict)
    """The agent's modes by Spinney's, where the person named them."""
    mcp_servers: tuple[McpServer, ...] = ()


class _WrongError(Exception):
    """What is wrong in a table, in words."""


def load_catalog(models: Path, agents: Path) -> tuple[Catalog, list[str]]:
    """The whole catalogue: what is built in, with `models.toml` and `agents.toml`.

    Also a sentence for each problem. A bad agent costs only that agent.
    """
    catalog, problems = load_overrides(models)
    tables, unread = read_tables(agents, "None of its agents is there.")
    rows: list[AgentRow] = []
    wrong: list[str] = []
    for name, table in (tables or {}).items():
        try:
            rows.append(_agent(name, table))
        except _WrongError as error:
            wrong.append(f"{agents}: [{name}] {error}; it is ignored.")
    whole = replace(catalog, backends=(*catalog.backends, *rows))
    return whole, [*problems, *unread, *wrong]


def _agent(name: str, told: object) -> AgentRow:
    if not _NAME.fullmatch(name):
        raise _WrongError("should be named by letters, digits, dots, dashes and underscores")
    table = _known(told, _AGENT_KEYS, "it")
    modes = _texts(table, "modes")
    if strange := next((mode for mode in modes if mode not in _MODES), None):
        raise _WrongError(f"has a mode {strange}, which is none of {', '.join(_MODES)}")
    return AgentRow(
        name=PREFIX + name,
        label=_text(table, "label", name),
        program=_text(table, "command"),
        models=tuple(_model(*pair) for pair in _table(table, "models").items()),
        args=_words(table, "args"),
        env=_texts(table, "env"),
        modes=modes,
        mcp_servers=tuple(_server(*pair) for pair in _table(table, "mcp_servers").items()),
    )


def _model(name: str, value: object) -> ModelRow:
    row = model_row(name, value)
    if row is None:
        raise _WrongError(f"should give the model {name} its name as text")
    return row


def _server(name: str, told: object) -> McpServer:
    table = _known(told, _SERVER_KEYS, f"the MCP server {name}")
    if ("command" in table) == ("url" in table):
        raise _WrongError(f"should give the MCP server {name} either a command or a url")
    return McpServer(
        name,
        _text(table, "command") if "command" in table else "",
        _words(table, "args"),
        _texts(table, "env"),
        _text(table, "url") if "url" in table else "",
        _texts(table, "headers"),
    )


def _known(told: object, keys: tuple[str, ...], what: str) -> Mapping[str, Any]:
    if not isinstance(told, dict):
        raise _WrongError(f"should give {what} a table")
    if strange := next((key for key in told if key not in keys), None):
        raise _WrongError(f"has {strange}, which is none of {', '.join(keys)}")
    return told


def _text(table: Mapping[str, Any], key: str, default: str | None = None) -> str:
    text = table.get(key, default)
    if text is None:
        raise _WrongError(f'needs {key} = "…"')
    if not isinstance(text, str) or not text.strip():
        raise _WrongError(f"should give {key} as text")
    return text.strip()


def _words(table: Mapping[str, Any], key: str) -> tuple[str, ...]:
    words = table.get(key, [])
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise _WrongError(f'should give {key} as a list of texts, ["…", "…"]')
    return tuple(words)


def _table(table: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = table.get(key, {})
    if not isinstance(found, dict):
        raise _WrongError(f"should give {key} as a table")
    return found


def _texts(table: Mapping[str, Any], key: str) -> Mapping[str, str]:
    found = _table(table, key)
    if not all(isinstance(value, str) for value in found.values()):
        raise _WrongError(f"should give each value of {key} as text")
    return found
