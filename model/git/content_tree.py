"""Read the git tree that a commit of everything in a worktree would have."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError, worktree_directory_missing
from model.base.git_layout import GitDirectories, find_git_directories
from model.git.run import git
from model.git.snapshots.plumbing import index_lines
from model.git.snapshots.scratch import ScratchObjects
from model.git.working_tree import Entry

_TIMEOUT: Final = 120.0
_UNREADABLE: Final = 1
"""Git's exit code when it had to leave a file out."""
_SUBMODULE: Final = b"160000"

_Named = tuple[str, Entry]


async def read_content_tree(path: Path) -> str:
    """Return the id of the tree; neither the worktree nor its repository is changed.

    It has all files that git does not ignore, as git would store them, also those that are marked
    to be taken for unchanged. Two worktrees with the same files have the same tree, and a commit of
    all changes leaves it as it is. A submodule with files other than those of its commit has an
    entry that no commit can have, whatever the settings say of changes inside it.

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
    await _add_all(path, environment)
    hidden, submodules = await _list_special(path, environment)
    if hidden:
        # Entries as new have neither marks nor times.
        await _write_entries(path, hidden, environment)
        await _add_all(path, environment)
    if submodules:
        found = [(name, await _read_submodule(path / name, at)) for name, at in submodules]
        await _write_entries(path, found, environment)
    written = await git(path, "write-tree", environment=environment, timeout=_TIMEOUT)
    return written.stdout


async def _add_all(path: Path, environment: Mapping[str, str]) -> None:
    # A sparse checkout has no say in which of the files that are there are read.
    added = await git(
        path, "-c", "advice.addEmbeddedRepo=false", "-c", "core.sparseCheckout=false",
        "add", "--all", "--ignore-errors", "--", ".",
        check=False, environment=environment, timeout=_TIMEOUT,
    )  # fmt: skip
    if added.returncode > _UNREADABLE:
        raise SpinneyError(added.message, "git_error")


async def _list_special(
    path: Path, environment: Mapping[str, str]
) -> tuple[list[_Named], list[_Named]]:
    """Return the files that are marked to be taken for unchanged, and the submodules."""
    listed = await git(
        path, "ls-files", "-v", "--stage", "-z", environment=environment, timeout=_TIMEOUT
    )
    return await asyncio.to_thread(_parse, path, listed.raw_stdout)


def _parse(path: Path, listed: bytes) -> tuple[list[_Named], list[_Named]]:
    hidden: list[_Named] = []
    submodules: list[_Named] = []
    for line in listed.split(b"\0"):
        head, _, file = line.partition(b"\t")
        if not file or (head[:1] == b"H" and not head.startswith(_SUBMODULE, 2)):
            continue
        tag, mode, object_id, _ = head.decode().split(" ")
        name = os.fsdecode(file)
        # What a sparse checkout leaves out is not on disk, and stays in the tree.
        if tag not in "Ss" or os.path.lexists(path / name):
            if tag in "Ss" or tag.islower():
                hidden.append((name, Entry(mode, object_id)))
            if mode.encode() == _SUBMODULE:
                submodules.append((name, Entry(mode, object_id)))
    return hidden, submodules


async def _write_entries(
    path: Path,
    entries: Collection[tuple[str, Entry | None]],
    environment: Mapping[str, str],
) -> None:
    await git(
        path, "update-index", "-z", "--index-info", stdin=index_lines(entries),
        environment=environment, timeout=_TIMEOUT,
    )  # fmt: skip


async def _read_submodule(path: Path, entry: Entry) -> Entry | None:
    """Return the entry of a submodule: its commit, or its tree if its files are others."""
    if await asyncio.to_thread(find_git_directories, path) is None:
        # It is not checked out. Git looks at no file there.
        return None if await asyncio.to_thread(_has_files, path) else entry
    head = await git(path, "rev-parse", "HEAD", "HEAD^{tree}", check=False)
    commit, _, tree = head.stdout.partition("\n")
    content = await read_content_tree(path)
    return Entry(entry.mode, commit if content == tree else content)


def _has_files(folder: Path) -> bool:
    return folder.is_dir() and any(each.name != ".git" for each in folder.iterdir())
