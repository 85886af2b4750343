"""Changes in a worktree: list, compare, stage, discard."""

from model.api.command import command
from model.api.git import CommitResult
from model.domain.changes import ConflictChoice, ConflictSide, FileStatus, Operation, Side
from model.domain.resource import Resource


class ChangedFile(Resource):
    """A changed file. `added` and `removed` count lines and are null for binary files."""

    path: str
    old_path: str | None
    """The path before a rename or copy; null for other changes."""
    status: FileStatus
    added: int | None
    removed: int | None
    old_mode: str
    """Git's file mode, six digits; empty for untracked files."""
    mode: str
    submodule: bool
    deleted_by: ConflictSide | None = None
    """Which side of a conflict deleted the file that the other one changed."""


class Changes(Resource):
    """The result of `list_changed_files`."""

    files: list[ChangedFile]
    base: str
    """The branch that the worktree is compared with."""
    operation: Operation | None
    """The operation that stopped half-way, usually because of a conflict."""
    message: str = ""
    """The commit message that git has prepared for completing the operation."""
    can_undo: bool = False
    """Whether there is a discard, or a choice in a conflict, for `undo_discard`."""


class FileDiff(Resource):
    """The result of `get_file_diff`."""

    path: str
    text: str
    """A unified diff; `␍` is a carriage return that only some lines end with."""
    digest: str
    """Identifies this version of the diff."""
    hunks: list[str]
    """The id of each hunk, in order; empty for a truncated one."""


class DiscardedFile(Resource):
    """Changes that were discarded or restored."""

    id: str
    path: str
    conflicted: bool = False
    """Whether the file has its conflict again."""


class CommitMessage(Resource):
    """The result of `write_commit_message`."""

    message: str


@command
async def list_changed_files(worktree_id: str, side: Side = "unstaged") -> Changes:
    """List changed files: `unstaged`, `staged`, or on the `branch` since it left its base."""


@command
async def get_file_diff(worktree_id: str, path: str, side: Side = "unstaged") -> FileDiff:
    """Get the diff of one file, with ids for staging or discarding its hunks."""


@command
async def stage_changes(
    worktree_id: str, path: str | None = None, hunk: str | None = None, seen: str | None = None
) -> None:
    """Stage a file, one `hunk` of it, or everything (without `path`).

    `seen` is the digest of the diff that the user looked at; the command fails if the diff has
    changed since then.
    """


@command
async def unstage_changes(
    worktree_id: str, path: str | None = None, hunk: str | None = None, seen: str | None = None
) -> None:
    """Unstage a file, one `hunk` of it, or everything (without `path`)."""


@command
async def discard_changes(
    worktree_id: str, path: str, hunk: str | None = None, seen: str | None = None
) -> DiscardedFile:
    """Discard unstaged changes of a file, or one `hunk` of them; `undo_discard` restores them."""


@command
async def undo_discard(worktree_id: str, discard_id: str | None = None) -> DiscardedFile:
    """Restore discarded changes byte for byte: the latest, or those of `discardId`.

    What `resolve_conflict` replaced comes back with its conflict (`conflicted`), while the merge
    or rebase that it belongs to is in progress.
    """


@command
async def abort_merge(worktree_id: str) -> Operation:
    """Abort the merge, rebase, cherry-pick or revert that stopped half-way; returns which one it
    was.
    """


@command
async def resolve_conflict(worktree_id: str, path: str, choice: ConflictChoice) -> DiscardedFile:
    """Resolve the conflict of a file and stage it: by `ours`, `theirs` or the lines of `both`.

    In a rebase, `ours` is the branch that it goes onto. `markers` brings the conflict back;
    `undo_discard` restores the file as it was.
    """


@command
async def continue_operation(
    worktree_id: str, allowed_secrets: list[str] | None = None, allow_markers: bool = False
) -> CommitResult:
    """Complete the merge, rebase, cherry-pick or revert once no file has a conflict.

    Refuses conflict markers and, with `conflict`, what looks like a secret, as `commit_changes`
    does.
    """


@command
async def write_commit_message(worktree_id: str, stage_all: bool = False) -> CommitMessage:
    """Generate a message for the next commit, by the agent of the prompt `commit_message`."""
