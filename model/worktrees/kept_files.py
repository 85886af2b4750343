"""The pictures, uploads and long outputs of sessions that are kept in a recovery point.

Each is kept as `<folder>/<session or worktree>/<file>`, as it is in the data directory.
"""

import os
import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.paths import Directories, create_private_directory, write_atomically

MAX_BYTES: Final = 100_000_000
"""Bytes of files that are kept; of more, the newest."""
_OWNER: Final = re.compile(r"[0-9A-Za-z_-]{1,64}")
"""The id of a session or worktree, as a folder's name."""


def find_files(
    directories: Directories, session_ids: Collection[str], worktree_ids: Collection[str]
) -> tuple[Mapping[str, Path], int, int]:
    """Return the files to keep by their names, their bytes, and how many are left out; blocks."""
    kept: dict[str, Path] = {}
    total = left_out = 0
    for _, size, name, path in sorted(
        _list_files(_folders(directories, session_ids, worktree_ids)), reverse=True
    ):
        if total + size > MAX_BYTES:
            left_out += 1
        else:
            kept[name] = path
            total += size
    return kept, total, left_out


def write_file(
    directories: Directories,
    name: str,
    content: bytes,
    session_ids: Collection[str],
    worktree_ids: Collection[str],
) -> None:
    """Write a kept file to where it was, unless there is one; blocks.

    The name may be anybody's text: it counts only if it belongs to one of these.
    """
    folders = dict(_folders(directories, session_ids, worktree_ids))
    folder, _, file = name.rpartition("/")
    if folder not in folders or not file or file.startswith(".") or "\0" in file:
        return
    path = folders[folder] / file
    with suppress(SpinneyError, OSError, ValueError):  # The conversation is back without it.
        if not os.path.lexists(path):
            create_private_directory(path.parent.parent)
            create_private_directory(path.parent)
            write_atomically(path, content)


def _folders(
    directories: Directories, session_ids: Collection[str], worktree_ids: Collection[str]
) -> Iterator[tuple[str, Path]]:
    for parent, owners in (
        (directories.pictures, session_ids),
        (directories.outputs, session_ids),
        (directories.contexts, worktree_ids),
    ):
        for owner in owners:
            if _OWNER.fullmatch(owner):
                yield f"{parent.name}/{owner}", parent / owner


def _list_files(folders: Iterator[tuple[str, Path]]) -> Iterator[tuple[float, int, str, Path]]:
    """Yield modification time, size, name and path of each file."""
    for folder_name, folder in folders:
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_file(follow_symlinks=False) and not entry.name.startswith("."):
                    status = entry.stat(follow_symlinks=False)
                    name = f"{folder_name}/{entry.name}"
                    yield status.st_mtime, status.st_size, name, Path(entry.path)
