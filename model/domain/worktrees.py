"""What worktrees are made from: issues, pull requests, and worktrees that are there already."""

from pydantic import AliasChoices, Field

from model.domain.resources import Resource


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


class OutsideWorktree(Resource):
    """A worktree of a project's repository that Spinney has not made and does not show."""

    path: str
    branch: str | None
    """Null where no branch is checked out: such a one cannot be adopted."""
