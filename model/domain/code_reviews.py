"""Reviews of a worktree's changes: a person's verdicts, an agent's findings."""

from typing import Literal

from pydantic import Field

from model.domain.changes import Side
from model.domain.resource import Resource

Verdict = Literal["accepted", "rejected"]

Severity = Literal["critical", "major", "minor", "note"]


class HunkVerdict(Resource):
    """What a person decided about a hunk."""

    id: str
    path: str
    side: Side
    verdict: Verdict
    reason: str = ""
    text: str
    """The hunk, as it was then."""
    decided_at: float
    discard_id: str | None = None
    """Identifies the revert of a rejected hunk, for `undo_verdict`."""
    is_sent: bool = False
    """Whether the rejection was sent to a session."""


class Finding(Resource):
    """A finding of an agent's review."""

    id: str
    path: str
    first_line: int
    """In the new text, from 1; `last_line` is the last one that belongs to it."""
    last_line: int
    severity: Severity
    explanation: str
    suggestion: str = ""
    """The lines that should replace these, or empty."""
    state: Literal["open", "sent", "dismissed"] = "open"
    is_new: bool = True
    """Whether the review before had no such finding."""
    is_outdated: bool = False
    """Whether its lines have changed since."""


class CodeReview(Resource):
    """The newest review of a worktree by an agent."""

    worktree_id: str
    status: Literal["none", "running", "completed", "failed"]
    findings: list[Finding] = Field(default_factory=list)
    """The most severe first, then by file and line."""
    summary: str = ""
    error: str = ""
    """Why it failed, and the next step, as a sentence."""
    agent: str = ""
    started_at: float | None = None
    ended_at: float | None = None
