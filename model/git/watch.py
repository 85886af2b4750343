"""Watch git's own directories to find the worktrees affected by a commit, checkout or fetch.

Working trees themselves are not watched; hundreds of them would exceed the system's limits.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model.base.git_layout import GitDirectories
from model.base.watching import watch_folders

_STEP_MS: Final = 200
_DEBOUNCE_MS: Final = 2000
"""A rebase changes files continuously; changes are reported at this interval."""
_TIMEOUT_MS: Final = 60_000

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WatchedTree:
    """A working tree and what its counts depend on."""

    key: str
    directories: GitDirectories
    base: str
    """The branch that it is compared with."""


async def watch(
    trees: Sequence[WatchedTree], on_change: Callable[[set[str]], None], started: asyncio.Event
) -> None:
    """Call `on_change` with the keys of the affected trees until canceled.

    `started` is set once no change can be missed any more, or if nothing can be watched.
    """

    async def follow(folders: set[Path], *, recursive: bool) -> None:
        if not folders:
            return
        try:
            async for files in watch_folders(
                folders,
                _is_relevant,
                step_ms=_STEP_MS,
                debounce_ms=_DEBOUNCE_MS,
                timeout_ms=_TIMEOUT_MS,
                recursive=recursive,
            ):
                if files:
                    affected = [t for t in trees if any(is_affected(t, file) for file in files)]
                    on_change({tree.key for tree in affected})
        except OSError as error:  # the system has no watches left, or a folder was removed
            _log.warning("Git's directories are not watched (%s); polling continues.", error)

    try:
        flat, deep = await asyncio.to_thread(_list_folders, trees)
        following = asyncio.gather(follow(flat, recursive=False), follow(deep, recursive=True))
        # Both have set up their watches when they first wait, which is in their first step.
        asyncio.get_running_loop().call_soon(started.set)
        await following
    finally:
        started.set()


def is_affected(tree: WatchedTree, file: Path) -> bool:
    """Whether a change of this file in a git directory may change the tree's counts."""
    own, common = tree.directories.git_dir, tree.directories.common_dir
    if file.parent == own:
        return file.name in ("HEAD", "index")
    if file == common / "packed-refs" or file.is_relative_to(common / "refs" / "remotes"):
        return True
    return file == common / "refs" / "heads" / tree.base


def _is_relevant(path: str) -> bool:
    return not path.endswith(".lock") and "/logs/" not in path


def _list_folders(trees: Sequence[WatchedTree]) -> tuple[set[Path], set[Path]]:
    """Return the folders to watch, first the flat ones, then those watched recursively."""
    commons = {tree.directories.common_dir for tree in trees}
    recursive = {common / name for common in commons for name in ("refs", "worktrees")}
    return (
        {common for common in commons if common.is_dir()},
        {folder for folder in recursive if folder.is_dir()},
    )
