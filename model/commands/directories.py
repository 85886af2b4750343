"""Implements `model.api.directories`."""

import asyncio
import os
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from model.api import directories as api
from model.base.git_layout import looks_bare
from model.commands.registry import implements

if TYPE_CHECKING:
    from model.runtime.workspace import Workspace

MAX_RESULTS: Final = 100
"""Directories that are listed; typing more of the name finds the others."""
_MAX_SCANNED: Final = 20_000
"""Entries of a directory that are looked at."""


@implements(api.list_directories)
async def list_directories(workspace: "Workspace", path: str) -> list[api.Directory]:
    return await asyncio.to_thread(_complete, path)


def _complete(path: str) -> list[api.Directory]:
    try:
        prefix = os.path.expanduser(path)  # noqa: PTH111 - keeps the trailing slash
    except (RuntimeError, ValueError):
        return []
    if not prefix.startswith("/"):
        return []
    parent, _, name = prefix.rpartition("/")
    try:
        with os.scandir(parent or "/") as entries:
            found = sorted(
                entry.path
                for entry in islice(entries, _MAX_SCANNED)
                if entry.name.startswith(name)
                and (name.startswith(".") or not entry.name.startswith("."))
                and _is_directory(entry)
            )
    except (OSError, ValueError):
        return []
    return [api.Directory(path=each, holds=_kind(Path(each))) for each in found[:MAX_RESULTS]]


def _is_directory(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def _kind(path: Path) -> Literal["repository", "linked worktree", "bare repository", ""]:
    try:
        git = path / ".git"
        if git.is_file():
            return "linked worktree"
        # Sandboxes of agents leave empty directories of this name.
        if (git / "HEAD").exists():
            return "repository"
        return "bare repository" if looks_bare(path) else ""
    except OSError:
        return ""
