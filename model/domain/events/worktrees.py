"""Events of worktrees: their life cycle, git's status, conflicts and recovery points."""

import json
from typing import ClassVar

from model.domain.conflicts import ConflictSummary
from model.domain.events.base import Event
from model.domain.recovery import RecoveryPoint
from model.domain.worktrees import Worktree


class WorktreeCreating(Event):
    """A worktree is being created in the background."""

    name: ClassVar[str] = "worktree:creating"
    worktree: Worktree

    def body(self, *, numbered: bool) -> str:
        """Five fields of the worktree; in numbered frames also the complete future worktree."""
        shown = ("id", "project_id", "name", "path", "branch")
        fields = {field: getattr(self.worktree, field) for field in shown}
        if numbered:
            fields["worktree"] = self.worktree.model_dump(mode="json")
        return json.dumps(fields)


class WorktreeEvent(Event):
    """Base class of events that carry the complete worktree after the change."""

    worktree: Worktree


class WorktreeCreated(WorktreeEvent):
    """A worktree is ready."""

    name: ClassVar[str] = "worktree:created"


class WorktreeCreateFailed(Event):
    """A worktree could not be created; nothing of it remains."""

    name: ClassVar[str] = "worktree:create_error"
    id: str
    project_id: str
    error: str


class WorktreeArchived(WorktreeEvent):
    """A worktree was archived; its files are kept."""

    name: ClassVar[str] = "worktree:archived"


class WorktreeUnarchived(WorktreeEvent):
    """A worktree was unarchived."""

    name: ClassVar[str] = "worktree:unarchived"


class WorktreeRenamed(WorktreeEvent):
    """A worktree and its branch were renamed."""

    name: ClassVar[str] = "worktree:renamed"


class WorktreeUpdated(WorktreeEvent):
    """Other fields of a worktree changed: label, order, pull request, a missing directory."""

    name: ClassVar[str] = "worktree:updated"


class WorktreeConflictsUpdated(Event):
    """What a worktree would be in conflict with, if it were merged now, has changed."""

    name: ClassVar[str] = "worktree:conflicts_updated"
    worktree_id: str
    conflicts: list[ConflictSummary]


class WorktreeDeleted(Event):
    """A worktree and its sessions were deleted."""

    name: ClassVar[str] = "worktree:deleted"
    worktree_id: str
    project_id: str


class WorktreeStatusUpdated(Event):
    """The cached state of the pull request and its checks was refreshed."""

    name: ClassVar[str] = "worktree:status_updated"
    worktree_id: str
    cached_pr_status: str | None
    cached_check_status: str | None


class GitStatusUpdated(Event):
    """The line and commit counts of a worktree were refreshed."""

    name: ClassVar[str] = "git:status-update"
    numbered_only: ClassVar[frozenset[str]] = frozenset({"conflicts"})
    worktree_id: str
    ahead: int | None
    behind: int | None
    uncommitted_added: int | None
    uncommitted_removed: int | None
    branch_diff_added: int | None
    branch_diff_removed: int | None
    unpushed: int | None
    conflicts: int | None = None
    checked_at: float


class RecoveryCreated(Event):
    """The state of a worktree was kept before it is deleted or changed."""

    name: ClassVar[str] = "recovery:created"
    point: RecoveryPoint


class RecoveryRestored(Event):
    """A worktree, or files of it, came back from a recovery point."""

    name: ClassVar[str] = "recovery:restored"
    recovery_id: str
    worktree_id: str
    paths: list[str]
    """The restored files; empty if the whole worktree was restored."""
