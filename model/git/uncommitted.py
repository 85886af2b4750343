"""The uncommitted files of a working tree, also those that git is set to leave out."""

import asyncio
import os
import shutil
import tempfile
from pathlib import Path
from typing import Final

from model.base.errors import worktree_directory_missing
from model.base.git_layout import find_git_directories
from model.git.run import git
from model.git.snapshots import plumbing
from model.git.snapshots.scan import list_tracked
from model.git.working_tree import read_working_tree

_TIMEOUT: Final = 60


async def list_uncommitted_files(path: Path) -> list[str]:
    """Return the files that `read_uncommitted` does."""
    _, files = await read_uncommitted(path)
    return files


async def read_uncommitted(path: Path) -> tuple[str | None, list[str]]:
    """Return the branch that is checked out, and staged, changed and untracked files.

    The branch is `None` while detached. What is in submodules is left out.

    A file that is marked as assume-unchanged or skip-worktree is compared like any other. One that
    a sparse checkout left out is not missing.

    Raises:
        SpinneyError: As `model.git.run.git`.
    """
    directories = await asyncio.to_thread(find_git_directories, path)
    if directories is None:
        raise worktree_directory_missing(str(path))
    hidden = b""
    if (await list_tracked(path, directories.git_dir / "index")).flags:
        listed = await git(path, "ls-files", "-v", "--stage", "-z", timeout=_TIMEOUT)
        hidden = await asyncio.to_thread(_find_hidden, path, listed.raw_stdout)
    if not hidden:
        return await _list_files(path, {})
    with tempfile.TemporaryDirectory(prefix="spinney-index-") as folder:
        index = Path(folder) / "index"
        await asyncio.to_thread(shutil.copy2, directories.git_dir / "index", index)
        # An entry that is written once more has no marks.
        await plumbing.run(
            path, "-c", "core.ignoreStat=false", "update-index", "-z", "--index-info",
            index=index, stdin=hidden,
        )  # fmt: skip
        return await _list_files(path, {"GIT_INDEX_FILE": os.fspath(index)})


def _find_hidden(path: Path, listed: bytes) -> bytes:
    """Return the marked entries of `ls-files -v --stage -z`, as `update-index` takes them."""
    found: list[bytes] = []
    for line in listed.split(b"\0"):
        tag, entry = line[:1], line[2:]
        is_skipped = tag in (b"S", b"s")
        if (tag.islower() and not is_skipped) or (
            is_skipped and os.path.lexists(path / os.fsdecode(entry.partition(b"\t")[2]))
        ):
            found.append(entry + b"\0")
    return b"".join(found)


async def _list_files(path: Path, environment: dict[str, str]) -> tuple[str | None, list[str]]:
    tree, _ = await read_working_tree(path, environment=environment)
    nested = (f"{folder}/" for folder in tree.nested)
    return tree.branch, [*tree.changed, *tree.untracked, *nested]
