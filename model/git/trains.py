"""What a train of branches needs of git: a worktree to check commits in, and a ref."""

import asyncio
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.git.run import git
from model.git.snapshots.own_refs import OWN_REFS, delete_ref, set_ref
from model.git.submodule_files import fill_submodules
from model.git.three_way import (
    NO_HOOKS,
    TIMEOUT,
    add_detached_worktree,
    remove_detached_worktree,
)

REFS: Final = OWN_REFS + "trains/"


class TrainWorktree:
    """A worktree for one commit after the other; ignored files stay, so caches keep their use."""

    def __init__(self, root: Path, folder: Path) -> None:
        self._root = root
        self.folder = folder
        self.exists = False
        """Whether there is something to remove."""

    async def check_out(self, commit: str) -> str:
        """Make the files those of a commit; return what `fill_submodules` does.

        Raises what git reports, such as a full disk.
        """
        if self.exists:
            await self._move(commit)
        else:
            await self._add(commit)
        return await fill_submodules(self.folder, moves=True)

    async def _add(self, commit: str) -> None:
        self.exists = True  # Whatever a git that is stopped leaves of it.
        try:
            await add_detached_worktree(self._root, self.folder, commit)
        except SpinneyError:
            await self.remove()
            raise

    async def _move(self, commit: str) -> None:
        await git(
            self.folder, *NO_HOOKS, "checkout", "--quiet", "--force", "--detach", commit,
            write=True, timeout=TIMEOUT,
        )  # fmt: skip
        await git(
            self.folder, "clean", "--quiet", "--force", "-d", write=True, check=False,
            timeout=TIMEOUT,
        )  # fmt: skip

    async def remove(self) -> None:
        """Remove the worktree, also one that an earlier process left; does nothing without it."""
        if await asyncio.to_thread(os.path.lexists, self.folder):
            await remove_detached_worktree(self._root, self.folder)
        self.exists = False


async def keep_commit(root: Path, train_id: str, commit: str) -> None:
    """Keep a commit, and with it all before it, from `git gc`."""
    await set_ref(root, REFS + train_id, commit)


async def forget_commit(root: Path, train_id: str) -> None:
    """Leave the commits of a train to `git gc`."""
    with suppress(SpinneyError):
        await delete_ref(root, REFS + train_id)


async def read_heads(root: Path, branches: Sequence[str]) -> dict[str, str]:
    """Return the commits of local branches; those that do not exist are left out."""
    prefix = "refs/heads/"
    listed = await git(
        root, "for-each-ref", "--format=%(refname)%00%(objectname)",
        *(prefix + branch for branch in dict.fromkeys(branches)),
    )  # fmt: skip
    found = dict(line.split("\0") for line in listed.stdout.splitlines())
    return {name.removeprefix(prefix): commit for name, commit in found.items()}
