"""Comparisons of any two branches, commits or worktrees of a project.

The files of a worktree become a commit in a folder of their own, as for the conflict radar: nothing
is added to the repository, and the same files make the same commit.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from model.base.errors import SpinneyError
from model.base.git_layout import find_git_directories
from model.base.text import clean_line
from model.git.log import resolve_commit
from model.git.repositories import resolve_base
from model.git.snapshots import radar
from model.git.snapshots.scratch import ScratchObjects
from model.git.working_tree import read_working_tree
from model.store.store import Store
from model.worktrees import require_project


@dataclass(frozen=True, slots=True)
class ComparedSide:
    """What one side of a comparison is."""

    label: str
    commit: str


class OpenedComparison:
    """A repository, and the folder with the commits that only comparisons need."""

    def __init__(self, store: Store, project_id: str, root: Path, scratch: ScratchObjects) -> None:
        self.root = root
        self._store = store
        self._project_id = project_id
        self._scratch = scratch

    @property
    def environment(self) -> Mapping[str, str]:
        """The variables by which git finds the commits of worktrees."""
        return self._scratch.environment

    async def resolve(self, name: str) -> ComparedSide:
        """Return the commit of a branch, a commit, or the files of a worktree by its id.

        Raises `not_found` if there is none.
        """
        worktree = self._store.state.worktrees.get(name)
        if worktree is None or worktree.project_id != self._project_id:
            commits = await resolve_base(self.root, name)
            return ComparedSide(clean_line(name), commits[0])
        path = Path(worktree.path)
        tree, _ = await read_working_tree(path)
        if tree.commit is None:
            raise SpinneyError(
                f"'{worktree.name}' has no commit yet. Commit something there first.", "conflict"
            )
        if not (tree.changed or tree.untracked):
            return ComparedSide(worktree.name, tree.commit)
        files = await radar.read_files(path, tree.commit, self._scratch, tree)
        (commit,) = await radar.make_commits(self.root, [files], self._scratch)
        return ComparedSide(worktree.name, commit)

    async def require_commit(self, commit: str) -> str:
        """Return the id of a commit of a comparison. Raises `not_found` if it is gone."""
        try:
            return await resolve_commit(self.root, commit, self.environment)
        except SpinneyError:
            raise SpinneyError(
                "This comparison is no longer kept. Compare the two again.", "not_found"
            ) from None


class Comparisons:
    """The comparisons of all projects. Belongs to the core's event loop.

    Args:
        store: The store to read projects and worktrees from.
        folder: Where git writes the commits; emptied at the first use of each project.
    """

    def __init__(self, store: Store, folder: Path) -> None:
        self._store = store
        self._folder = folder
        self._scratch: dict[str, ScratchObjects] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    @asynccontextmanager
    async def open(self, project_id: str) -> AsyncIterator[OpenedComparison]:
        """Open a project's repository for a comparison; one at a time. Raises `SpinneyError`."""
        project = require_project(self._store.state, project_id)
        root = Path(project.path)
        directories = await asyncio.to_thread(find_git_directories, root)
        if directories is None:
            raise SpinneyError(f"There is no repository in {project.path}.", "not_found")
        scratch = self._scratch.setdefault(project_id, ScratchObjects(self._folder / project_id))
        async with self._locks.setdefault(project_id, asyncio.Lock()):
            await scratch.prepare(directories.common_dir)
            yield OpenedComparison(self._store, project_id, root, scratch)
