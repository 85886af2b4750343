"""Git's counts of a worktree, asked anew when something may have changed them."""

import asyncio
import time
from pathlib import Path

from model.errors import SpinneyError
from model.events import GitStatusUpdated, WorktreeUpdated
from model.git import status
from model.store import Store


async def refresh(store: Store, worktree_id: str) -> None:
    """Ask git about a worktree and record what it says; a removed directory is `missing`."""
    worktree = store.state.worktrees.get(worktree_id)
    if worktree is None or worktree.status == "creating" or worktree.archived_at is not None:
        return
    path = Path(worktree.path)
    there = "ready" if await asyncio.to_thread(path.is_dir) else "missing"
    if worktree.status != there:
        changed = worktree.model_copy(update={"status": there})
        store.record(WorktreeUpdated(worktree=changed))
    if there == "missing":
        return
    project = store.state.projects[worktree.project_id]
    try:
        found = await status.worktree_status(path, worktree.base_branch or project.default_branch)
    except SpinneyError:
        # Git's reason is told where a person asks for something; here the last counts stay.
        return
    if worktree_id not in store.state.worktrees:
        return
    store.record(
        GitStatusUpdated(
            worktree_id=worktree_id,
            ahead=found.ahead,
            behind=found.behind,
            uncommitted_added=found.uncommitted_added,
            uncommitted_removed=found.uncommitted_removed,
            branch_diff_added=found.branch_diff_added,
            branch_diff_removed=found.branch_diff_removed,
            unpushed=found.unpushed,
            checked_at=time.time(),
        )
    )
