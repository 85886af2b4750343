"""Commands about what a worktree changes: listed, read, staged, discarded; a merge given up."""

from model.api.command import command
from model.domain.changes import FileStatus, Operation, Side
from model.domain.resources import Resource


class ChangedFile(Resource):
    """A file that differs. Lines are null for binary files."""

    path: str
    old_path: str | None
    """Where it was, if it was renamed or copied."""
    status: FileStatus
    added: int | None
    removed: int | None
    old_mode: str
    """Git's, six digits; empty for files that git does not track."""
    mode: str
    submodule: bool


class Changes(Resource):
    """What `list_changed_files` gives."""

    files: list[ChangedFile]
    base: str
    """The branch that the worktree is compared with."""
    operation: Operation | None
    """What stopped in the middle, mostly because of a conflict."""
    message: str = ""
    """What git would have the commit say that ends it."""


class FileDiff(Resource):
    """What `get_file_diff` gives."""

    path: str
    text: str
    """Unified; `␍` is a carriage return that only some lines end with."""
    digest: str
    """Names this difference."""
    hunks: list[str]
    """The name of each hunk, in order; empty for one that was cut off."""


class DiscardedFile(Resource):
    """What was discarded, or brought back."""

    id: str
    path: str


class CommitMessage(Resource):
    """What `write_commit_message` gives."""

    message: str


@command
async def list_changed_files(worktree_id: str, side: Side = "unstaged") -> Changes:
    """Files that differ: `unstaged`, `staged`, or on the `branch` since it left its base."""


@command
async def get_file_diff(worktree_id: str, path: str, side: Side = "unstaged") -> FileDiff:
    """The difference of one file, with names by which its hunks can be staged or discarded."""


@command
async def stage_changes(
    worktree_id: str, path: str | None = None, hunk: str | None = None, seen: str | None = None
) -> None:
    """Stage a file, one `hunk` of it, or (without `path`) everything.

    `seen` is the digest of the difference that was looked at; another one is refused.
    """


@command
async def unstage_changes(
    worktree_id: str, path: str | None = None, hunk: str | None = None, seen: str | None = None
) -> None:
    """Take a file, one `hunk` of it, or (without `path`) everything out of the next commit."""


@command
async def discard_changes(
    worktree_id: str, path: str, hunk: str | None = None, seen: str | None = None
) -> DiscardedFile:
    """Take back what is not staged of a file, or one `hunk` of that; `undo_discard` restores it."""


@command
async def undo_discard(worktree_id: str, discard_id: str | None = None) -> DiscardedFile:
    """Bring back, byte for byte, what was discarded: last, or (`discardId`) at that time."""


@command
async def abort_merge(worktree_id: str) -> Operation:
    """Give up the merge, rebase, cherry-pick or revert that stopped; tells which one it was."""


@command
async def write_commit_message(worktree_id: str, stage_all: bool = False) -> CommitMessage:
    """Let the agent of the prompt `commit_message` write what the next commit would say."""
