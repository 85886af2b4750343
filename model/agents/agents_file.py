"""The user's own agents: `agents.toml`, with a table per program that speaks the Agent Client
Protocol. `docs/agents.md` documents its format for users.

The wire name of an agent is `acp:` followed by the name of its table.
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
    """An MCP server that is passed to an agent: a program or a URL."""

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AgentRow(BackendRow):
    """An agent of `agents.toml`; `program` is its command."""

    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    """Added to Spinney's own environment."""
    modes: Mapping[str, str] = field(default_factory=dict)
    """Spinney's mode -> the agent's mode, for those that the user configured."""
    mcp_servers: tuple[McpServer, ...] = ()


class _InvalidTableError(Exception):
    """A problem in a table; the message completes a sentence that begins with its name."""


def load_catalog(models: Path, agents: Path) -> tuple[Catalog, list[str]]:
    """Load the catalog with `models.toml` and `agents.toml`, and a message for each problem.

    An invalid agent is skipped; the others are kept.
    """
    catalog, problems = load_overrides(models)
    tables, unread = read_tables(agents, "None of its agents is available.")
    rows: list[AgentRow] = []
    invalid: list[str] = []
    for name, table in (tables or {}).items():
        try:
            rows.append(_agent(name, table))
        except _InvalidTableError as error:
            invalid.append(f"{agents}: [{name}] {error}; it is ignored.")
    complete = replace(catalog, backends=(*catalog.backends, *rows))
    return complete, [*problems, *unread, *invalid]


def _agent(name: str, value: object) -> AgentRow:
    if not _NAME.fullmatch(name):
        raise _InvalidTableError(
            "may have only letters, digits, dots, dashes and underscores in its name"
        )
    table = _checked_table(value, _AGENT_KEYS, "the agent")
    modes = _text_table(table, "modes")
    if unknown := next((mode for mode in modes if mode not in _MODES), None):
        raise _InvalidTableError(f"has an unknown mode '{unknown}' (known: {', '.join(_MODES)})")
    return AgentRow(
        name=PREFIX + name,
        label=_text(table, "label", name),
        program=_text(table, "command"),
        models=tuple(_model(*pair) for pair in _table(table, "models").items()),
        args=_text_list(table, "args"),
        env=_text_table(table, "env"),
        modes=modes,
        mcp_servers=tuple(_server(*pair) for pair in _table(table, "mcp_servers").items()),
    )


def _model(name: str, value: object) -> ModelRow:
    row = model_row(name, value)
    if row is None:
        raise _InvalidTableError(f"must set the model '{name}' to its name as text")
    return row


def _server(name: str, value: object) -> McpServer:
    table = _checked_table(value, _SERVER_KEYS, f"the MCP server '{name}'")
    if ("command" in table) == ("url" in table):
        raise _InvalidTableError(f"must give the MCP server '{name}' either a command or a url")
    return McpServer(
        name,
        _text(table, "command") if "command" in table else "",
        _text_list(table, "args"),
        _text_table(table, "env"),
        _text(table, "url") if "url" in table else "",
        _text_table(table, "headers"),
    )


def _checked_table(value: object, keys: tuple[str, ...], subject: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise _InvalidTableError(f"must define {subject} as a table")
    if unknown := next((key for key in value if key not in keys), None):
        raise _InvalidTableError(f"has an unknown key '{unknown}' (known: {', '.join(keys)})")
    return value


def _text(table: Mapping[str, Any], key: str, default: str | None = None) -> str:
    text = table.get(key, default)
    if text is None:
        raise _InvalidTableError(f'needs {key} = "…"')
    if not isinstance(text, str) or not text.strip():
        raise _InvalidTableError(f"must give {key} as text")
    return text.strip()


def _text_list(table: Mapping[str, Any], key: str) -> tuple[str, ...]:
    texts = table.get(key, [])
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise _InvalidTableError(f'must give {key} as a list of texts, ["…", "…"]')
    return tuple(texts)


def _table(table: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = table.get(key, {})
    if not isinstance(value, dict):
        raise _InvalidTableError(f"must give {key} as a table")
    return value


def _text_table(table: Mapping[str, Any], key: str) -> Mapping[str, str]:
    texts = _table(table, key)
    if not all(isinstance(value, str) for value in texts.values()):
        raise _InvalidTableError(f"must give each value of {key} as text")
    return texts
