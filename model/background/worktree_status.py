"""Reads a worktree's git status and records what has changed.

A branch switched by hand is followed; a directory removed by hand is `missing` until it is back.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from model.domain.events.base import Event
from model.domain.events.worktrees import GitStatusUpdated, WorktreeStatusUpdated, WorktreeUpdated
from model.domain.projects import Project
from model.domain.worktrees import Worktree
from model.git import status
from model.git.branch_tips import BranchTips, read_branch_tips
from model.state import State
from model.store.store import Store

_REPORT_INTERVAL: Final = 300
"""Seconds after which unchanged counts are published again, with the time of the last check."""

TipsReader = Callable[[Path], Awaitable[BranchTips]]
"""Returns a repository's branches, read or cached."""


async def refresh(
    store: Store,
    worktree_id: str,
    tips: TipsReader = read_branch_tips,
    *,
    report_unchanged: bool = False,
) -> status.GitStatus | None:
    """Read a worktree's git status and record what changed, or all of it if `report_unchanged`.

    Returns:
        The status; `None` if the worktree cannot be read, or is being changed.

    Raises:
        SpinneyError: git does not respond, or fails; the last counts stay.
    """
    worktree = store.state.worktrees.get(worktree_id)
    project = store.state.projects.get(worktree.project_id) if worktree else None
    if worktree is None or project is None or _is_off_limits(worktree):
        return None
    path = Path(worktree.path)
    if not await asyncio.to_thread(path.is_dir):
        await _update_facts(store, worktree, status="missing")
        return None
    git_status = await _read_status(path, worktree, project, tips)
    branch = git_status.branch or worktree.branch
    detached_at = None if git_status.branch else git_status.commit
    await _update_facts(store, worktree, status="ready", branch=branch, detached_at=detached_at)
    current = store.state.worktrees.get(worktree_id)
    if current is None or _is_off_limits(current):
        return None  # git may have seen an intermediate state
    if current.path != worktree.path:
        return None
    _record(store, current, git_status, report_unchanged=report_unchanged)
    return git_status


async def _read_status(
    path: Path, worktree: Worktree, project: Project, tips: TipsReader
) -> status.GitStatus:
    base = worktree.base_branch or project.default_branch
    root = Path(project.path)
    # A project whose own folder is missing may still have worktrees that can be read.
    repository_tips = await tips(root if await asyncio.to_thread(root.is_dir) else path)
    return await status.read_worktree_status(path, base, repository_tips)


def _is_off_limits(worktree: Worktree) -> bool:
    """Whether the worktree is being created, removed or renamed, or is archived.

    Its status is then up to that operation.
    """
    is_changing = worktree.status in ("creating", "removing") or worktree.renaming_to is not None
    return is_changing or worktree.archived_at is not None


async def _update_facts(store: Store, checked: Worktree, **facts: str | None) -> None:
    """Save facts that differ, unless the worktree was changed by another operation meanwhile."""
    if all(getattr(checked, name) == value for name, value in facts.items()):
        return

    def make_events(state: State) -> list[Event]:
        current = state.worktrees.get(checked.id)
        if current is None or _is_off_limits(current):
            return []
        if (current.path, current.branch) != (checked.path, checked.branch):
            return []
        corrected = current.model_copy(update=facts)
        return [] if corrected == current else [WorktreeUpdated(worktree=corrected)]

    await store.accept(make_events)


def _record(
    store: Store, worktree: Worktree, git_status: status.GitStatus, *, report_unchanged: bool
) -> None:
    before = (
        worktree.cached_ahead_count,
        worktree.cached_behind_count,
        worktree.cached_uncommitted_added,
        worktree.cached_uncommitted_removed,
        worktree.cached_branch_diff_added,
        worktree.cached_branch_diff_removed,
        worktree.cached_unpushed_count,
        worktree.cached_conflict_count,
    )
    event = GitStatusUpdated(
        worktree_id=worktree.id,
        ahead=git_status.ahead,
        behind=git_status.behind,
        uncommitted_added=git_status.uncommitted_added,
        uncommitted_removed=git_status.uncommitted_removed,
        branch_diff_added=git_status.branch_diff_added,
        branch_diff_removed=git_status.branch_diff_removed,
        unpushed=git_status.unpushed,
        conflicts=git_status.conflicts,
        checked_at=time.time(),
    )
    after = tuple(event.model_dump(exclude={"worktree_id", "checked_at"}).values())
    age = event.checked_at - (worktree.cached_status_at or 0)
    if report_unchanged or before != after or age > _REPORT_INTERVAL:
        store.record(event)
    if report_unchanged:
        store.record(
            WorktreeStatusUpdated(
                worktree_id=worktree.id,
                cached_pr_status=worktree.cached_pr_status,
                cached_check_status=worktree.cached_check_status,
            )
        )
