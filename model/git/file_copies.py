"""Let git change a copy of a file instead of the file, which others may save at the same time."""

import asyncio
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model.base.errors import worktree_directory_missing
from model.base.git_layout import find_git_directories

_ATTRIBUTES: Final = ".gitattributes"


@dataclass(frozen=True, slots=True)
class FileCopy:
    """A copy of one file of a worktree, alone in a folder."""

    folder: Path
    file: Path
    """The copy; it need not exist."""
    environment: Mapping[str, str]
    """With it, git takes the folder for the worktree. The index is that of the worktree."""


@asynccontextmanager
async def copying(root: Path, name: str, copy: Callable[[Path], None]) -> AsyncIterator[FileCopy]:
    """Yield a copy of the file `name` of a worktree, and delete it at the end.

    `copy` writes the copy, or nothing if there is no file; called in a thread. Raises
    `SpinneyError` if the worktree is gone, and what `copy` raises.
    """
    directories = await asyncio.to_thread(find_git_directories, root)
    if directories is None:
        raise worktree_directory_missing(str(root))
    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="spinney-"))
    environment = {"GIT_DIR": str(directories.git_dir), "GIT_WORK_TREE": str(folder)}
    try:
        await asyncio.to_thread(_copy_attributes, root, folder, name)
        await asyncio.to_thread(copy, folder / name)
        yield FileCopy(folder, folder / name, environment)
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


def _copy_attributes(root: Path, folder: Path, name: str) -> None:
    """Copy the files of attributes that hold for a file, and make its folder."""
    parents = Path(name).parents
    (folder / parents[0]).mkdir(parents=True, exist_ok=True)
    for parent in parents:
        with suppress(OSError):  # Git reads those of the index then.
            shutil.copyfile(root / parent / _ATTRIBUTES, folder / parent / _ATTRIBUTES)
