"""What worktrees are created from: issues, pull requests, existing worktrees."""

from pydantic import AliasChoices, Field

from model.domain.resources import Resource


class IssueContext(Resource):
    """The issue that a worktree is created for."""

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
    """A worktree of a project's repository that was created outside Spinney."""

    path: str
    branch: str | None
    """Null if no branch is checked out; such a worktree cannot be adopted."""
    ignored: bool = False
    """Whether it is not offered any more."""


class IncludedFiles(Resource):
    """The ignored files of the main checkout that new worktrees get, by `.worktreeinclude`."""

    files: list[str] = Field(default_factory=list)
    """The first of them, as paths in the repository."""
    count: int = 0
    size: int = 0
    """Bytes of all of them."""
    large: list[str] = Field(default_factory=list)
    """The largest ones, each with its size."""
    summary: str = ""
    """A line for people, such as `Copies .env and 2 more`, or why none are copied."""
