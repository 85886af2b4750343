"""Recovery points: what was kept of worktrees and sessions before they were deleted or changed."""

from typing import Annotated, Final

from pydantic import Field

from model.api.command import command
from model.domain.recovery import RecoveryFile, RecoveryPoint
from model.domain.sessions import Session
from model.domain.worktrees import Worktree

MAX_POINTS: Final = 1000
"""Points that `list_recovery_points` returns at a time, if a `limit` is given."""


@command
async def list_recovery_points(
    project_id: str | None = None,
    limit: Annotated[int, Field(ge=1, le=MAX_POINTS)] | None = None,
    offset: Annotated[int, Field(ge=0)] = 0,
) -> list[RecoveryPoint]:
    """List the recovery points of a project, or of all, newest first.

    With `limit`, 1 to 1,000, at most so many; `offset` counts from the newest point.

    One is made before a worktree is deleted, also by force, and before uncommitted changes may be
    lost by a discard, a pull, an abort, a stash or a restored file. Others keep sessions alone
    (`sessions_only`): of a deleted session, and of a worktree or project that was removed from
    Spinney. They are kept for `recovery_keep_days` days. A damaged one is left out, and named by
    `get_problems`. Fails if there is none, but a repository cannot be read that may have some.
    """


@command
async def list_recovery_files(recovery_id: str) -> list[RecoveryFile]:
    """List the files of a recovery point that differed from the commit: the first 5000."""


@command
async def restore_worktree(recovery_id: str, name: str | None = None) -> Worktree:
    """Create a worktree that equals a recovery point: files, index, a merge in progress.

    The sessions of a deleted worktree come back with it. Name, folder and branch are those it had,
    as far as they are free, or end with a number. `name` is another name for the worktree.
    """


@command
async def restore_sessions(recovery_id: str) -> list[Session]:
    """Bring back the sessions of a recovery point that keeps no files, and return them.

    The worktree or project that was removed with them comes back too. A deleted session needs its
    worktree; a removed project its folder.
    """


@command
async def restore_files(recovery_id: str, paths: list[str]) -> None:
    """Bring files of a recovery point back into the worktree that it was made of.

    What they replace is kept in a recovery point of its own. Fails with `conflict` for files that
    are saved meanwhile: they stay, and all others are restored.
    """


@command
async def delete_recovery_point(recovery_id: str) -> None:
    """Delete a recovery point for good. Git frees its space when it collects garbage."""
