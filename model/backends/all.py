"""Every backend that Spinney can drive; a new one is a file and a row here and in the catalogue."""

from pathlib import Path

from model.agents.agents_file import AgentRow
from model.agents.catalog import Catalog
from model.backends.acp.backend import AcpBackend
from model.backends.base import Backend
from model.backends.claude.backend import ClaudeBackend
from model.backends.codex.backend import CodexBackend
from model.backends.demo.backend import DemoBackend
from model.backends.opencode.backend import OpenCodeBackend


def all_backends(data: Path, catalog: Catalog, *, demo: bool = False) -> dict[str, Backend]:
    """The backends by wire name; `data` is Spinney's data directory, `demo` adds the demo agent."""
    demos: list[Backend] = [DemoBackend(data / "demo")] if demo else []
    opencode = OpenCodeBackend(data / "opencode")
    backends: list[Backend] = [*demos, ClaudeBackend(), CodexBackend(), opencode]
    own = [AcpBackend(row) for row in catalog.backends if isinstance(row, AgentRow)]
    backends += own
    return {backend.name: backend for backend in backends}
