"""Reviews of a worktree's changes: verdicts about hunks, an agent's findings, comparisons."""

from model.api.changes import ChangedFile, FileDiff
from model.api.command import command
from model.api.reviews import DEFAULT_LIMIT, DiffRows
from model.domain.changes import Side
from model.domain.code_reviews import CodeReview, Finding, HunkVerdict, Severity, Verdict
from model.domain.landing import ReviewProgress
from model.domain.messages import SessionMessage
from model.domain.resource import Resource


class ViewedFile(Resource):
    """A file that was looked at and whose changes on a side are all among those seen."""

    path: str
    side: Side


class ReviewState(Resource):
    """The result of `get_review`."""

    progress: ReviewProgress
    verdicts: list[HunkVerdict]
    """Newest first."""
    viewed: list[ViewedFile]


class Comparison(Resource):
    """The result of `compare_branches`."""

    left: str
    """The branch or commit, as it is shown; `right` likewise."""
    right: str
    left_commit: str
    right_commit: str
    files: list[ChangedFile]


class ReleaseNotes(Resource):
    """The result of `write_release_notes`."""

    text: str
    since: str
    """The tag or commit after which the notes begin."""


@command
async def get_review(worktree_id: str) -> ReviewState:
    """Get what a person has decided about the changes of a worktree."""


@command
async def decide_hunk(
    worktree_id: str,
    path: str,
    hunk: str,
    verdict: Verdict,
    reason: str = "",
    seen: str | None = None,
    side: Side = "unstaged",
) -> HunkVerdict:
    """Accept a hunk, which stages it, or reject it, which reverts it in the worktree.

    The hunk is one of `get_file_diff`, and `seen` the digest of that. On the side `branch` an
    accepted hunk is committed already, and a rejected one is reverted as an uncommitted change;
    staged hunks are accepted. `undo_verdict` brings a rejected hunk back.
    """


@command
async def undo_verdict(worktree_id: str, verdict_id: str | None = None) -> HunkVerdict:
    """Take a verdict back, by default the newest: the hunk is as it was before."""


@command
async def mark_viewed(worktree_id: str, path: str, side: Side, viewed: bool = True) -> None:
    """Mark a file as viewed; the mark goes when the file's changes do."""


@command
async def send_verdicts(worktree_id: str, session_id: str | None = None) -> SessionMessage:
    """Send the rejected hunks with their reasons to a session as one message: the given one, the
    one that was used last, or a new one.

    Fails with `conflict` if none is left to send.
    """


@command
async def run_code_review(worktree_id: str) -> CodeReview:
    """Let an agent review the changes of a worktree since its base; returns at once.

    The agent, model and provider profile are those of the prompt `code_review`.
    `review:updated` follows.
    """


@command
async def get_code_review(worktree_id: str) -> CodeReview:
    """Get the newest review by an agent."""


@command
async def stop_code_review(worktree_id: str) -> CodeReview:
    """Stop a running review; the findings of the one before stay."""


@command
async def update_finding(
    worktree_id: str,
    finding_id: str,
    explanation: str | None = None,
    suggestion: str | None = None,
    severity: Severity | None = None,
    dismissed: bool | None = None,
) -> Finding:
    """Edit a finding, dismiss it, or bring it back."""


@command
async def send_findings(
    worktree_id: str, finding_ids: list[str], session_id: str | None = None
) -> SessionMessage:
    """Send findings to a session, which is to fix them."""


@command
async def compare_branches(project_id: str, left: str, right: str) -> Comparison:
    """List the files that differ between two branches, commits or worktrees (their ids), with all
    that is uncommitted in a worktree.
    """


@command
async def get_compared_diff(project_id: str, left: str, right: str, path: str) -> FileDiff:
    """Get the diff of one file between two commits of `compare_branches`."""


@command
async def get_compared_rows(
    project_id: str,
    left: str,
    right: str,
    path: str,
    offset: int = 0,
    limit: int = DEFAULT_LIMIT,
) -> DiffRows:
    """Get a page of the diff of one file between two commits of `compare_branches`, as rows.

    `offset` and `limit` are as in `get_diff_rows`.
    """


@command
async def write_release_notes(
    project_id: str, since: str | None = None, until: str | None = None
) -> ReleaseNotes:
    """Write release notes for the commits of a project after a tag (by default the newest one), by
    the agent of the prompt `release_notes`.
    """
