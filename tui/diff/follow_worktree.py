"""Keeps the worktree of a full screen up to date, and closes the screen when it is removed."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from model.domain.worktrees import Worktree
    from tui.screens.full import FullScreen
    from tui.store.mirror import Change


def follow_worktree(
    screen: "FullScreen", worktree: "Worktree", change: "Change"
) -> "Worktree | None":
    """The worktree after a change; `None` if it was removed, and then the screen closes."""
    if not change.loaded and worktree.id not in change.worktrees:
        return worktree
    now = change.state.worktrees.get(worktree.id)
    if now is None:
        screen.dismiss(None)
        screen.desk.say("The worktree was removed.")
    return now
