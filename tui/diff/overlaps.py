"""Which files of a worktree would be in conflict with other worktrees, or with the base branch."""

from typing import TYPE_CHECKING

from model.api.conflicts import list_conflicts
from model.base.errors import SpinneyError
from model.base.text import clean_line
from tui.desk import Desk

if TYPE_CHECKING:
    from model.domain.conflicts import WorktreeConflict
    from model.domain.worktrees import Worktree


async def read_conflicts(desk: Desk, worktree: "Worktree") -> dict[str, str]:
    """Return the paths, each with the names of what it would be in conflict with."""
    now = desk.state.worktrees.get(worktree.id, worktree)
    if not now.conflicts_with and not now.conflicts_with_base:
        return {}
    try:
        found = await desk.client.call(list_conflicts, project_id=worktree.project_id)
    except SpinneyError:
        return {}  # The diff itself is of use without it.
    names: dict[str, list[str]] = {}
    for conflict in found:
        if conflict.worktree_id == worktree.id:
            for file in conflict.files:
                names.setdefault(file.path, []).append(partner_name(desk, conflict))
    return {path: ", ".join(others) for path, others in names.items()}


def partner_name(desk: Desk, conflict: "WorktreeConflict") -> str:
    """Return the name of the other worktree, or of the base branch."""
    other = desk.state.worktrees.get(conflict.partner)
    return clean_line(other.name if other is not None else conflict.partner)
