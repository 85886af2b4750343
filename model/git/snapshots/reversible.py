"""Find what can be taken back of the difference between two snapshots.

Left alone is what a snapshot only notes (submodules, repositories inside, large files of Git LFS),
and files that were ignored before: they are in the second snapshot because a `.gitignore` changed.
"""

import asyncio
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from model.base.errors import worktree_directory_missing
from model.base.git_layout import find_git_directories
from model.git.run import git
from model.git.snapshots import files, plumbing
from model.git.snapshots.restore import read_state
from model.git.snapshots.reverse import Change
from model.git.working_tree import Entry

_GITLINK: Final = "160000"
_IGNORE_FILE: Final = ".gitignore"


@dataclass(frozen=True, slots=True)
class ReversibleChange:
    """A change, and what is needed to take it back."""

    files: Change
    modes: dict[str, int]
    """Permissions other than 644 and 755 that files had before it."""
    submodules: frozenset[str] = frozenset()
    """Those that were moved to other commits, where they stay."""


async def read_reversible(root: Path, before: str, after: str) -> ReversibleChange:
    """Compare the trees of two snapshots of a worktree.

    Raises `SpinneyError` as `model.git.run.git`, and if a snapshot is damaged.
    """
    change = await files.diff_trees(root, before, after)
    if not change:
        return ReversibleChange({}, {})
    kept = [await read_state(root, tree) for tree in (before, after)]
    left_alone = {path for state in kept for path in state.left_to_filters}
    left_alone |= {path for path, entries in change.items() if _has_gitlink(*entries)}
    if any(PurePosixPath(path).name == _IGNORE_FILE for path in change):
        added = [path for path, (old, _) in change.items() if old is None]
        left_alone |= await _find_ignored(root, before, added)
    found = {path: entries for path, entries in change.items() if path not in left_alone}
    moved = (path for path, (old, new) in change.items() if _has_gitlink(old) and _has_gitlink(new))
    return ReversibleChange(found, kept[0].modes, frozenset(moved))


def _has_gitlink(*entries: Entry | None) -> bool:
    return any(entry is not None and entry.mode == _GITLINK for entry in entries)


async def _find_ignored(root: Path, tree: str, paths: Collection[str]) -> set[str]:
    """Return those of these untracked paths that were ignored when a snapshot was made."""
    directories = await asyncio.to_thread(find_git_directories, root)
    if directories is None:
        raise worktree_directory_missing(str(root))
    async with _temporary_folder() as folder:
        await _write_ignore_files(root, tree, folder)
        listed = await git(
            root, "check-ignore", "--no-index", "-z", "--stdin", check=False, timeout=120,
            stdin=b"".join(os.fsencode(path) + b"\0" for path in paths),
            environment={"GIT_DIR": str(directories.git_dir), "GIT_WORK_TREE": str(folder)},
        )  # fmt: skip
    return set(listed.fields)


@asynccontextmanager
async def _temporary_folder() -> AsyncIterator[Path]:
    folder = await asyncio.to_thread(tempfile.mkdtemp, prefix="spinney-")
    try:
        yield Path(folder)
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


async def _write_ignore_files(root: Path, tree: str, folder: Path) -> None:
    entries = await files.read_entries(root, tree)
    paths: dict[str, list[str]] = {}
    for tree_path, entry in entries.items():
        path = plumbing.to_file_path(tree_path)
        if path and PurePosixPath(path).name == _IGNORE_FILE and entry.mode.startswith("100"):
            paths.setdefault(entry.object_id, []).append(path)
    async for object_id, content in files.read_blobs(root, paths):
        for path in paths[object_id]:
            await asyncio.to_thread(files.write_file, folder, path, "100644", content)
