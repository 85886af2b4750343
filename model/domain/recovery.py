"""Recovery points, as clients see them."""

from typing import Final, Literal

from model.domain.resource import Resource

SnapshotReason = Literal[
    "turn start", "turn end", "undo", "redo", "request",
    "commit", "pull", "merge", "rebase", "abort", "discard", "stash",
    "delete", "archive", "recreate", "restore",
    "delete session", "remove worktree", "remove project",
]  # fmt: skip
"""What a snapshot was made before; `turn end` is the one made after."""

SESSION_REASONS: Final[frozenset[SnapshotReason]] = frozenset(
    {"delete session", "remove worktree", "remove project"}
)
"""What deletes sessions and no files: their recovery points keep nothing but sessions."""


class RecoveryPoint(Resource):
    """What was kept before something was deleted or changed: a worktree's state, or sessions."""

    recovery_id: str
    kind: SnapshotReason
    name: str
    """The name, at that time, of the worktree, or of the deleted session or removed project."""
    branch: str
    """Empty if no branch was checked out."""
    created_at: float
    reason: str
    """What was done, in a few words."""
    size_bytes: int
    """The size of its changed files and conversations."""
    files: int
    """Files that differed from the commit that was checked out."""
    sessions: int
    """Sessions that come back."""
    sessions_only: bool = False
    """Whether it keeps no files: `restore_sessions` brings it back."""
    left_out: int = 0
    """Messages, pictures and long outputs that were too much to keep, and of a deleted worktree
    the repositories inside it and the files that could not be kept; `reason` names them."""
    project_id: str
    """A project that was removed has no such id any more."""
    worktree_id: str
    """Empty for a project."""


FileChange = Literal["added", "modified", "deleted", "ignored"]


class RecoveryFile(Resource):
    """A file of a recovery point that differed from the commit that was checked out."""

    path: str
    status: FileChange
