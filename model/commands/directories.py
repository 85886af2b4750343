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

MOST: Final = 100
"""Directories that are listed; who seeks another types on."""
_LOOKED_AT: Final = 20_000
"""Entries of one directory that are looked at."""


@implements(api.list_directories)
async def list_directories(workspace: "Workspace", path: str) -> list[api.Directory]:
    return await asyncio.to_thread(_matching, path)


def _matching(path: str) -> list[api.Directory]:
    try:
        given = os.path.expanduser(path)  # noqa: PTH111 - the last slash matters
    except (RuntimeError, ValueError):
        return []
    if not given.startswith("/"):
        return []
    parent, _, beginning = given.rpartition("/")
    try:
        with os.scandir(parent or "/") as entries:
            found = sorted(
                entry.path
                for entry in islice(entries, _LOOKED_AT)
                if entry.name.startswith(beginning)
                and (beginning.startswith(".") or not entry.name.startswith("."))
                and _is_directory(entry)
            )
    except (OSError, ValueError):
        return []
    return [
        api.Directory(path=found_path, holds=_kind(Path(found_path))) for found_path in found[:MOST]
    ]


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
        # Sandboxes of agents leave empty folders of this name.
        if (git / "HEAD").exists():
            return "repository"
        return "bare repository" if looks_bare(path) else ""
    except OSError:
        return ""
