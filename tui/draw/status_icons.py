"""The status icon of a session, worktree or project, and the order of urgency.

Icons differ in shape as well as in color.
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
    """A status, ordered by urgency; a row of the tree shows the most urgent one below it."""

    IDLE = 0
    CREATING = 1
    RUNNING = 2
    UNREAD = 3
    FAILED = 4
    NEEDS_YOU = 5

    @property
    def sign(self) -> str:
        """The icon, one cell wide; in screen-reader mode a word."""
        return _TEXTS[self] if plain.is_on() else "·…◐●✗?"[self]

    @property
    def role(self) -> str:
        """The name of its color in the style sheet."""
        return self.name.lower().replace("_", "-")


_TEXTS = ("idle", "creating", "running", "finished", "failed", "needs you")

MEANINGS = (
    (Mark.NEEDS_YOU, "needs you: a plan, a question or a permission"),
    (Mark.FAILED, "failed"),
    (Mark.UNREAD, "finished, unread"),
    (Mark.RUNNING, "running"),
    (Mark.IDLE, "idle"),
)


def mark_of(session: "Session") -> Mark:
    """The status icon of a session."""
    match session.status:
        case "waiting":
            return Mark.NEEDS_YOU
        case "running":
            return Mark.RUNNING
        case "failed":
            return Mark.FAILED
        case _:
            return Mark.UNREAD if session.unread else Mark.IDLE


def worktree_icon(worktree: "Worktree", sessions: Iterable["Session"]) -> Mark:
    """The status icon of a worktree: its own problem, or the most urgent of its sessions."""
    if worktree.status == "creating":
        return Mark.CREATING
    if worktree.status == "missing":
        return Mark.FAILED
    return max(map(mark_of, sessions), default=Mark.IDLE)


def waiting_reason(session: "Session") -> str:
    """What a waiting session waits for, in one word; empty if it does not wait."""
    return session.waiting_for or ""


def in_need(state: "State") -> list["Session"]:
    """Sessions that need attention: waiting ones, oldest first, then failed and unread ones."""
    sessions = (s for s in shown_sessions(state) if mark_of(s) >= Mark.UNREAD)
    return sorted(sessions, key=lambda session: (-mark_of(session), session.updated_at))


def counts(state: "State") -> tuple[int, int]:
    """The number of sessions that wait for the user, and of those that run."""
    marks = [mark_of(s) for s in state.sessions.values() if s.archived_at is None]
    return marks.count(Mark.NEEDS_YOU), marks.count(Mark.RUNNING)


def git_summary(worktree: "Worktree") -> list[str]:
    """`+12`, `−3`, `↑2`, `↓1`, `PR 12 open ✓`: uncommitted, ahead, behind, pull request."""
    if plain.is_on():
        return _git_summary_words(worktree)
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
        checks_symbol = checks.get(worktree.cached_check_status or "", "")
        details = (f"PR {worktree.pr_number}", worktree.cached_pr_status, checks_symbol)
        parts.append(" ".join(word for word in details if word))
    return parts


def pull_request_status(worktree: "Worktree") -> str:
    """The status of the worktree's pull request in words; empty while it is unknown."""
    return {"review": "in review"}.get(
        worktree.cached_pr_status or "", worktree.cached_pr_status or ""
    )


def _git_summary_words(worktree: "Worktree") -> list[str]:
    amounts = (
        (worktree.cached_uncommitted_added, "added"),
        (worktree.cached_uncommitted_removed, "removed"),
        (worktree.cached_ahead_count, "ahead"),
        (worktree.cached_behind_count, "behind"),
    )
    parts = [f"{count} {word}" for count, word in amounts if count]
    if worktree.pr_number:
        checks = (
            f"checks {checks_symbol}" if (checks_symbol := worktree.cached_check_status) else ""
        )
        details = (f"PR {worktree.pr_number}", pull_request_status(worktree), checks)
        parts.append(" ".join(word for word in details if word))
    return parts
