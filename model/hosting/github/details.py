"""Everything that is shown of a pull request on GitHub, by a few queries."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

from model.base.errors import SpinneyError
from model.domain.hosting import Check, PullRequestDetails, Reviewer, ReviewThread
from model.hosting.conversation import arrange_conversation
from model.hosting.fields import (
    Fields,
    get_end_cursor,
    get_fields,
    get_line,
    get_nodes,
    get_number,
    get_text,
    get_time,
)
from model.hosting.github.api import GraphQLAnswer, PullRequestPlace, query
from model.hosting.github.checks import CHECK_FIELDS, parse_check, select_newest
from model.hosting.github.failures import account_command
from model.hosting.github.merging import (
    QUEUE_FIELDS,
    REPOSITORY_FIELDS,
    STANDING_FIELDS,
    explain_obstacle,
    list_merge_methods,
    parse_auto_merge,
    parse_phase,
)
from model.hosting.github.threads import (
    COMMENT_FRAGMENT,
    CONVERSATION_FIELDS,
    CUT,
    REVIEW_FIELDS,
    THREAD_FIELDS,
    parse_conversation,
    parse_request_for_changes,
    parse_thread,
)

MAX_CHECKS: Final = 1000
MAX_THREADS: Final = 300
_MAX_BODY: Final = 65_536
"""Characters of a description; GitHub's own limit."""

_OLDER: Final = "Older comments are on the page of the pull request."

_PAGE: Final = "pageInfo { hasNextPage endCursor }"
_CHECKS: Final = f"""
commits(last: 1) {{ nodes {{ commit {{ statusCheckRollup {{
  contexts(first: 100, after: $after) {{ totalCount {_PAGE} nodes {{ {CHECK_FIELDS} }} }}
}} }} }} }}
"""
_THREADS: Final = f"""
reviewThreads(first: 50, after: $after) {{ totalCount {_PAGE} nodes {{ {THREAD_FIELDS} }} }}
"""
_PLACE: Final = "$owner: String!, $name: String!, $number: Int!"
_REPOSITORY: Final = "repository(owner: $owner, name: $name)"
_DETAILS: Final = f"""
query PullRequestDetails({_PLACE}, $after: String) {{
  {_REPOSITORY} {{
    {REPOSITORY_FIELDS}
    pullRequest(number: $number) {{
      {STANDING_FIELDS} {{queue}}
      title body author {{ login }} isOwn: viewerDidAuthor
      reviewRequests(first: 100) {{ nodes {{ requestedReviewer {{
        __typename
        ... on User {{ login }} ... on Mannequin {{ login }}
        ... on Team {{ slug organization {{ login }} }}
      }} }} }}
      latestOpinionatedReviews(first: 100) {{ nodes {{ {REVIEW_FIELDS} }} }}
      latestReviews(first: 100) {{ nodes {{ author {{ login }} state }} }}
      reviewTexts: reviews(last: 100) {{ totalCount nodes {{ {REVIEW_FIELDS} }} }}
      recent: commits(last: 20) {{ nodes {{ commit {{
        committedDate parents(first: 1) {{ totalCount }}
      }} }} }}
      {_CHECKS} {_THREADS} {CONVERSATION_FIELDS}
    }}
  }}
}}
{COMMENT_FRAGMENT}
"""
_MORE_CHECKS: Final = f"""
query PullRequestChecks({_PLACE}, $after: String) {{
  {_REPOSITORY} {{ pullRequest(number: $number) {{ {_CHECKS} }} }}
}}
"""
_MORE_THREADS: Final = f"""
query PullRequestThreads({_PLACE}, $after: String) {{
  {_REPOSITORY} {{ pullRequest(number: $number) {{ {_THREADS} }} }}
}}
{COMMENT_FRAGMENT}
"""
_BEHIND: Final = f"""
query PullRequestBehind({_PLACE}, $head: String!) {{
  {_REPOSITORY} {{ pullRequest(number: $number) {{
    baseRef {{ compare(headRef: $head) {{ behindBy }} }}
  }} }}
}}
"""

_REVIEW_STATES: Final[
    dict[str, Literal["approved", "changes_requested", "commented", "dismissed"]]
] = {
    "APPROVED": "approved",
    "CHANGES_REQUESTED": "changes_requested",
    "COMMENTED": "commented",
    "DISMISSED": "dismissed",
}


async def fetch_details(path: Path, place: PullRequestPlace) -> PullRequestDetails:
    """Return everything that is shown of a pull request."""
    answer = await _query_details(path, place)
    repository = get_fields(answer.data, "repository")
    fields = get_fields(repository, "pullRequest")
    if not fields:
        raise SpinneyError(
            "The pull request no longer exists. Clear it from the worktree, or save another one.",
            "not_found",
        )
    checks, checks_note = await _collect_checks(path, place, answer, fields)
    threads, threads_note = await _collect_threads(path, place, answer, fields)
    conversation, conversation_note = _collect_conversation(
        place.repository.host, answer, fields, threads
    )
    is_open = fields.get("state") == "OPEN"
    obstacle = explain_obstacle(fields, repository, checks)
    auto_merge = parse_auto_merge(fields)
    can_enable = is_open and bool(fields.get("viewerCanEnableAutoMerge"))
    return PullRequestDetails(
        number=place.number,
        url=get_line(fields, "url", limit=2000),
        title=get_line(fields, "title", limit=1000),
        body=get_text(fields, "body", limit=_MAX_BODY),
        phase=parse_phase(fields),
        author=get_line(fields, "author", "login"),
        is_own=bool(fields.get("isOwn")),
        base=get_line(fields, "baseRefName"),
        head=get_line(fields, "headRefName"),
        head_commit=get_line(fields, "headRefOid"),
        is_from_fork=bool(fields.get("isCrossRepository")),
        behind=await _count_behind(path, place, fields) if is_open else None,
        reviewers=_parse_reviewers(fields),
        checks=checks,
        checks_note=checks_note,
        threads=threads,
        threads_note=threads_note,
        conversation=conversation,
        conversation_note=conversation_note,
        merge_methods=list_merge_methods(repository),
        can_merge=not obstacle,
        merge_note=obstacle,
        can_auto_merge=can_enable and auto_merge is None,
        auto_merge=auto_merge,
        has_queue=bool(get_fields(fields, "mergeQueue")),
        can_update=is_open and bool(fields.get("viewerCanUpdateBranch")),
        can_edit=bool(fields.get("viewerCanUpdate")),
        fetched_at=time.time(),
    )


async def _query_details(path: Path, place: PullRequestPlace) -> GraphQLAnswer:
    try:
        return await _query(path, place, _DETAILS.replace("{queue}", QUEUE_FIELDS))
    except SpinneyError as error:
        if "doesn't exist on type" not in error.message:
            raise
        return await _query(path, place, _DETAILS.replace("{queue}", ""))


async def _query(path: Path, place: PullRequestPlace, text: str, **variables: str) -> GraphQLAnswer:
    repository = place.repository
    return await query(
        path, repository.host, text, partial=True, jq=CUT,
        owner=repository.owner, name=repository.name, number=place.number, **variables,
    )  # fmt: skip


async def _collect_checks(
    path: Path, place: PullRequestPlace, answer: GraphQLAnswer, fields: Fields
) -> tuple[list[Check], str]:
    """Return the checks, and a note about those that are missing."""
    if answer.is_refused("statusCheckRollup") or answer.is_refused("commits"):
        return [], (
            "The token that gh uses may not read checks. Give it read access to checks and commit "
            f"statuses, or sign in with '{account_command(place.repository.host)}'."
        )
    contexts = _get_contexts(fields)
    total = get_number(contexts, "totalCount") or 0
    nodes = get_nodes(contexts)
    while (after := get_end_cursor(contexts)) and len(nodes) < MAX_CHECKS:
        more = await _query(path, place, _MORE_CHECKS, after=after)
        contexts = _get_contexts(get_fields(more.data, "repository", "pullRequest"))
        nodes += get_nodes(contexts)
    nodes = nodes[:MAX_CHECKS]
    checks = [parse_check(node) for node in select_newest(nodes)]
    return checks, _describe_rest(len(nodes), total, "checks")


def _get_contexts(fields: Fields) -> Fields:
    commits = get_nodes(fields, "commits")
    return get_fields(commits[0], "commit", "statusCheckRollup", "contexts") if commits else {}


async def _collect_threads(
    path: Path, place: PullRequestPlace, answer: GraphQLAnswer, fields: Fields
) -> tuple[list[ReviewThread], str]:
    """Return the threads, and a note about those that are missing."""
    if answer.is_refused("reviewThreads"):
        return [], (
            "The token that gh uses may not read review comments. Give it read access to pull "
            f"requests, or sign in with '{account_command(place.repository.host)}'."
        )
    page = get_fields(fields, "reviewThreads")
    total = get_number(page, "totalCount") or 0
    nodes = get_nodes(page)
    while (after := get_end_cursor(page)) and len(nodes) < MAX_THREADS:
        more = await _query(path, place, _MORE_THREADS, after=after)
        page = get_fields(more.data, "repository", "pullRequest", "reviewThreads")
        nodes += get_nodes(page)
    threads = [parse_thread(node) for node in nodes[:MAX_THREADS]]
    threads.sort(key=lambda thread: thread.is_resolved)
    reviews = get_nodes(fields, "latestOpinionatedReviews")
    texts = [text for review in reviews if (text := parse_request_for_changes(review)) is not None]
    return [*texts, *threads], _describe_rest(len(threads), total, "review threads")


def _collect_conversation(
    host: str, answer: GraphQLAnswer, fields: Fields, threads: Sequence[ReviewThread]
) -> tuple[list[ReviewThread], str]:
    """Return the comments that are not among the threads, and a note about those missing."""
    if answer.is_refused("conversation") or answer.is_refused("reviewTexts"):
        note = (
            "The token that gh uses may not read comments of the conversation. Give it read access "
            f"to issues and pull requests, or sign in with '{account_command(host)}'."
        )
    else:
        parts = [get_fields(fields, name) for name in ("conversation", "reviewTexts")]
        unread = [(get_number(part, "totalCount") or 0) > len(get_nodes(part)) for part in parts]
        note = _OLDER if any(unread) else ""
    known = {thread.id for thread in threads}
    found = [one for one in parse_conversation(fields) if one.id not in known]
    is_open = fields.get("state") == "OPEN"
    shown = arrange_conversation(found, _find_commit_time(fields), is_open=is_open)
    return shown, note or (_OLDER if len(shown) < len(found) else "")


def _find_commit_time(fields: Fields) -> float | None:
    """Return when the newest commit that is not a merge was made."""
    commits = [get_fields(node, "commit") for node in get_nodes(fields, "recent")]
    own = [one for one in commits if (get_number(one, "parents", "totalCount") or 0) <= 1]
    return get_time(own[-1], "committedDate") if own else None


def _describe_rest(number: int, total: int, what: str) -> str:
    if number >= total:
        return ""
    return f"Only {number} of {total} {what} are shown. The page of the pull request has all."


async def _count_behind(path: Path, place: PullRequestPlace, fields: Fields) -> int | None:
    head = get_text(fields, "headRefOid")
    if not get_fields(fields, "baseRef") or not head:
        return None
    try:
        answer = await _query(path, place, _BEHIND, head=head)
    except SpinneyError as error:
        if error.error_type == "rate_limit_error":
            raise
        return None
    compared = get_fields(answer.data, "repository", "pullRequest", "baseRef", "compare")
    return get_number(compared, "behindBy")


def _parse_reviewers(fields: Fields) -> list[Reviewer]:
    """Return who was asked, then who gave a review; a newer comment does not hide a verdict."""
    found: dict[str, Reviewer] = {}
    for node in get_nodes(fields, "reviewRequests"):
        asked = get_fields(node, "requestedReviewer")
        is_team = asked.get("__typename") == "Team"
        organization = get_line(asked, "organization", "login")
        name = f"{organization}/{get_line(asked, 'slug')}" if is_team else get_line(asked, "login")
        if name:
            found[name] = Reviewer(name=name, state="requested", is_team=is_team)
    for reviews in ("latestOpinionatedReviews", "latestReviews"):
        for node in get_nodes(fields, reviews):
            name = get_line(node, "author", "login")
            state = _REVIEW_STATES.get(get_text(node, "state"))
            if name and state is not None:
                found.setdefault(name, Reviewer(name=name, state=state))
    return list(found.values())
