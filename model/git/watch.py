"""Watches git's own directories: which worktrees a commit, a checkout or a fetch concerns.

The working trees themselves are not watched; hundreds of them would use up what a machine allows.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model.base.git_layout import GitDirectories

_SETTLED_MS: Final = 200
_BUNDLED_MS: Final = 2000
"""A rebase changes files without a pause; it is told of this often."""
_TICK_MS: Final = 60_000

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WatchedTree:
    """A working tree and what lets its counts change."""

    key: str
    directories: GitDirectories
    base: str
    """The branch that it is compared with."""


async def watch(
    trees: Sequence[WatchedTree], tell: Callable[[set[str]], None], begun: asyncio.Event
) -> None:
    """Call `tell` with the keys of the trees that something changed for, until cancelled.

    `begun` is set once nothing is overlooked any more, or nothing can be watched.
    """

    async def follow(folders: set[Path], *, recursive: bool) -> None:
        from watchfiles import awatch  # costs 30 ms, and nobody waits for it here

        if not folders:
            return
        try:
            async for changes in awatch(
                *folders,
                watch_filter=lambda _, path: _means_something(path),
                debounce=_BUNDLED_MS,
                step=_SETTLED_MS,
                rust_timeout=_TICK_MS,
                recursive=recursive,
                ignore_permission_denied=True,
            ):
                files = [Path(path) for _, path in changes]
                tell({tree.key for tree in trees if any(concerns(tree, file) for file in files)})
        except OSError as error:  # no watches left on this machine, or a folder went away
            _log.warning("Git's directories are not watched (%s); polling goes on.", error)

    try:
        flat, deep = await asyncio.to_thread(_folders, trees)
        following = asyncio.gather(follow(flat, recursive=False), follow(deep, recursive=True))
        # Both have their watches when they wait for the first time, which is their first step.
        asyncio.get_running_loop().call_soon(begun.set)
        await following
    finally:
        begun.set()


def concerns(tree: WatchedTree, file: Path) -> bool:
    """Whether the tree's counts may be others once this file in a git directory has changed."""
    own, common = tree.directories.own, tree.directories.common
    if file.parent == own:
        return file.name in ("HEAD", "index")
    if file == common / "packed-refs" or file.is_relative_to(common / "refs" / "remotes"):
        return True
    return file == common / "refs" / "heads" / tree.base


def _means_something(path: str) -> bool:
    return not path.endswith(".lock") and "/logs/" not in path


def _folders(trees: Sequence[WatchedTree]) -> tuple[set[Path], set[Path]]:
    """What is watched by itself, and what with all that is below."""
    commons = {tree.directories.common for tree in trees}
    below = {common / name for common in commons for name in ("refs", "worktrees")}
    return (
        {common for common in commons if common.is_dir()},
        {folder for folder in below if folder.is_dir()},
    )
