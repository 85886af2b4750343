"""Every backend that Spinney can drive; a new one is a file and a row here and in the catalogue."""

from pathlib import Path

from model.backends.base import Backend
from model.backends.claude import ClaudeBackend
from model.backends.codex import CodexBackend
from model.backends.demo import DemoBackend


def all_backends(data: Path, *, demo: bool = False) -> dict[str, Backend]:
    """The backends by wire name; `data` is Spinney's data directory, `demo` adds the demo agent."""
    demos: list[Backend] = [DemoBackend(data / "demo")] if demo else []
    backends: list[Backend] = [*demos, ClaudeBackend(), CodexBackend()]
    return {backend.name: backend for backend in backends}
