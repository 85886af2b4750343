"""Worktrees: create, rename, archive, restore and remove them."""

from model.worktrees.announcing import announce
from model.worktrees.archiving import archive, unarchive
from model.worktrees.creation import create, recover
from model.worktrees.lookup import (
    refuse_while_archived,
    refuse_while_running,
    require_project,
    require_worktree,
    worktrees_directory,
)

__all__ = [
    "announce",
    "archive",
    "create",
    "recover",
    "refuse_while_archived",
    "refuse_while_running",
    "require_project",
    "require_worktree",
    "unarchive",
    "worktrees_directory",
]
