"""The one mark that a session, worktree or project has, and the order of their needs.

Marks differ by shape as well as by colour.
"""

from collections.abc import Iterable
from enum import IntEnum
from typing import TYPE_CHECKING

from tui.store.places import shown_sessions
from tui.terminal import plain

if TYPE_CHECKING:
    from model.domain.resources import Session, Worktree
    from model.state import State


class Mark(IntEnum):
    """How much a thing needs a person; the greatest below a row is the row's own."""

    IDLE = 0
    CREATING = 1
    RUNNING = 2
    UNREAD = 3
    FAILED = 4
    NEEDS_YOU = 5

    @property
    def sign(self) -> str:
        """One cell wide everywhere, but for ears: a word."""
        return _WORDS[self] if plain.is_on() else "·…◐●✗?"[self]

    @property
    def role(self) -> str:
        """Names its colour in the style sheet."""
        return self.name.lower().replace("_", "-")


_WORDS = ("idle", "being made", "running", "finished", "failed", "needs you")

MEANINGS = (
    (Mark.NEEDS_YOU, "needs you: a plan, a question or a permission"),
    (Mark.FAILED, "failed"),
    (Mark.UNREAD, "finished, not read yet"),
    (Mark.RUNNING, "running"),
    (Mark.IDLE, "idle"),
)


def mark_of(session: "Session") -> Mark:
    """The session's mark."""
    match session.status:
        case "waiting":
            return Mark.NEEDS_YOU
        case "running":
            return Mark.RUNNING
        case "failed":
            return Mark.FAILED
        case _:
            return Mark.UNREAD if session.unread else Mark.IDLE


def mark_of_worktree(worktree: "Worktree", sessions: Iterable["Session"]) -> Mark:
    """The strongest mark in a worktree."""
    if worktree.status == "creating":
        return Mark.CREATING
    if worktree.status == "missing":
        return Mark.FAILED
    return max(map(mark_of, sessions), default=Mark.IDLE)


def reason(session: "Session") -> str:
    """What a waiting session waits for, in a word."""
    return session.waiting_for or ""


def in_need(state: "State") -> list["Session"]:
    """Sessions that need a person, the longest waiting first, then those finished unread."""
    found = (s for s in shown_sessions(state) if mark_of(s) >= Mark.UNREAD)
    return sorted(found, key=lambda session: (-mark_of(session), session.updated_at))


def counts(state: "State") -> tuple[int, int]:
    """How many sessions need a person, and how many run."""
    marks = [mark_of(s) for s in state.sessions.values() if s.archived_at is None]
    return marks.count(Mark.NEEDS_YOU), marks.count(Mark.RUNNING)


def git_counts(worktree: "Worktree") -> list[str]:
    """`+12`, `−3`, `↑2`, `↓1`, `PR 12 open ✓`: not committed, pushed, pulled; the pull request."""
    if plain.is_on():
        return _git_words(worktree)
    parts = []
    if worktree.cached_uncommitted_added:
        parts.append(f"+{worktree.cached_uncommitted_added}")
    if worktree.cached_uncommitted_removed:
        parts.append(f"−{worktree.cached_uncommitted_removed}")
    if worktree.cached_ahead_count:
        parts.append(f"↑{worktree.cached_ahead_count}")
    if worktree.cached_behind_count:
        parts.append(f"↓{worktree.cached_behind_count}")
    if worktree.pr_number:
        checks = {"success": "✓", "failure": "✗", "error": "✗", "pending": "…"}
        known = checks.get(worktree.cached_check_status or "", "")
        words = (f"PR {worktree.pr_number}", worktree.cached_pr_status, known)
        parts.append(" ".join(word for word in words if word))
    return parts


def pull_request_status(worktree: "Worktree") -> str:
    """Where its pull request stands, in words; empty while that is not known."""
    return {"review": "in review"}.get(
        worktree.cached_pr_status or "", worktree.cached_pr_status or ""
    )


def _git_words(worktree: "Worktree") -> list[str]:
    counted = (
        (worktree.cached_uncommitted_added, "added"),
        (worktree.cached_uncommitted_removed, "removed"),
        (worktree.cached_ahead_count, "ahead"),
        (worktree.cached_behind_count, "behind"),
    )
    parts = [f"{count} {word}" for count, word in counted if count]
    if worktree.pr_number:
        checks = f"checks {known}" if (known := worktree.cached_check_status) else ""
        words = (f"PR {worktree.pr_number}", pull_request_status(worktree), checks)
        parts.append(" ".join(word for word in words if word))
    return parts
