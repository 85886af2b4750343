"""Move the commits of a checked-out branch onto another commit, by git's own rebase."""

from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.git.commit import HOOKS_TIMEOUT
from model.git.conflict_markers import list_unmerged
from model.git.merging import abort, find_operation
from model.git.run import git
from model.git.three_way import NO_HOOKS

_PLAIN: Final = (
    *("-c", "rebase.updateRefs=false"),
    *("-c", "rebase.autoSquash=false"),
    *("-c", "rebase.autoStash=false"),
    *("-c", "rebase.rebaseMerges=false"),
)
"""No other branch moves along, no commit is folded into another, and merges are left out."""


async def find_start(path: Path, base: str, head: str) -> str:
    """Return the commit after which a branch's own commits begin: the last that `base` has, too.

    Raises `conflict` if they have none in common.
    """
    found = await git(path, "merge-base", base, head, check=False)
    if found.returncode != 0:
        raise SpinneyError("The branch and its base have no common history.", "conflict")
    return found.stdout


async def rebase_onto(
    path: Path, onto: str, since: str, *, keeps_conflict: bool = False
) -> list[str]:
    """Copy the commits after `since`, but merges, on top of `onto`; return the files in conflict.

    Everything is as before if there are conflicts, unless they are to be kept: the rebase stays as
    it has stopped then. No hook runs. Raises what git reports; nothing has changed then.
    """
    try:
        result = await git(
            path, *NO_HOOKS, *_PLAIN, "rebase", "--quiet", "--onto", onto, since,
            write=True, check=False, timeout=HOOKS_TIMEOUT,
        )  # fmt: skip
        if await find_operation(path) is None:
            if result.returncode != 0:
                raise SpinneyError(result.message, "git_error")
            return []
        conflicts = await list_unmerged(path)
    except BaseException:
        if await find_operation(path) is not None:
            await abort(path)
        raise
    if not conflicts or not keeps_conflict:
        await abort(path)
    if not conflicts:
        raise SpinneyError(result.message, "git_error")
    return conflicts


async def take_back_rebase(path: Path, after: str, before: str) -> bool:
    """Return a branch that is still at `after` to `before`; whether it is there now.

    Files with uncommitted changes that the two differ in keep it where it is.
    """
    head = await git(path, "rev-parse", "--verify", "HEAD^{commit}")
    if head.stdout == after and await find_operation(path) is None:
        await git(path, *NO_HOOKS, "reset", "--quiet", "--keep", before, write=True, check=False)
        head = await git(path, "rev-parse", "--verify", "HEAD^{commit}")
    return head.stdout == before
