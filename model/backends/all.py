"""The registry of backends. A new one needs a package and a row here and in the catalog."""

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
    """Create the backends, by wire name.

    `data` is Spinney's data directory; `demo` adds the demo agent.
    """
    demos: list[Backend] = [DemoBackend(data / "demo")] if demo else []
    opencode = OpenCodeBackend(data / "opencode")
    backends: list[Backend] = [*demos, ClaudeBackend(), CodexBackend(), opencode]
    configured = [AcpBackend(row) for row in catalog.backends if isinstance(row, AgentRow)]
    backends += configured
    return {backend.name: backend for backend in backends}
