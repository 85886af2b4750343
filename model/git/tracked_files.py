"""The files of a working tree that a person would know: tracked, or new and not ignored."""

from pathlib import Path
from typing import Final

from model.git.run import git

_MOST: Final = 64_000_000
"""Bytes of names; a million files are about as many."""


async def files(root: Path) -> list[str]:
    """The paths below `root`, each once, in git's order. Raises `SpinneyError`."""
    found = await git(
        root, "ls-files", "-z", "--cached", "--others", "--exclude-standard", most=_MOST
    )
    names = found.fields
    # What git was ended in the middle of is no name, and a conflict lists a file three times.
    return list(dict.fromkeys(names[:-1] if found.cut else names))
