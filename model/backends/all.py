"""Every backend that Spinney can drive; a new one is a file and a row here and in the catalogue."""

from pathlib import Path

from model.agents_file import AgentRow
from model.backends.acp import AcpBackend
from model.backends.base import Backend
from model.backends.claude import ClaudeBackend
from model.backends.codex import CodexBackend
from model.backends.demo import DemoBackend
from model.backends.opencode import OpenCodeBackend
from model.catalog import Catalog


def all_backends(data: Path, catalog: Catalog, *, demo: bool = False) -> dict[str, Backend]:
    """The backends by wire name; `data` is Spinney's data directory, `demo` adds the demo agent."""
    demos: list[Backend] = [DemoBackend(data / "demo")] if demo else []
    opencode = OpenCodeBackend(data / "opencode")
    backends: list[Backend] = [*demos, ClaudeBackend(), CodexBackend(), opencode]
    own = [AcpBackend(row) for row in catalog.backends if isinstance(row, AgentRow)]
    backends += own
    return {backend.name: backend for backend in backends}
