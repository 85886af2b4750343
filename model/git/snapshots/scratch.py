"""A folder for objects that git needs for a while and that never become part of a repository."""

import asyncio
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from model.base.paths import create_private_folders

_MAX_BYTES: Final = 200_000_000
_MEASURED: Final = 50
"""The folder is measured once in so many uses; a comparison adds some dozens of small files."""


class ScratchObjects:
    """Objects beside those of a repository, in a folder of their own.

    Polling compares worktrees again and again. What git writes for that would fill the repository
    until its next `git gc`, and would delay that.

    Args:
        folder: The folder; what it holds is deleted at the first use.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._uses = 0

    async def prepare(self, common_dir: Path) -> bool:
        """Create the folder, and empty it once it is large. Return whether it is empty.

        Raises `OSError`.
        """
        self._environment = {
            "GIT_OBJECT_DIRECTORY": str(self._folder),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": _quote(common_dir / "objects"),
        }
        return await asyncio.to_thread(self._prepare)

    @property
    def environment(self) -> Mapping[str, str]:
        """The variables by which git writes to the folder and reads from the repository too."""
        return self._environment

    async def delete(self) -> None:
        """Delete the folder."""
        await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)

    def _prepare(self) -> bool:
        is_first, is_measured = self._uses == 0, self._uses % _MEASURED == 0
        self._uses += 1
        if is_first or (is_measured and _measure(self._folder) > _MAX_BYTES):
            shutil.rmtree(self._folder, ignore_errors=True)
            create_private_folders(self._folder)
            return True
        return False


def _quote(path: Path) -> str:
    """Return a path as an entry of a list that `:` separates."""
    escaped = str(path).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _measure(folder: Path) -> int:
    total = 0
    for current, _, names in os.walk(folder):
        total += sum((Path(current) / name).lstat().st_size for name in names)
    return total
