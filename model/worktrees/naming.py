"""How a new worktree is called: by a person, by an issue or pull request, or by chance."""

import itertools
from collections.abc import Collection
from pathlib import Path

from pydantic import AliasChoices, Field

from model.base.errors import SpinneyError
from model.domain.resources import Resource
from model.git import refs
from model.git.random_names import random_name
from model.worktrees.lookup import folder_name

NAME_LIMIT = 100
"""Characters of a worktree's name; it is also a folder's."""


class IssueContext(Resource):
    """The issue that a worktree is made for."""

    number: int = Field(gt=0)
    title: str
    body: str | None = None


class PullRequestContext(Resource):
    """The pull request whose head a worktree checks out."""

    number: int = Field(gt=0)
    title: str
    head_ref_name: str = Field(validation_alias=AliasChoices("headRefName", "head_ref_name"))
    base_ref_name: str = Field(validation_alias=AliasChoices("baseRefName", "base_ref_name"))


def check_name(name: str, field: str = "customName") -> str:
    """`name`, if a worktree and its branch may be called so. Raises `SpinneyError`."""
    if not 0 < len(name) <= NAME_LIMIT:
        why = f"must have from 1 to {NAME_LIMIT} characters"
        raise SpinneyError(f"Invalid field '{field}': {why}")
    try:
        return refs.check_branch_name(name)
    except SpinneyError as error:
        raise SpinneyError(f"Invalid field '{field}': {error.message}") from None


def name_for_issue(issue: IssueContext) -> str:
    """`12-fix-the-door`."""
    return f"{issue.number}-{refs.make_branch_name(issue.title) or 'issue'}"


def name_for_pull_request(request: PullRequestContext, taken: Collection[str]) -> str:
    """The head's own name, so that a push reaches it; `pr-12` where that is taken here."""
    head = refs.check_branch_name(request.head_ref_name)
    return head if head not in taken and len(head) <= NAME_LIMIT else f"pr-{request.number}"


def free_name(name: str, taken: Collection[str]) -> str:
    """`name`, or the first of `name-2`, `name-3` … that nothing has."""
    names = (name if number == 1 else f"{name}-{number}" for number in itertools.count(1))
    return next(one for one in names if one not in taken)


def free_random_name(taken: Collection[str], directory: Path) -> str:
    """Two words that no worktree, branch or folder in `directory` has. Looks at the disk."""
    names = set(taken)
    while (directory / folder_name(name := random_name(names))).exists():
        names.add(name)
    return name
