"""Actions about commits."""

from typing import TYPE_CHECKING

from tui.desk import Desk

if TYPE_CHECKING:
    from model.domain.resources import Worktree


async def log(desk: Desk) -> None:
    """Show the commits of the worktree's branch on a full screen."""
    worktree = _selected_worktree(desk)
    if worktree is None:
        return
    from tui.diff.log_actions import LOG
    from tui.diff.log_screen import Log

    desk.show(Log(desk, worktree, LOG))


def _selected_worktree(desk: Desk) -> "Worktree | None":
    if desk.worktree is None:
        desk.say("Select a worktree first.")
    return desk.worktree
