"""The ignored files of a checkout that new worktrees need as well: what `.worktreeinclude` names.

It has the syntax of `.gitignore`, and git itself reads it. A file counts if it matches, and if git
ignores it and does not track it.
"""

import asyncio
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.git.run import git

INCLUDE_FILE: Final = ".worktreeinclude"
_MAX_PATTERN_BYTES: Final = 64 * 1024
_MAX_LISTED_BYTES: Final = 32 * 1024 * 1024
"""Bytes of names: some hundred thousand files."""
_TIMEOUT: Final = 120
"""Seconds; git looks at every file that it does not track."""


@dataclass(frozen=True, slots=True)
class IncludedNames:
    """The files that match, by their paths in the checkout, as `os` accepts them."""

    files: list[str]
    """Files and links, sorted."""
    repositories: list[str]
    """Folders with a repository of their own, whose files are not listed."""
    is_truncated: bool = False
    """Whether there are more files than can be listed."""


async def list_included(root: Path) -> IncludedNames:
    """Return the files in the checkout `root` that match its `.worktreeinclude`; none without it.

    Raises `SpinneyError` if the file cannot be read, or with git's reason.
    """
    if not await asyncio.to_thread(_check_patterns, root / INCLUDE_FILE):
        return IncludedNames([], [])
    listed = await git(
        root, "ls-files", "--others", "--ignored", "-z", f"--exclude-from={INCLUDE_FILE}",
        timeout=_TIMEOUT, max_bytes=_MAX_LISTED_BYTES,
    )  # fmt: skip
    names = listed.fields
    if listed.is_truncated:
        names = names[:-1]  # It may be cut off.
    ignored = await find_ignored(root, names)
    found = sorted(name for name in names if name in ignored)
    return IncludedNames(
        [name for name in found if not name.endswith("/")],
        [name.rstrip("/") for name in found if name.endswith("/")],
        listed.is_truncated,
    )


async def find_ignored(root: Path, names: Sequence[str]) -> frozenset[str]:
    """Return which of these paths of files that are not tracked git ignores in a checkout."""
    if not names:
        return frozenset()
    # Git takes them for patterns: `:!x` would be magic, and `*` something tracked.
    given = b"".join(b"./" + os.fsencode(name) + b"\0" for name in names)
    found = await git(
        root, "check-ignore", "--no-index", "--stdin", "-z", stdin=given, check=False,
        timeout=_TIMEOUT,
    )  # fmt: skip
    if found.returncode not in (0, 1):  # 1: none of them
        raise SpinneyError(found.message, "git_error")
    return frozenset(name.removeprefix("./") for name in found.fields)


def _check_patterns(path: Path) -> bool:
    """Whether there is a file of patterns. Raises `SpinneyError` if git must not read it."""
    try:
        found = path.lstat()
    except OSError:
        return False
    if not stat.S_ISREG(found.st_mode) or found.st_size > _MAX_PATTERN_BYTES:
        raise SpinneyError(
            f"{path} must be a regular file, not a link, and not larger than "
            f"{_MAX_PATTERN_BYTES // 1024} KiB. No ignored files are copied into new worktrees."
        )
    return True
