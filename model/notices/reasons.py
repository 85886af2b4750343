"""Which notices the state warrants: what a session waits for, how its turn ended, a red check."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from model.domain.notices import NoticeReason
from model.domain.sessions import Session
from model.domain.worktrees import Worktree
from model.state import State

_LIMITS: Final = ("usage_limit", "budget")
"""Pauses that a person may want to end; the others end by themselves within minutes."""


@dataclass(frozen=True, slots=True)
class Cause:
    """A reason for a notice that holds now."""

    reason: NoticeReason
    occasion: str
    """Differs from that of a former cause of the same reason."""
    request_id: str | None = None


def find_session_causes(state: State, session: Session) -> Iterator[Cause]:
    """Yield why a person should look at the session; nothing for archived ones."""
    worktree = state.worktrees.get(session.worktree_id)
    if session.archived_at is not None or worktree is None or worktree.archived_at is not None:
        return
    if session.waiting_for is not None:
        request_id = session.request.id if session.request is not None else None
        yield Cause(session.waiting_for, request_id or "", request_id)
    elif session.pause is not None:
        # What is tried again and paused again is known by then, and so is what others wait for.
        is_new = session.pause.attempts <= 1 or session.pause.until is None
        if session.pause.kind in _LIMITS and is_new and not session.pause.is_joined:
            yield Cause("limit", session.pause.kind)
    elif session.unread and session.last_run is not None:
        turn = str(session.message_count)
        if session.status == "failed":
            yield Cause("failed", turn)
        elif session.status == "idle" and session.last_run.status == "completed":
            yield Cause("finished", turn)


def find_worktree_causes(state: State, worktree: Worktree) -> Iterator[Cause]:
    """Yield why a person should look at the worktree; nothing for archived ones.

    While a session deals with red checks by itself, they are not worth a word.
    """
    if worktree.archived_at is not None or worktree.status != "ready":
        return
    is_red = worktree.cached_check_status in ("failure", "error")
    is_open = worktree.cached_pr_status not in ("merged", "closed")
    if worktree.pr_number is None or not is_red or not is_open:
        return
    if not is_left_to_session(state, worktree):
        yield Cause("check_failed", f"#{worktree.pr_number}")


def is_left_to_session(state: State, worktree: Worktree) -> bool:
    """Whether a session deals with red checks and comments of the pull request by itself."""
    loops = (each.pull_request_loop for each in state.sessions_of(worktree.id))
    return any(loop is not None and not loop.waits for loop in loops)
