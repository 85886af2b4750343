"""What git says of a worktree, recorded where it differs from what is known.

A branch switched by hand is followed; a directory removed by hand is `missing` until it is back.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from model.domain.events import Event, GitStatusUpdated, WorktreeStatusUpdated, WorktreeUpdated
from model.domain.resources import Project, Worktree
from model.git import status
from model.git.branch_tips import BranchTips, branch_tips
from model.state import State
from model.store.store import Store

_TOLD_AGAIN_AFTER: Final = 300
"""Seconds after which unchanged counts are told again, with the time of the last look."""

Tips = Callable[[Path], Awaitable[BranchTips]]
"""Reads a repository's branches, or knows them."""


async def refresh(
    store: Store, worktree_id: str, tips: Tips = branch_tips, *, tell: bool = False
) -> None:
    """Ask git about a worktree and record what changed, or (`tell`) all of it in any case.

    Raises:
        SpinneyError: git does not answer, or refuses; the last counts stay.
    """
    worktree = store.state.worktrees.get(worktree_id)
    project = store.state.projects.get(worktree.project_id) if worktree else None
    if worktree is None or project is None or _in_other_hands(worktree):
        return
    path = Path(worktree.path)
    if not await asyncio.to_thread(path.is_dir):
        await _correct(store, worktree, status="missing")
        return
    found = await _look(path, worktree, project, tips)
    branch = found.branch or worktree.branch
    detached_at = None if found.branch else found.commit
    await _correct(store, worktree, status="ready", branch=branch, detached_at=detached_at)
    current = store.state.worktrees.get(worktree_id)
    if current is None or _in_other_hands(current):
        return  # what git said may be half of what they do
    if current.path == worktree.path:
        _record(store, current, found, tell=tell)


async def _look(path: Path, worktree: Worktree, project: Project, tips: Tips) -> status.GitStatus:
    base = worktree.base_branch or project.default_branch
    root = Path(project.path)
    # A project whose own folder is gone still has worktrees that can tell.
    known = await tips(root if await asyncio.to_thread(root.is_dir) else path)
    return await status.worktree_status(path, base, known)


def _in_other_hands(worktree: Worktree) -> bool:
    """Whether it is being made, removed or renamed: whoever does that says what is true of it.

    One that is archived is left alone.
    """
    unsettled = worktree.status in ("creating", "removing") or worktree.renaming_to is not None
    return unsettled or worktree.archived_at is not None


async def _correct(store: Store, seen: Worktree, **facts: str | None) -> None:
    """Save facts that differ, unless somebody moved, renamed or removes it since they were seen."""
    if all(getattr(seen, name) == value for name, value in facts.items()):
        return

    def accepted(state: State) -> list[Event]:
        now = state.worktrees.get(seen.id)
        if now is None or _in_other_hands(now):
            return []
        if (now.path, now.branch) != (seen.path, seen.branch):
            return []
        corrected = now.model_copy(update=facts)
        return [] if corrected == now else [WorktreeUpdated(worktree=corrected)]

    await store.accept(accepted)


def _record(store: Store, known: Worktree, found: status.GitStatus, *, tell: bool) -> None:
    before = (
        known.cached_ahead_count,
        known.cached_behind_count,
        known.cached_uncommitted_added,
        known.cached_uncommitted_removed,
        known.cached_branch_diff_added,
        known.cached_branch_diff_removed,
        known.cached_unpushed_count,
        known.cached_conflict_count,
    )
    event = GitStatusUpdated(
        worktree_id=known.id,
        ahead=found.ahead,
        behind=found.behind,
        uncommitted_added=found.uncommitted_added,
        uncommitted_removed=found.uncommitted_removed,
        branch_diff_added=found.branch_diff_added,
        branch_diff_removed=found.branch_diff_removed,
        unpushed=found.unpushed,
        conflicts=found.conflicts,
        checked_at=time.time(),
    )
    after = tuple(event.model_dump(exclude={"worktree_id", "checked_at"}).values())
    age = event.checked_at - (known.cached_status_at or 0)
    if tell or before != after or age > _TOLD_AGAIN_AFTER:
        store.record(event)
    if tell:
        store.record(
            WorktreeStatusUpdated(
                worktree_id=known.id,
                cached_pr_status=known.cached_pr_status,
                cached_check_status=known.cached_check_status,
            )
        )
