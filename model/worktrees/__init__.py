"""Worktrees: create, rename, archive, restore and remove them."""

from model.worktrees.archiving import archive, unarchive
from model.worktrees.creation import announce, create, recover
from model.worktrees.lookup import (
    project_in,
    refuse_while_archived,
    refuse_while_running,
    worktree_in,
    worktrees_directory,
)

__all__ = [
    "announce",
    "archive",
    "create",
    "project_in",
    "recover",
    "refuse_while_archived",
    "refuse_while_running",
    "unarchive",
    "worktree_in",
    "worktrees_directory",
]
