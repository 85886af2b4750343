"""The status icon of a session, worktree or project, and the order of urgency.

Icons differ in shape as well as in color.
"""

from collections.abc import Iterable
from enum import IntEnum
from typing import TYPE_CHECKING

from tui.store.places import list_shown_sessions
from tui.terminal import screen_reader

if TYPE_CHECKING:
    from model.domain.sessions import Session
    from model.domain.worktrees import Worktree
    from model.state import State


class StatusIcon(IntEnum):
    """A status, ordered by urgency; a row of the tree shows the most urgent one below it."""

    IDLE = 0
    CREATING = 1
    RUNNING = 2
    PAUSED = 3
    UNREAD = 4
    FAILED = 5
    NEEDS_YOU = 6

    @property
    def symbol(self) -> str:
        """The icon, one cell wide; in screen-reader mode a word."""
        return _TEXTS[self] if screen_reader.is_enabled() else "·…◐‖●✗?"[self]

    @property
    def role(self) -> str:
        """The name of its color in the style sheet."""
        return self.name.lower().replace("_", "-")


_TEXTS = ("idle", "creating", "running", "paused", "finished", "failed", "needs you")

LEGEND = (
    (StatusIcon.NEEDS_YOU, "needs you: a plan, a question or a permission"),
    (StatusIcon.FAILED, "failed"),
    (StatusIcon.UNREAD, "finished, unread"),
    (StatusIcon.RUNNING, "running"),
    (StatusIcon.PAUSED, "paused: it continues by itself, or when you say so"),
    (StatusIcon.IDLE, "idle"),
)


def session_icon(session: "Session") -> StatusIcon:
    """The status icon of a session."""
    match session.status:
        case "waiting":
            return StatusIcon.NEEDS_YOU
        case "running":
            return StatusIcon.RUNNING
        case "paused":
            return StatusIcon.PAUSED
        case "failed":
            return StatusIcon.FAILED
        case _:
            return StatusIcon.UNREAD if session.unread else StatusIcon.IDLE


def worktree_icon(worktree: "Worktree", sessions: Iterable["Session"]) -> StatusIcon:
    """The status icon of a worktree: its own problem, or the most urgent of its sessions."""
    if worktree.status == "creating":
        return StatusIcon.CREATING
    if worktree.status == "missing":
        return StatusIcon.FAILED
    return max(map(session_icon, sessions), default=StatusIcon.IDLE)


def waiting_reason(session: "Session") -> str:
    """What a waiting session waits for, in one word; empty if it does not wait."""
    return session.waiting_for or ""


def list_needing_attention(state: "State") -> list["Session"]:
    """Sessions that need attention: waiting ones, oldest first, then failed and unread ones."""
    sessions = (s for s in list_shown_sessions(state) if session_icon(s) >= StatusIcon.UNREAD)
    return sorted(sessions, key=lambda session: (-session_icon(session), session.updated_at))


def count_waiting_and_running(state: "State") -> tuple[int, int]:
    """The number of sessions that wait for the user, and of those that run."""
    icons = [session_icon(s) for s in state.sessions.values() if s.archived_at is None]
    return icons.count(StatusIcon.NEEDS_YOU), icons.count(StatusIcon.RUNNING)


def git_summary(worktree: "Worktree") -> list[str]:
    """`+12`, `−3`, `↑2`, `↓1`, `PR 12 open ✓`: uncommitted, ahead, behind, pull request."""
    if screen_reader.is_enabled():
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
