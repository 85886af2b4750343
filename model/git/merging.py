"""Find and abort an unfinished merge, rebase, cherry-pick or revert."""

import asyncio
import re
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.git_layout import find_git_directories
from model.domain.changes import Operation
from model.git.run import git

# In this order: a stopped rebase also has files of a cherry-pick.
_MARKER_FILES: Final[tuple[tuple[str, Operation], ...]] = (
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase"),
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
)

_NOT_UP_TO_DATE: Final = re.compile(r"^Entry '(.+)' not uptodate", re.MULTILINE)
"""Printed by git (2.39) for a file whose uncommitted changes an abort would overwrite."""


async def find_operation(path: Path) -> Operation | None:
    """Return the unfinished operation in this worktree, if any."""
    return await asyncio.to_thread(_find_operation, path)


async def refuse_while_unfinished(path: Path) -> None:
    """Raise `conflict` while an operation is unfinished in this worktree."""
    if (operation := await find_operation(path)) is not None:
        raise SpinneyError(f"A {operation} is in progress. Continue or abort it first.", "conflict")


async def find_other_side(path: Path) -> str | None:
    """Return the commit that the unfinished operation brings in."""
    operation = await find_operation(path)
    if operation is None:
        return None
    head = f"{operation.upper().replace('-', '_')}_HEAD"
    found = await git(path, "rev-parse", "--verify", "--quiet", head, check=False)
    return found.stdout or None


async def identify_step(path: Path) -> str:
    """Identify what git has stopped at: the operation, its commit and the one it brings in."""
    head = await git(path, "rev-parse", "--verify", "--quiet", "HEAD", check=False)
    return f"{await find_operation(path)} {head.stdout} {await find_other_side(path)}"


async def read_prepared_message(path: Path) -> str:
    """Return git's prepared commit message, such as "Merge branch 'other'", or an empty string.

    The text is not sanitized: callers must escape it before showing it.
    """
    return await asyncio.to_thread(_read_message, path)


async def abort(path: Path) -> Operation:
    """Abort the operation and restore branch and files. Raises `SpinneyError` if there is none."""
    operation = await find_operation(path)
    if operation is None:
        raise SpinneyError("There is no merge or rebase in progress.", "conflict")
    try:
        await git(path, operation, "--abort", write=True, timeout=120)
    except SpinneyError as error:
        if not (changed := _NOT_UP_TO_DATE.findall(error.message)):
            raise
        files = ", ".join(f"'{name}'" for name in dict.fromkeys(changed))
        raise SpinneyError(
            f"The {operation} was not aborted: git would have to overwrite changes made to {files} "
            f"since it stopped. Nothing was changed. Discard those changes, or stage them if they "
            f"may be lost with the {operation}, then abort again.",
            "conflict",
        ) from error
    return operation


def _find_operation(path: Path) -> Operation | None:
    directories = find_git_directories(path)
    if directories is None:
        return None
    return next(
        (name for file, name in _MARKER_FILES if (directories.git_dir / file).exists()), None
    )


def _read_message(path: Path) -> str:
    directories = find_git_directories(path)
    if directories is None:
        return ""
    try:
        text = (directories.git_dir / "MERGE_MSG").read_text(errors="replace")
    except OSError:
        return ""
    return "\n".join(line for line in text.splitlines() if not line.startswith("#")).strip()
