"""A merge, a rebase or the like that stopped in the middle: told, and given up."""

import asyncio
import re
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.git_layout import git_directories
from model.domain.changes import Operation
from model.git.run import git

# In this order: a rebase that stopped has files of a cherry-pick as well.
_SIGNS: Final[tuple[tuple[str, Operation], ...]] = (
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase"),
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
)

_CHANGED_SINCE: Final = re.compile(r"^Entry '(.+)' not uptodate", re.MULTILINE)
"""What git (2.39) says of a file with changes in the working tree that it would lose."""


async def operation_of(path: Path) -> Operation | None:
    """What stopped in the middle in this worktree, if anything."""
    return await asyncio.to_thread(_look, path)


async def prepared_message(path: Path) -> str:
    """What git would have its commit say, such as “Merge branch 'other'”; empty without any.

    In git's own characters: whoever shows it makes it visible.
    """
    return await asyncio.to_thread(_read_message, path)


async def abort(path: Path) -> Operation:
    """Give it up: branch and files are as before it. Raises `SpinneyError` when there is none."""
    operation = await operation_of(path)
    if operation is None:
        raise SpinneyError("No merge and no rebase is under way here.", "conflict")
    try:
        await git(path, operation, "--abort", write=True, timeout=120)
    except SpinneyError as error:
        if not (changed := _CHANGED_SINCE.findall(error.message)):
            raise
        files = ", ".join(f"“{name}”" for name in dict.fromkeys(changed))
        raise SpinneyError(
            f"The {operation} goes on: git would have to overwrite what was changed in {files} "
            f"since it stopped. Nothing was changed. Discard those changes, or stage them if they "
            f"can go with the {operation}; then abort it again.",
            "conflict",
        ) from error
    return operation


def _look(path: Path) -> Operation | None:
    directories = git_directories(path)
    if directories is None:
        return None
    return next((name for sign, name in _SIGNS if (directories.own / sign).exists()), None)


def _read_message(path: Path) -> str:
    directories = git_directories(path)
    if directories is None:
        return ""
    try:
        text = (directories.own / "MERGE_MSG").read_text(errors="replace")
    except OSError:
        return ""
    return "\n".join(line for line in text.splitlines() if not line.startswith("#")).strip()
