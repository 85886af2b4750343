"""The environment variables that describe a worktree to its scripts, shells and agents."""

from typing import Final

from model.domain.projects import Project
from model.domain.worktrees import Worktree

PORT_COUNT: Final = 10
"""Ports in the block of a worktree, which begins with `Worktree.port`."""

_NAMES: Final = ("WORKSPACE_PATH", "BRANCH", "ROOT_PATH", "PORT", "PORT_COUNT")
_PREFIXES: Final = ("SPINNEY_", "JEAN_")
"""Each variable exists with both: scripts written for Jean work unchanged."""
_VARIABLES: Final = frozenset(f"{prefix}{name}" for prefix in _PREFIXES for name in _NAMES)


def build_worktree_variables(worktree: Worktree, project: Project | None) -> dict[str, str]:
    """Return the variables of a worktree: its paths, its branch, and its block of ports."""
    port = worktree.port
    root = None if project is None else project.path
    values = (
        worktree.path,
        worktree.branch,
        root,
        None if port is None else str(port),
        None if port is None else str(PORT_COUNT),
    )
    known = [(name, value) for name, value in zip(_NAMES, values, strict=True) if value is not None]
    return {f"{prefix}{name}": value for prefix in _PREFIXES for name, value in known}


def is_worktree_variable(name: str) -> bool:
    """Whether a variable describes one worktree, so that a shared program must not get it."""
    return name in _VARIABLES
