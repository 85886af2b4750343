"""Read the git tree that a commit of everything in a worktree would have."""

import asyncio
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError, worktree_directory_missing
from model.base.git_layout import GitDirectories, find_git_directories
from model.git.run import git
from model.git.snapshots.scratch import ScratchObjects

_TIMEOUT: Final = 120.0
_UNREADABLE: Final = 1
"""Git's exit code when it had to leave a file out."""


async def read_content_tree(path: Path) -> str:
    """Return the id of the tree; neither the worktree nor its repository is changed.

    It has all files that git does not ignore, as git would store them. Two worktrees with the same
    files have the same tree, and a commit of all changes leaves it as it is.

    Raises `SpinneyError` as `model.git.run.git`.
    """
    directories = await asyncio.to_thread(find_git_directories, path)
    if directories is None:
        raise worktree_directory_missing(str(path))
    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="spinney-"))
    try:
        return await _write_tree(path, directories, folder)
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


async def _write_tree(path: Path, directories: GitDirectories, folder: Path) -> str:
    scratch, index = ScratchObjects(folder / "objects"), folder / "index"
    await scratch.prepare(directories.common_dir)
    with suppress(FileNotFoundError):  # There is none before the first file.
        # The copy has the times of the files, so git reads only those that have changed.
        await asyncio.to_thread(shutil.copyfile, directories.git_dir / "index", index)
    environment = {**scratch.environment, "GIT_INDEX_FILE": str(index)}
    added = await git(
        path, "-c", "advice.addEmbeddedRepo=false", "add", "--all", "--ignore-errors", "--", ".",
        check=False, environment=environment, timeout=_TIMEOUT,
    )  # fmt: skip
    if added.returncode > _UNREADABLE:
        raise SpinneyError(added.message, "git_error")
    written = await git(path, "write-tree", environment=environment, timeout=_TIMEOUT)
    return written.stdout
