"""Names of new worktrees: chosen by the user, derived from an issue or pull request, or random."""

import itertools
import os
from collections.abc import Collection
from pathlib import Path

from model.base.errors import SpinneyError
from model.domain.worktrees import IssueContext, PullRequestContext
from model.git import refs
from model.git.random_names import random_name
from model.worktrees.lookup import to_folder_name

NAME_LIMIT = 100
"""Characters of a worktree's name, which is also a folder name."""


def check_name(name: str, field: str = "customName") -> str:
    """Return `name` if it is valid for a worktree and its branch. Raises `SpinneyError`."""
    if not 0 < len(name) <= NAME_LIMIT:
        why = f"must have from 1 to {NAME_LIMIT} characters"
        raise SpinneyError(f"Invalid field '{field}': {why}")
    try:
        return refs.check_branch_name(name)
    except SpinneyError as error:
        raise SpinneyError(f"Invalid field '{field}': {error.message}") from None


def name_for_issue(issue: IssueContext) -> str:
    """Return a name such as `12-fix-the-door`."""
    return f"{issue.number}-{refs.make_branch_name(issue.title) or 'issue'}"


def name_for_pull_request(request: PullRequestContext, taken: Collection[str]) -> str:
    """Return the head's own name, so that pushes update it, or `pr-12` if that name is taken."""
    head = refs.check_branch_name(request.head_ref_name)
    return head if head not in taken and len(head) <= NAME_LIMIT else f"pr-{request.number}"


def make_unique_name(name: str, taken: Collection[str]) -> str:
    """Return `name`, or the first free one of `name-2`, `name-3`, …"""
    names = (name if number == 1 else f"{name}-{number}" for number in itertools.count(1))
    return next(candidate for candidate in names if candidate not in taken)


def make_free_name(name: str, taken: Collection[str], directory: Path) -> str:
    """Return `name`, or the first free one of `name-2`, `name-3`, …

    Free are names that no worktree, branch or folder in `directory` has. Reads the file system.
    """
    names = set(taken)
    while os.path.lexists(directory / to_folder_name(free := make_unique_name(name, names))):
        names.add(free)
    return free


def make_random_name(taken: Collection[str], directory: Path) -> str:
    """Return two random words that no worktree, branch or folder in `directory` is named after.

    Reads the file system.
    """
    names = set(taken)
    while (directory / to_folder_name(name := random_name(names))).exists():
        names.add(name)
    return name
