"""The files of a working tree that are tracked, or new and not ignored."""

from pathlib import Path
from typing import Final

from model.git.run import git

_MAX_BYTES: Final = 64_000_000
"""Bytes of file names; about a million files."""


async def list_files(root: Path) -> list[str]:
    """Return the paths below `root`, each once, in git's order. Raises `SpinneyError`."""
    found = await git(
        root, "ls-files", "-z", "--cached", "--others", "--exclude-standard", max_bytes=_MAX_BYTES
    )
    names = found.fields
    # The last name of truncated output is incomplete; a conflict lists a file three times.
    return list(dict.fromkeys(names[:-1] if found.is_truncated else names))
