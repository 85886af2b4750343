"""Paths that agents name, as they are shown and mentioned."""

from pathlib import Path


def display_path(path: str, worktree: Path) -> str:
    """The path for display: relative if inside the worktree."""
    try:
        return str(Path(path).relative_to(worktree)) if path else ""
    except ValueError:
        return path
