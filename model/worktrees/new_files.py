"""Give a new worktree what git leaves out of it: the files of submodules, and included ones.

What it did not get is a sentence in its `copied_files` and never a failure of its creation.
"""

from pathlib import Path

from model.base.errors import SpinneyError
from model.domain.events.worktrees import WorktreeUpdated
from model.domain.worktrees import CopiedFiles
from model.git.submodule_files import fill_submodules
from model.store.store import Store
from model.worktrees.included_files import copy_included


async def add_files(store: Store, worktree_id: str, source: Path, target: Path) -> None:
    """Copy included files from the checkout `source` to a worktree, and fill its submodules.

    Files that are there stay. Canceling waits for the file that is being copied.
    """
    await copy_included(store, worktree_id, source, target)
    await _add_submodules(store, worktree_id, target)


async def _add_submodules(store: Store, worktree_id: str, path: Path) -> None:
    """Fill the submodules of a worktree; its `copied_files` says what is left, and the command."""
    try:
        problem = await fill_submodules(path)
    except SpinneyError as error:
        problem = f"Its submodules were not looked at: {error.message}"
    worktree = store.state.worktrees.get(worktree_id)
    if problem and worktree is not None:
        copied = worktree.copied_files or CopiedFiles()
        problems = list(dict.fromkeys([*copied.problems, problem]))
        noted = copied.model_copy(update={"problems": problems})
        store.record(WorktreeUpdated(worktree=worktree.model_copy(update={"copied_files": noted})))
