"""Recovery points, as clients see them."""

from typing import Literal

from model.domain.resources import Resource

SnapshotReason = Literal[
    "turn start", "turn end", "undo", "redo", "request",
    "commit", "pull", "merge", "rebase", "abort", "discard", "stash",
    "delete", "archive", "recreate", "restore",
]  # fmt: skip
"""What a snapshot was made before; `turn end` is the one made after."""


class RecoveryPoint(Resource):
    """The state of a worktree before it was deleted or changed."""

    recovery_id: str
    kind: SnapshotReason
    name: str
    """The worktree's name at that time."""
    branch: str
    """Empty if no branch was checked out."""
    created_at: float
    reason: str
    """What was done to the worktree, in a few words."""
    size_bytes: int
    """The size of its changed files and conversations."""
    files: int
    """Files that differed from the commit that was checked out."""
    sessions: int
    """Sessions that come back with the worktree."""
    project_id: str
    worktree_id: str


FileChange = Literal["added", "modified", "deleted", "ignored"]


class RecoveryFile(Resource):
    """A file of a recovery point that differed from the commit that was checked out."""

    path: str
    status: FileChange
