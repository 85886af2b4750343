"""The uncommitted files of a working tree, also those that git is set to leave out."""

import asyncio
import os
import shutil
import tempfile
from pathlib import Path
from typing import Final

from model.base.git_layout import find_git_directories
from model.git.run import git
from model.git.snapshots import plumbing

_TIMEOUT: Final = 60


async def list_uncommitted_files(path: Path) -> list[str]:
    """Return staged, changed and untracked files; what is in submodules is left out.

    A file that is marked as assume-unchanged or skip-worktree is compared like any other. One that
    a sparse checkout left out is not missing.

    Raises:
        SpinneyError: As `model.git.run.git`.
    """
    listed = await git(path, "ls-files", "-v", "--stage", "-z", timeout=_TIMEOUT)
    hidden = await asyncio.to_thread(_find_hidden, path, listed.raw_stdout)
    directories = await asyncio.to_thread(find_git_directories, path) if hidden else None
    if directories is None:
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


async def _list_files(path: Path, environment: dict[str, str]) -> list[str]:
    status = await git(
        path, "status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames",
        "--ignore-submodules=dirty", timeout=_TIMEOUT, environment=environment,
    )  # fmt: skip
    return [field[3:] for field in status.fields]
