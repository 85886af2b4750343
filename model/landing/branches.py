"""The branches of worktrees that may land, or be moved onto another base."""

from dataclasses import dataclass
from pathlib import Path

from model.base.errors import SpinneyError
from model.base.plural import count
from model.base.text import clean_line
from model.domain.worktrees import Worktree
from model.git.merging import find_operation
from model.git.submodules import find_left_behind
from model.git.working_tree import read_working_tree
from model.state import State
from model.worktrees import refuse_while_archived, refuse_while_running
from model.worktrees.lookup import refuse_while_unsettled


@dataclass(frozen=True, slots=True)
class Branch:
    """A worktree's branch, ready to land."""

    worktree: Worktree
    head: str


async def find_branch(state: State, worktree: Worktree, base: str) -> Branch:
    """Return a worktree's branch as it would land in `base`.

    Raises `conflict` with the next step if it is not ready for that.
    """
    refuse_while_archived(worktree)
    refuse_while_unsettled(worktree)
    refuse_while_running(state, worktree)
    path = Path(worktree.path)
    operation = await find_operation(path)
    if operation is not None:
        raise SpinneyError(
            f"'{worktree.name}' has an unfinished {operation}. Finish or abort it first.",
            "conflict",
        )
    tree, _ = await read_working_tree(path)
    if tree.branch is None:
        raise SpinneyError(
            f"No branch is checked out in '{worktree.name}' (detached HEAD). Switch to a "
            "branch first.",
            "conflict",
        )
    if clean_line(tree.branch) == base:
        raise SpinneyError(
            f"'{worktree.name}' has its base branch '{base}' checked out, so there is nothing "
            "to land.",
            "conflict",
        )
    # A merge of the base moves the pins of submodules, not the submodules.
    if changed := tree.count_files() - len(await find_left_behind(path, tree)):
        have = "has" if changed == 1 else "have"
        raise SpinneyError(
            f"{count(changed, 'file')} in '{worktree.name}' {have} uncommitted changes. Commit "
            "or discard them first.",
            "conflict",
        )
    if tree.commit is None:
        raise SpinneyError(f"'{worktree.name}' has no commit yet.", "conflict")
    return Branch(worktree.model_copy(update={"branch": tree.branch}), tree.commit)
