"""The conversation of a pull request: its order, and which of its comments wait for an answer.

A hosting service does not say what was answered there, so a rule does: a comment of another person
waits until this account writes something there, or a later commit that is not a merge is on the
branch. What programs write, and approvals, never wait; nor does anything once the pull request is
merged or closed.
"""

from collections.abc import Sequence
from typing import Final

from model.domain.hosting import ReviewThread, ReviewThreadComment

MAX_COMMENTS: Final = 100
RESOLVE_NOTE: Final = (
    "A comment of the conversation cannot be resolved. It counts as answered when you reply, or "
    "when a later commit is pushed."
)


def arrange_conversation(
    comments: Sequence[ReviewThread], committed_at: float | None, *, is_open: bool
) -> list[ReviewThread]:
    """Return the newest comments, the oldest of them first, with what is known of their answers.

    Args:
        comments: In any order; `needs_answer` says of each whether it is of a kind that may need
            one.
        committed_at: The time of the newest commit that is not a merge, if it is known.
        is_open: Whether the pull request is neither merged nor closed.
    """
    ordered = sorted((one for one in comments if one.comments), key=lambda one: _time(_last(one)))
    written = sorted((each for one in ordered for each in one.comments), key=_time)
    places = {comment.id: place for place, comment in enumerate(written)}
    last_own = max((places[each.id] for each in written if each.is_own), default=-1)

    def mark(one: ReviewThread) -> ReviewThread:
        last = _last(one)
        waits = is_open and one.needs_answer and not last.is_bot and places[last.id] > last_own
        is_outdated = committed_at is not None and _time(last) < committed_at
        return one.model_copy(update={"needs_answer": waits, "is_outdated": is_outdated})

    return [mark(one) for one in ordered[-MAX_COMMENTS:]]


def _last(thread: ReviewThread) -> ReviewThreadComment:
    return thread.comments[-1]


def _time(comment: ReviewThreadComment) -> float:
    return comment.created_at or 0.0
