"""Which comments of a conversation wait for an answer."""

from typing import Any

from model.domain.hosting import ReviewThread, ReviewThreadComment
from model.hosting.conversation import MAX_COMMENTS, arrange_conversation


def said(comment_id: str, at: float | None, *, waits: bool = True, **fields: Any) -> ReviewThread:
    comment = ReviewThreadComment(id=comment_id, author="bob", body="", created_at=at, **fields)
    return ReviewThread(id=comment_id, path="", line=None, comments=[comment], needs_answer=waits)


def list_open(*said: ReviewThread, commit: float | None = None, is_open: bool = True) -> list[str]:
    found = arrange_conversation(said, commit, is_open=is_open)
    return [one.id for one in found if one.needs_answer and not one.is_outdated]


def test_what_others_wrote_waits_until_an_own_comment_or_a_later_commit() -> None:
    first, second = said("first", 1.0), said("second", 3.0)
    assert list_open(second, first) == ["first", "second"]
    assert list_open(first, said("own", 2.0, is_own=True), second) == ["second"]
    assert list_open(first, second, commit=2.0) == ["second"]
    assert list_open(first, second, commit=3.0) == ["second"]
    assert list_open(first, second, commit=4.0) == []
    assert list_open(first, second, is_open=False) == []


def test_reports_of_programs_approvals_and_own_comments_never_wait() -> None:
    app, own = said("app", 1.0, is_bot=True), said("own", 3.0, is_own=True)
    assert list_open(app, said("approval", 2.0, waits=False), own) == []


def test_of_comments_at_the_same_second_or_without_a_time_the_order_counts() -> None:
    own = said("own", 1.0, is_own=True)
    assert list_open(said("a", 1.0), own, said("b", 1.0)) == ["b"]
    assert list_open(said("a", None), said("b", None)) == ["a", "b"]


def test_a_discussion_waits_if_its_last_comment_is_not_an_own_one() -> None:
    start, own, more = said("start", 1.0), said("own", 2.0, is_own=True), said("more", 3.0)
    answered = start.model_copy(update={"comments": [*start.comments, *own.comments]})
    assert list_open(answered) == []
    again = answered.model_copy(update={"comments": [*answered.comments, *more.comments]})
    assert list_open(said("before", 1.5), again) == ["start"]


def test_the_newest_are_kept_the_oldest_of_them_first() -> None:
    comments = [said(str(number), float(number)) for number in reversed(range(MAX_COMMENTS + 5))]
    found = arrange_conversation(comments, None, is_open=True)
    assert (len(found), found[0].id, found[-1].id) == (MAX_COMMENTS, "5", "104")
