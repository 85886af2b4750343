"""Worktrees, and what they are created from: issues, pull requests, existing worktrees."""

from typing import Literal

from pydantic import AliasChoices, Field

from model.domain.resource import Resource


class Label(Resource):
    """A colored label of a worktree."""

    name: str
    color: str
    """Hex color code, `#rrggbb`."""


class CopiedFiles(Resource):
    """The ignored files that a worktree got from the main checkout, by `.worktreeinclude`."""

    count: int = 0
    """How many were copied; while the worktree is `creating`, so far."""
    size: int = 0
    """Their bytes."""
    total: int = 0
    """How many match."""
    problems: list[str] = Field(default=[])
    """Sentences about those that were not copied, and about submodules that have no files."""


class Worktree(Resource):
    """A working directory on a branch of its own, or the project's own directory (`base`)."""

    id: str
    project_id: str
    name: str
    path: str = ""
    """Empty for guests."""
    branch: str
    created_at: float
    session_type: Literal["worktree", "base"] = "worktree"
    order: float = 0
    pr_number: int | None = None
    pr_url: str | None = None
    issue_number: int | None = None
    label: Label | None = None
    archived_at: float | None = None
    last_opened_at: float | None = None
    base_branch: str | None = None
    """The branch it was created from; `None` is the project's default branch."""
    branch_pattern: str | None = Field(default=None, exclude_if=lambda each: each is None)
    """What its branch was named by, with `{slug}` for its name; `None` is the name alone."""
    port: int | None = None
    """The first of its ten ports (`SPINNEY_PORT`), which no other worktree has."""
    started_from: str | None = None
    """The kind and id of what it was created from, such as `tracker_issue/ENG-12`."""
    status: Literal["creating", "ready", "missing", "removing"] = "ready"
    """`missing`: its directory was removed outside Spinney."""
    detached_at: str | None = None
    """The commit checked out instead of a branch (detached HEAD); `branch` is the last branch."""
    renaming_to: str | None = None
    """The new name while a rename is in progress."""
    restored_from: str | None = Field(default=None, exclude_if=lambda point: point is None)
    """The recovery point that it is being restored from, while it is `creating`."""
    copied_files: CopiedFiles | None = Field(default=None, exclude_if=lambda files: files is None)
    """Set if there were ignored files to copy, or a submodule has no files."""
    dismissed_pr: int | None = None
    """The pull request that the user cleared: it is not detected automatically again."""
    comments_noted_at: float | None = None
    """The time of the newest comment of others on its pull request that was noted, 0 if there was
    none."""
    running_scripts: list[Literal["setup", "run", "teardown", "check"]] = Field(default=[])
    """The repository's own scripts that are running in it."""
    adopted: bool = False
    """Created outside Spinney: its folder and its branch are never moved, renamed or deleted."""
    keeps_branch: bool = False
    """Its branch existed before it: it is never renamed or deleted."""
    named_by_user: bool = False
    """The user chose its name: no agent renames it."""
    setup_hold: Literal["running", "failed"] | None = None
    """Why the first message of its sessions is held: `setup` is running, or failed. The
    repository's file may set `"wait_for_setup": false`; `send_queued_messages` sends it anyway."""
    archive_when_idle: bool = False
    """Its pull request was merged: it is archived as soon as no session is active in it."""
    cached_pr_status: Literal["draft", "open", "review", "merged", "closed"] | None = None
    cached_pr_head: str | None = None
    """The commit that its pull request brought in when it was merged. Later ones it did not."""
    cached_check_status: Literal["success", "failure", "pending", "error"] | None = None
    cached_behind_count: int | None = None
    cached_ahead_count: int | None = None
    cached_uncommitted_added: int | None = None
    cached_uncommitted_removed: int | None = None
    cached_branch_diff_added: int | None = None
    cached_branch_diff_removed: int | None = None
    cached_unpushed_count: int | None = None
    cached_conflict_count: int | None = None
    """Files with unresolved conflicts."""
    conflicts_with: list[str] = Field(default=[])
    """The ids of the worktrees that changed the same places; found again after each start."""
    conflicts_with_base: bool = False
    """Whether its base branch changed the same places."""
    cached_status_at: float | None = None


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
