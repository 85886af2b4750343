"""A worktree's life: named, made, renamed, put away, brought back, removed for good."""

from model.worktrees.archiving import archive, unarchive
from model.worktrees.creation import announce, create, recover
from model.worktrees.lookup import (
    base_directory,
    project_in,
    refuse_while_archived,
    refuse_while_running,
    worktree_in,
)

__all__ = [
    "announce",
    "archive",
    "base_directory",
    "create",
    "project_in",
    "recover",
    "refuse_while_archived",
    "refuse_while_running",
    "unarchive",
    "worktree_in",
]
