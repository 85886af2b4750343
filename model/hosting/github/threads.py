"""The review threads of a pull request on GitHub, and the texts of reviews that request changes."""

from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.domain.hosting import ReviewThread, ReviewThreadComment
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

COMMENT_FRAGMENT: Final = """
fragment comment on PullRequestReviewComment {
  id body createdAt url viewerDidAuthor authorAssociation author { __typename login }
}
"""

_REVIEW_PREFIX: Final = "review:"
"""The beginning of the ids of those threads that are the text of a review."""
_ROLES: Final = ("OWNER", "MEMBER", "COLLABORATOR")
_MAX_BODY: Final = 8000
"""Characters of a comment."""
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


def parse_review(fields: Fields) -> ReviewThread | None:
    """Return the text of a review that requests changes as a thread on no place of the code.

    It counts as open until its author approves or the review is dismissed.
    """
    if fields.get("state") != "CHANGES_REQUESTED" or not get_text(fields, "body").strip():
        return None
    return ReviewThread(
        id=f"{_REVIEW_PREFIX}{get_text(fields, 'id')}",
        path="",
        line=None,
        comments=[_parse_comment({**fields, "createdAt": fields.get("submittedAt")})],
    )


def _parse_comment(fields: Fields) -> ReviewThreadComment:
    body = get_text(fields, "body", limit=_MAX_BODY + 1)
    author, is_own = get_fields(fields, "author"), bool(fields.get("viewerDidAuthor"))
    # An app writes only where an administrator has installed it.
    has_role = get_text(fields, "authorAssociation") in _ROLES or author.get("__typename") == "Bot"
    return ReviewThreadComment(
        id=get_text(fields, "id"),
        author=get_line(author, "login") or _GHOST,
        body=body if len(body) <= _MAX_BODY else f"{body[:_MAX_BODY]} […]",
        created_at=get_time(fields, "createdAt"),
        url=get_line(fields, "url", limit=2000),
        is_own=is_own,
        is_outsider=not is_own and not has_role,
    )


async def reply_to_thread(path: Path, place: PullRequestPlace, thread_id: str, text: str) -> None:
    """Reply to a thread of review comments; to the text of a review, by a comment."""
    repository = place.repository
    if not thread_id.startswith(_REVIEW_PREFIX):
        await query(path, repository.host, _REPLY, thread=thread_id, body=text)
        return
    endpoint = f"{repository.endpoint}/issues/{place.number}/comments"
    await request(path, repository.host, endpoint, method="POST", body={"body": text})


async def resolve_thread(path: Path, place: PullRequestPlace, thread_id: str) -> None:
    """Mark a thread as resolved. Raises `conflict` for the text of a review."""
    if thread_id.startswith(_REVIEW_PREFIX):
        raise SpinneyError(
            "A review that requests changes ends with the next review of the same person. Request "
            "it again.",
            "conflict",
        )
    await query(path, place.repository.host, _RESOLVE, thread=thread_id)
