"""The landing desk: what each worktree of a project has to land, and what is next.

Everything comes from what is known already: the poller's statuses, the conflict radar, cached
states of pull requests. Git runs only for the check results of worktrees that have changed.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from model.base.errors import SpinneyError
from model.base.text import clean_line
from model.domain.conflicts import ConflictSummary, WorktreeConflict
from model.domain.hosting import CheckState
from model.domain.landing import (
    CheckResult,
    DeskPullRequest,
    LandingDesk,
    LandingRow,
    MergedBy,
    ReviewProgress,
    Train,
    TrainCar,
)
from model.domain.projects import Project
from model.domain.worktrees import Worktree
from model.git.status import GitStatus
from model.landing.checks import Checks
from model.landing.merged_branches import MergedBranches
from model.landing.next_step import ORDER, Facts, choose_step
from model.landing.stacks import Stacks
from model.landing.train_order import suggest_train
from model.state import State
from model.store.store import Store
from model.worktrees import require_project


@dataclass(frozen=True, slots=True)
class DeskSources:
    """Where the desk finds what other parts know."""

    conflicts: Callable[[str], list[WorktreeConflict]]
    """The conflicts of a project's worktrees."""
    review: Callable[[str], Awaitable[ReviewProgress]]
    """The progress of a worktree's review; asked again only when something has changed."""
    pull_request: Callable[[Worktree], DeskPullRequest | None]
    """What is known of a worktree's pull request; must not block."""


Obstacle = tuple[Train, TrainCar, list[str]]
"""The train that stopped at a worktree, its car, and the branches before it."""


@dataclass(frozen=True, slots=True)
class _Side:
    worktree: Worktree
    status: GitStatus
    merged: MergedBy | None
    reverted: bool
    conflicts: list[ConflictSummary]
    pull_request: DeskPullRequest | None


class Desk:
    """Builds the rows of a project's landing desk."""

    def __init__(
        self,
        store: Store,
        checks: Checks,
        merged: MergedBranches,
        stacks: Stacks,
        find_obstacle: Callable[[Worktree], Awaitable[Obstacle | None]],
        sources: DeskSources,
    ) -> None:
        self._store = store
        self._stacks = stacks
        self._find_obstacle = find_obstacle
        self._checks = checks
        self._merged = merged
        self._sources = sources
        self._statuses: dict[str, GitStatus] = {}
        self._reviews: dict[str, tuple[tuple[str, ...], ReviewProgress]] = {}
        """For each worktree: its fingerprint and base commits, and the progress at that time."""
        self._review_changes: dict[str, int] = {}
        """For each worktree: how often a person has decided something."""

    def note_status(self, worktree_id: str, status: GitStatus) -> bool:
        """Take note of a worktree's status; return whether it is another than before."""
        before = self._statuses.get(worktree_id)
        self._statuses[worktree_id] = status
        return before is None or (
            (before.fingerprint, before.bases, before) != (status.fingerprint, status.bases, status)
        )

    def get_status(self, worktree_id: str) -> GitStatus | None:
        """Return a worktree's latest status; `None` until it was read."""
        return self._statuses.get(worktree_id)

    def forget(self, worktree_id: str) -> None:
        """Forget a worktree that was deleted."""
        for known in (self._statuses, self._reviews, self._review_changes):
            known.pop(worktree_id, None)

    def forget_review(self, worktree_id: str) -> None:
        """Ask for the progress of a worktree's review again: a person has decided something."""
        self._reviews.pop(worktree_id, None)
        self._review_changes[worktree_id] = self._review_changes.get(worktree_id, 0) + 1

    async def read(self, project_id: str, can_undo: str | None) -> LandingDesk:
        """Return the desk of a project. Raises `not_found`."""
        project = require_project(self._store.state, project_id)
        sides = self._find_sides(project)
        checks = await asyncio.gather(*(self._read_check(side.worktree.id) for side in sides))
        reviews = await asyncio.gather(*(self._read_review(side) for side in sides))
        bases = [await self._stacks.find_new_base(one.worktree, one.status.bases) for one in sides]
        found = [await self._describe_train_check(side.worktree) for side in sides]
        facts = zip(sides, checks, reviews, bases, found, strict=True)
        rows = [self._make_row(project, *one) for one in facts]
        rows.sort(key=lambda row: ORDER.index(row.next))
        return LandingDesk(
            project_id=project_id, rows=rows, suggested_train=suggest_train(rows), can_undo=can_undo
        )

    def _find_sides(self, project: Project) -> list[_Side]:
        """Return the worktrees that have something to land, or have landed."""
        conflicts: dict[str, list[ConflictSummary]] = {}
        for one in self._sources.conflicts(project.id):
            conflicts.setdefault(one.worktree_id, []).append(
                ConflictSummary(
                    partner=one.partner,
                    with_kind=one.with_kind,
                    files=[file.path for file in one.files],
                )
            )
        sides = []
        for worktree in self._store.state.worktrees_of(project.id):
            status = self._statuses.get(worktree.id)
            if status is None or worktree.session_type == "base" or worktree.status != "ready":
                continue
            merged, reverted = self._merged.get(worktree), self._merged.is_reverted(worktree)
            pull_request = self._sources.pull_request(worktree)
            has_base = bool(status.bases) or status.commit is None
            is_known = merged or reverted or pull_request or not has_base
            if status.ahead or status.changed_files or is_known:
                found = conflicts.get(worktree.id, [])
                sides.append(_Side(worktree, status, merged, reverted, found, pull_request))
        return sides

    async def _read_check(self, worktree_id: str) -> CheckResult:
        try:
            return await self._checks.read_known(worktree_id)
        except SpinneyError as error:
            return CheckResult(worktree_id=worktree_id, status="none", error=error.message)

    async def _read_review(self, side: _Side) -> ReviewProgress:
        worktree_id = side.worktree.id
        version = side.status.fingerprint, *side.status.bases
        known = self._reviews.get(worktree_id)
        if known is not None and known[0] == version:
            return known[1]
        changes = self._review_changes.get(worktree_id, 0)
        try:
            progress = await self._sources.review(worktree_id)
        except SpinneyError:
            return ReviewProgress()
        if changes == self._review_changes.get(worktree_id, 0):
            self._reviews[worktree_id] = version, progress
        return progress

    async def _describe_train_check(self, worktree: Worktree) -> str:
        """Return that the check of a train failed with a worktree; empty if it did not."""
        try:
            found = await self._find_obstacle(worktree)
        except SpinneyError:
            return ""
        if found is None or found[1].check != "failed":
            return ""
        _, car, below = found
        names = ", ".join(f"'{clean_line(branch)}'" for branch in below)
        return f"The check of the train failed{f' on top of {names}' * bool(below)}. {car.error}"

    def _make_row(
        self,
        project: Project,
        side: _Side,
        check: CheckResult,
        review: ReviewProgress,
        new_base: str,
        train_check: str,
    ) -> LandingRow:
        worktree, status = side.worktree, side.status
        base = clean_line(worktree.base_branch or project.default_branch)
        with_base = {
            file for one in side.conflicts if one.with_kind == "branch" for file in one.files
        }
        waiting, running = _find_activity(self._store.state, worktree)
        step, reason = choose_step(
            Facts(
                base=base,
                waiting=waiting,
                running=running,
                ahead=status.ahead,
                behind=status.behind,
                uncommitted=status.changed_files,
                unmerged=status.conflicts,
                conflicts_with_base=len(with_base),
                merged=side.merged,
                reverted=side.reverted,
                new_base=new_base,
                has_base=bool(status.bases) or status.commit is None,
                train_check=train_check,
                check=check,
                review=review,
                pull_request=side.pull_request,
            )
        )
        return LandingRow(
            worktree_id=worktree.id,
            name=worktree.name,
            branch=worktree.branch,
            base=base,
            files=status.files,
            added=status.branch_diff_added + status.uncommitted_added,
            removed=status.branch_diff_removed + status.uncommitted_removed,
            ahead=status.ahead,
            behind=status.behind,
            uncommitted=status.changed_files,
            conflicts=side.conflicts,
            review=review,
            check=check,
            pull_request=side.pull_request,
            merged=side.merged,
            reverted=side.reverted,
            next=step,
            reason=reason,
            new_base=new_base,
        )


def _find_activity(state: State, worktree: Worktree) -> tuple[str, str]:
    """Return the session that waits for a person, and the session or script that runs."""
    sessions = state.sessions_of(worktree.id)
    waiting = next((one.name for one in sessions if one.status == "waiting"), "")
    running = next((f"The session '{one.name}'" for one in sessions if one.status == "running"), "")
    if not running and "setup" in worktree.running_scripts:
        running = "The setup"
    return clean_line(waiting), clean_line(running)


_CHECKS: Final[dict[str, CheckState]] = {
    "success": "passed",
    "failure": "failed",
    "error": "failed",
    "pending": "running",
}


def describe_cached_pull_request(worktree: Worktree) -> DeskPullRequest | None:
    """Return what the worktree itself says of its pull request."""
    if worktree.pr_number is None:
        return None
    status, checks = worktree.cached_pr_status, worktree.cached_check_status
    return DeskPullRequest(
        number=worktree.pr_number,
        url=worktree.pr_url or "",
        phase="open" if status == "review" else status,
        checks=None if checks is None else _CHECKS[checks],
    )
