"""Stashes: changes put aside. A repository has one list for all its worktrees."""

from model.api.command import command
from model.api.git import ExchangeResult
from model.domain.resource import Resource


class Stash(Resource):
    """Changes that were put aside."""

    id: str
    message: str
    branch: str
    """The branch that was checked out, of any worktree of the repository."""
    created_at: float
    files: int
    """The number of files in it, new ones included."""


@command
async def list_stashes(worktree_id: str) -> list[Stash]:
    """List the 50 newest stashes of the worktree's repository, newest first."""


@command
async def stash_changes(worktree_id: str, message: str = "") -> Stash:
    """Put all uncommitted changes of a worktree aside, untracked files included."""


@command
async def apply_stash(worktree_id: str, stash_id: str, drop: bool = True) -> ExchangeResult:
    """Bring stashed changes back into a worktree; if they fit, the stash is removed (`drop`).

    If they conflict, `success` is false, the files have the conflicts, and the stash is kept.
    """


@command
async def drop_stash(worktree_id: str, stash_id: str) -> None:
    """Remove a stash from the list; `restore_stash` brings it back."""


@command
async def restore_stash(worktree_id: str, stash_id: str) -> None:
    """Put a dropped stash back on the list, as long as git has not pruned it."""
