"""What people write about a pull request on GitHub: review threads, texts of reviews, and comments
of the conversation.
"""

from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.domain.hosting import ReviewThread, ReviewThreadComment
from model.git.secret_gate import SearchedText
from model.hosting.conversation import RESOLVE_NOTE
from model.hosting.fields import (
    Fields,
    get_fields,
    get_line,
    get_nodes,
    get_number,
    get_text,
    get_time,
)
from model.hosting.github.api import PullRequestPlace, query, request

THREAD_FIELDS: Final = """
id path line isResolved isOutdated subjectType
first: comments(first: 1) { totalCount nodes { ...comment } }
comments(last: 20) { nodes { ...comment } }
"""
"""What a query asks of each thread, with `COMMENT_FRAGMENT`."""

REVIEW_FIELDS: Final = """
id state body submittedAt url viewerDidAuthor authorAssociation author { __typename login }
"""
"""What a query asks of each review."""

CONVERSATION_FIELDS: Final = """
conversation: comments(last: 100) { totalCount nodes {
  id body createdAt url viewerDidAuthor authorAssociation isMinimized author { __typename login }
} }
"""
"""What a query asks of the comments on the whole pull request."""

COMMENT_FRAGMENT: Final = """
fragment comment on PullRequestReviewComment {
  id body createdAt url viewerDidAuthor authorAssociation author { __typename login }
}
"""

_MAX_BODY: Final = 8000
"""Characters of a comment."""
CUT: Final = (
    '(.. | objects | select(has("viewerDidAuthor")) | select(.body | type == "string") | .body) '
    f"|= .[:{_MAX_BODY + 1}]"
)
"""The filter by which `gh` cuts comments, so that a few long ones do not exceed its output."""

_REVIEW_PREFIX: Final = "review:"
"""The beginning of the ids of those threads that are the text of a review."""
_COMMENT_PREFIX: Final = "comment:"
"""The beginning of the ids of comments of the conversation."""
_REVIEW_NOTE: Final = (
    "A review that requests changes ends with the next review of the same person. Request it again."
)
_ROLES: Final = ("OWNER", "MEMBER", "COLLABORATOR")
_GHOST: Final = "ghost"
"""The name that GitHub shows for an account that was deleted."""

_REPLY: Final = """
mutation ThreadReply($thread: ID!, $body: String!) {
  addPullRequestReviewThreadReply(
    input: {pullRequestReviewThreadId: $thread, body: $body}
  ) { comment { id } }
}
"""
_RESOLVE: Final = """
mutation ThreadResolve($thread: ID!) {
  resolveReviewThread(input: {threadId: $thread}) { thread { id } }
}
"""


def parse_thread(fields: Fields) -> ReviewThread:
    """Convert a thread: its first comment, and the last ones."""
    last = get_nodes(fields, "comments")
    known = {node.get("id") for node in last}
    nodes = [node for node in get_nodes(fields, "first") if node.get("id") not in known] + last
    is_file = fields.get("subjectType") == "FILE"
    return ReviewThread(
        id=get_text(fields, "id"),
        path=get_line(fields, "path", limit=4096),
        line=None if is_file else get_number(fields, "line"),
        is_resolved=bool(fields.get("isResolved")),
        is_outdated=bool(fields.get("isOutdated")),
        comments=[_parse_comment(node) for node in nodes],
        left_out=max(0, (get_number(fields, "first", "totalCount") or 0) - len(nodes)),
    )


def parse_request_for_changes(fields: Fields) -> ReviewThread | None:
    """Return the text of a review that requests changes as a thread on no place of the code.

    It counts as open until its author approves or the review is dismissed.
    """
    if fields.get("state") != "CHANGES_REQUESTED" or not get_text(fields, "body").strip():
        return None
    return _parse_review(fields).model_copy(update={"resolve_note": _REVIEW_NOTE})


def parse_conversation(fields: Fields) -> list[ReviewThread]:
    """Return the comments on the whole pull request, and the texts of reviews beside them.

    What was hidden at GitHub is left out.
    """
    comments = [
        _make_remark(_COMMENT_PREFIX, node)
        for node in get_nodes(fields, "conversation")
        if not node.get("isMinimized")
    ]
    reviews = [
        _parse_review(node)
        for node in get_nodes(fields, "reviewTexts")
        if node.get("state") != "PENDING" and get_text(node, "body").strip()
    ]
    return [*comments, *reviews]


def _parse_review(fields: Fields) -> ReviewThread:
    found = _make_remark(_REVIEW_PREFIX, {**fields, "createdAt": fields.get("submittedAt")})
    waits = fields.get("state") in ("COMMENTED", "CHANGES_REQUESTED")
    return found.model_copy(update={"needs_answer": waits})


def _make_remark(prefix: str, fields: Fields) -> ReviewThread:
    return ReviewThread(
        id=f"{prefix}{get_text(fields, 'id')}",
        path="",
        line=None,
        resolve_note=RESOLVE_NOTE,
        needs_answer=True,
        comments=[_parse_comment(fields)],
    )


def _parse_comment(fields: Fields) -> ReviewThreadComment:
    body = get_text(fields, "body", limit=_MAX_BODY + 1)
    author, is_own = get_fields(fields, "author"), bool(fields.get("viewerDidAuthor"))
    is_bot = author.get("__typename") == "Bot"
    # An app writes only where an administrator has installed it.
    has_role = get_text(fields, "authorAssociation") in _ROLES or is_bot
    return ReviewThreadComment(
        id=get_text(fields, "id"),
        author=get_line(author, "login") or _GHOST,
        body=body if len(body) <= _MAX_BODY else f"{body[:_MAX_BODY]} […]",
        created_at=get_time(fields, "createdAt"),
        url=get_line(fields, "url", limit=2000),
        is_own=is_own,
        is_outsider=not is_own and not has_role,
        is_bot=is_bot,
    )


async def reply_to_thread(
    path: Path, place: PullRequestPlace, thread_id: str, text: SearchedText
) -> None:
    """Reply to a thread of review comments; to the conversation and to the text of a review, by a
    new comment of the conversation.
    """
    repository = place.repository
    if not thread_id.startswith((_REVIEW_PREFIX, _COMMENT_PREFIX)):
        await query(path, repository.host, _REPLY, thread=thread_id, body=text)
        return
    endpoint = f"{repository.endpoint}/issues/{place.number}/comments"
    await request(path, repository.host, endpoint, method="POST", body={"body": text})


async def resolve_thread(path: Path, place: PullRequestPlace, thread_id: str) -> None:
    """Mark a thread as resolved. Raises `conflict` for the conversation and texts of reviews."""
    if thread_id.startswith(_REVIEW_PREFIX):
        raise SpinneyError(_REVIEW_NOTE, "conflict")
    if thread_id.startswith(_COMMENT_PREFIX):
        raise SpinneyError(RESOLVE_NOTE, "conflict")
    await query(path, place.repository.host, _RESOLVE, thread=thread_id)
