"""What is new about a pull request for a session: failed checks and open comments."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from model.domain.hosting import Check, PullRequestDetails, ReviewThread, ReviewThreadComment
from model.domain.sessions import PullRequestLoop

_MAX_HANDLED: Final = 1000
"""Hashes that a session keeps, the newest."""
_SETTLING: Final = 600.0
"""Seconds after the first failed check for which others may still run, so that all failures go to
the session together."""


@dataclass(frozen=True, slots=True)
class News:
    """Failed checks and open comments that a session does not know yet."""

    checks: Sequence[Check] = ()
    threads: Sequence[ReviewThread] = ()
    keys: Sequence[str] = ()
    """The hashes by which they are recognized later."""
    wait: float = 0.0
    """Seconds to wait for checks that still run; the failed ones are left out until then."""


def find_news(details: PullRequestDetails, loop: PullRequestLoop, now: float) -> News:
    """Return what was not handled yet.

    A check counts once for each commit, whatever run it is of. Of a thread its last comment counts,
    unless it is an answer by the account itself. Comments of outsiders are left out: anyone can
    write one, and no person has looked at it yet.
    """
    handled = loop.handled
    failed = [check for check in list_failed(details) if _hash_check(details, check) not in handled]
    wait = _find_wait(details, failed, now)
    checks = [] if wait else failed
    found = [*_list_unresolved(details), *_list_unanswered(details, loop.since)]
    threads = [
        thread
        for thread in map(_without_outsiders, found)
        if thread.comments and _hash_thread(thread) not in handled and not _is_answered(thread)
    ]
    return News(checks, threads, list_keys(details, checks, threads), wait)


def list_failed(details: PullRequestDetails) -> list[Check]:
    """Return the failed checks, those that the base branch requires first."""
    failed = [check for check in details.checks if check.state == "failed"]
    return sorted(failed, key=lambda check: not check.is_required)


def list_open(details: PullRequestDetails) -> list[ReviewThread]:
    """Return the threads that are not resolved, and the comments that wait for an answer."""
    return [*_list_unresolved(details), *details.unanswered_comments]


def list_comments_of_others(details: PullRequestDetails) -> list[ReviewThreadComment]:
    """Return the comments of others in open threads that do not end with an own one, the oldest
    first.
    """
    waiting = (one for one in list_open(details) if not one.comments[-1].is_own)
    found = (comment for one in waiting for comment in one.comments if not comment.is_own)
    return sorted(found, key=lambda comment: comment.created_at or 0.0)


def list_keys(
    details: PullRequestDetails, checks: Sequence[Check], threads: Sequence[ReviewThread]
) -> list[str]:
    """Return the hashes of checks and threads."""
    return [
        *(_hash_check(details, check) for check in checks),
        *(_hash_thread(thread) for thread in threads),
    ]


def add_handled(loop: PullRequestLoop, keys: Sequence[str], *, used: int = 0) -> PullRequestLoop:
    """Return the loop with what was sent now; `used` is how often it sent by itself."""
    handled = [*(key for key in loop.handled if key not in keys), *keys]
    changes = {"handled": handled[-_MAX_HANDLED:], "used": loop.used + used}
    return loop.model_copy(update=changes)


def _list_unresolved(details: PullRequestDetails) -> list[ReviewThread]:
    return [thread for thread in details.unresolved_threads if thread.comments]


def _list_unanswered(details: PullRequestDetails, since: float | None) -> list[ReviewThread]:
    """Return the comments that wait for an answer, and those to which only a later commit could be
    one, but which came while the loop was on: the session may not have seen them before it.
    """
    return [
        one
        for one in details.conversation
        if one.needs_answer
        and (not one.is_outdated or _is_newer(one.comments[-1].created_at, since))
    ]


def _is_newer(moment: float | None, since: float | None) -> bool:
    return moment is not None and since is not None and moment > since


def _find_wait(details: PullRequestDetails, failed: Sequence[Check], now: float) -> float:
    # A commit status may stay pending for ever; a check run has a begin or is queued.
    is_running = any(
        check.state in ("queued", "running") and not check.id.startswith("status:")
        for check in details.checks
    )
    if not failed or not is_running:
        return 0.0
    first = min((check.ended_at or now for check in failed), default=now)
    return max(0.0, first + _SETTLING - now)


def _without_outsiders(thread: ReviewThread) -> ReviewThread:
    kept = [comment for comment in thread.comments if not comment.is_outsider]
    return thread.model_copy(update={"comments": kept})


def _is_answered(thread: ReviewThread) -> bool:
    return len(thread.comments) > 1 and thread.comments[-1].is_own


def _hash_check(details: PullRequestDetails, check: Check) -> str:
    return _hash(f"check {details.head_commit} {check.name}")


def _hash_thread(thread: ReviewThread) -> str:
    comments = _without_outsiders(thread).comments or thread.comments
    return _hash(f"comment {comments[-1].id}")


def _hash(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=6).hexdigest()
