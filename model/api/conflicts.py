"""Conflicts between worktrees, before either of them is merged."""

from model.api.command import command
from model.domain.conflicts import WorktreeConflict
from model.domain.resource import Resource


class ConflictMessage(Resource):
    """The result of `write_conflict_message`."""

    message: str


@command
async def list_conflicts(project_id: str) -> list[WorktreeConflict]:
    """List the conflicts that merging a project's worktrees would have, as of the last check.

    Compared is each worktree with every other one and with its base branch, with all that is
    uncommitted in them. A pair of worktrees is listed twice, once as seen from each. A check is
    made as often as the git status is refreshed; `fetch_worktrees_status` begins one now.
    """


@command
async def write_conflict_message(worktree_id: str, partner: str) -> ConflictMessage:
    """Write a message for a session of a worktree about its conflict with `partner`, another
    worktree's id or the base branch, with both versions. Fails with `conflict` if there is none.
    """
