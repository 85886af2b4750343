"""The commits of a worktree's branch: list, compare, amend, fix up."""

from typing import Annotated

from pydantic import Field

from model.api.changes import ChangedFile, FileDiff
from model.api.command import command
from model.api.git import CommitResult
from model.domain.resource import Resource


class Commit(Resource):
    """A commit of a branch."""

    sha: str
    short_sha: str
    subject: str
    body: str
    author: str
    authored_at: float
    is_pushed: bool
    """Whether a branch of a remote contains it."""
    is_in_base: bool
    """Whether the base branch contains it."""
    is_merge: bool


@command
async def list_commits(
    worktree_id: str,
    limit: Annotated[int, Field(ge=1, le=250)] = 50,
    offset: Annotated[int, Field(ge=0)] = 0,
) -> list[Commit]:
    """List the commits of a worktree's branch, newest first, those of its base included."""


@command
async def list_commit_files(worktree_id: str, sha: str) -> list[ChangedFile]:
    """List the files that a commit changed, compared with its first parent."""


@command
async def get_commit_file_diff(worktree_id: str, sha: str, path: str) -> FileDiff:
    """Get the diff of one file of a commit."""


@command
async def amend_commit(
    worktree_id: str,
    message: str | None = None,
    stage_all: bool = False,
    force: bool = False,
    allowed_secrets: list[str] | None = None,
    allow_markers: bool = False,
) -> CommitResult:
    """Add the staged or (`stageAll`) all changes to the last commit, or change its `message`.

    Fails with `conflict` for a commit that was pushed or belongs to the base, unless `force` is
    given. The old commit stays in the reflog.

    Refuses conflicts and what looks like a secret, as `commit_changes` does.
    """


@command
async def fixup_commit(
    worktree_id: str,
    sha: str,
    stage_all: bool = False,
    allowed_secrets: list[str] | None = None,
    allow_markers: bool = False,
) -> CommitResult:
    """Put the staged or (`stageAll`) all changes into an earlier commit that was not pushed.

    If they do not fit there, nothing is changed.

    Refuses conflicts and what looks like a secret, as `commit_changes` does.
    """
