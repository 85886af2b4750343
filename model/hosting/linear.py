"""The issue tracker Linear, by its API.

An API key is sent to `ENDPOINT` and nowhere else: no setting changes the address, and redirects are
not followed. Keys are in no log and in no message.
"""

import asyncio
import json
import re
import time
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from model.base.errors import SpinneyError
from model.domain.hosting import ItemLabel, TrackerIssue, TrackerTeam
from model.hosting.fields import (
    Fields,
    get_end_cursor,
    get_fields,
    get_line,
    get_nodes,
    get_text,
    get_time,
    read_json,
)
from model.hosting.forge import PAGE_SIZE, ItemQuery, ItemText
from model.hosting.page_cursors import Page, PageCursors

if TYPE_CHECKING:
    import aiohttp

ENDPOINT: Final = "https://api.linear.app/graphql"

_TIMEOUT: Final = 30.0
"""Seconds for a request."""
_MAX_BYTES: Final = 8_000_000
"""Bytes of an answer."""
_MAX_BODY: Final = 4_000
"""Characters of a description in a list."""
_MAX_MESSAGE: Final = 300
_KEY: Final = re.compile(r"[!-~]{1,500}")
_ID: Final = re.compile(r"([A-Za-z][A-Za-z0-9]{0,19})-(\d{1,9})")
_CLOSED: Final = ["completed", "canceled", "duplicate"]
"""The types of the states in which an issue is closed."""

_FIELDS: Final = """\
identifier title description url branchName priorityLabel updatedAt
state { name } team { key name } assignee { displayName } creator { displayName }
labels(first: 20) { nodes { name color } }"""
_ISSUES: Final = f"""\
query Issues($filter: IssueFilter, $team: ID, $first: Int!, $after: String) {{
  issues(filter: $filter, first: $first, after: $after, orderBy: createdAt) {{
    pageInfo {{ hasNextPage endCursor }}
    nodes {{ {_FIELDS} }}
  }}
  teams(filter: {{ id: {{ eq: $team }} }}, first: 1) {{ nodes {{ id }} }}
}}"""
_TEAMS: Final = """\
query Teams($after: String) {
  teams(first: 100, after: $after) {
    pageInfo { hasNextPage endCursor }
    nodes { id key name }
  }
}"""
_ISSUE: Final = f"""\
query Issue($id: String!) {{
  issue(id: $id) {{
    {_FIELDS}
    comments(first: 50) {{ nodes {{ body createdAt user {{ displayName }} }} }}
  }}
}}"""
_MAX_TEAM_PAGES: Final = 10

MISSING_KEY: Final = (
    "No API key of the issue tracker is set. Create one in Linear (Settings, Security & access), "
    "then enter it in the preferences or in the project's settings."
)
_WRONG_KEY: Final = (
    "Linear does not accept the API key. Create a new one in Linear (Settings, Security & access), "
    "then enter it in the preferences or in the project's settings."
)
_NO_PERMISSION: Final = (
    "The API key does not have permission to do that in Linear. Use the key of someone who can see "
    "the team's issues."
)
_TEAM_GONE: Final = (
    "The project's team no longer exists in Linear, or the API key cannot see it. Choose another "
    "team in the project's settings."
)
_UNREACHABLE: Final = "Linear cannot be reached. Check the network connection, then try again."


class Linear:
    """Linear's teams and issues. `endpoint` is the address of its API."""

    def __init__(self, endpoint: str = ENDPOINT) -> None:
        self._endpoint = endpoint
        self._cursors = PageCursors()

    async def list_teams(self, key: str | None) -> list[TrackerTeam]:
        """Return the teams that the API key can see. Raises `SpinneyError`."""
        teams: list[TrackerTeam] = []
        after: str | None = None
        for _ in range(_MAX_TEAM_PAGES):
            found = await self._query(key, _TEAMS, {"after": after})
            teams += [
                TrackerTeam(
                    id=get_line(row, "id"), key=get_line(row, "key"), name=get_line(row, "name")
                )
                for row in get_nodes(found, "teams")
            ]
            if (after := get_end_cursor(found, "teams")) is None:
                break
        return teams

    async def list_issues(
        self, key: str | None, team_id: str | None, query: ItemQuery
    ) -> list[TrackerIssue]:
        """Return a page of the issues of a team, or of all teams, the newest first.

        Raises `SpinneyError`, for example if the team is gone.
        """
        wanted = _make_filter(team_id, query)
        load = partial(self._load_page, key, team_id, wanted)
        return await self._cursors.fetch((key, json.dumps(wanted)), query.page, load)

    async def fetch_text(self, key: str | None, issue_id: str) -> ItemText:
        """Return the text of an issue, such as `ENG-12`. Raises `not_found`."""
        if _ID.fullmatch(issue_id) is None:
            raise SpinneyError("Invalid field 'itemId': must be an id such as ENG-12")
        row = get_fields(await self._query(key, _ISSUE, {"id": issue_id}), "issue")
        if not row:
            raise _no_issue(issue_id)
        return _parse_text(row)

    async def _load_page(
        self,
        key: str | None,
        team_id: str | None,
        wanted: Mapping[str, Any],
        after: str | None,
    ) -> Page[TrackerIssue]:
        variables = {"filter": wanted, "team": team_id, "first": PAGE_SIZE, "after": after}
        found = await self._query(key, _ISSUES, variables)
        if team_id and not get_nodes(found, "teams"):
            raise SpinneyError(_TEAM_GONE, "not_found")
        issues = [_parse_issue(row) for row in get_nodes(found, "issues")]
        return Page(issues, get_end_cursor(found, "issues"))

    async def _query(self, key: str | None, query: str, variables: Mapping[str, Any]) -> Fields:
        """Send a query and return its data."""
        import aiohttp  # Slow to import, and most people have no tracker.

        key = (key or "").strip()
        if not key:
            raise SpinneyError(MISSING_KEY, "backend_unavailable")
        if _KEY.fullmatch(key) is None:
            raise SpinneyError(_WRONG_KEY, "backend_unavailable")
        timeout = aiohttp.ClientTimeout(total=_TIMEOUT)
        try:
            async with (
                aiohttp.ClientSession(timeout=timeout) as client,
                client.post(
                    self._endpoint,
                    json={"query": query, "variables": variables},
                    headers={"Authorization": key},
                    allow_redirects=False,
                    proxy=await asyncio.to_thread(_find_proxy, self._endpoint),
                ) as response,
            ):
                text = await _read(response)
                return await _parse_answer(response.status, response.headers, text)
        except TimeoutError:
            raise SpinneyError(
                f"Linear took longer than {_TIMEOUT:g} seconds to answer. Try again later.",
                "timeout",
            ) from None
        except (aiohttp.ClientError, OSError, ValueError):
            raise SpinneyError(_UNREACHABLE, "backend_unavailable") from None


async def _read(response: "aiohttp.ClientResponse") -> str:
    pieces, size = [], 0
    async for piece in response.content.iter_chunked(1 << 16):
        pieces.append(piece)
        size += len(piece)
        if size > _MAX_BYTES:
            raise SpinneyError("Linear's answer is too long. Narrow the search.", "too_large")
    return b"".join(pieces).decode("utf-8", "replace")


def _find_proxy(url: str) -> str | None:
    """The proxy that the environment or the system sets for an address."""
    parts = urlsplit(url)
    if proxy_bypass(parts.hostname or ""):
        return None
    return getproxies().get(parts.scheme)


async def _parse_answer(status: int, headers: Mapping[str, str], text: str) -> Fields:
    """Return the data of an answer, its texts visible. Raises `SpinneyError` for its errors."""
    found = await read_json(text)
    answer = found if isinstance(found, dict) else {}
    errors = [error for error in answer.get("errors") or () if isinstance(error, dict)]
    codes = {str(get_fields(error, "extensions").get("code") or "").upper() for error in errors}
    if status == 429 or "RATELIMITED" in codes:
        raise _limit_exceeded(headers)
    if status == 401 or "AUTHENTICATION_ERROR" in codes:
        raise SpinneyError(_WRONG_KEY, "backend_unavailable")
    if status == 403 or "FORBIDDEN" in codes:
        raise SpinneyError(_NO_PERMISSION, "forbidden")
    if status >= 500:
        raise SpinneyError(
            "Linear has a problem at the moment (see https://linearstatus.com). Try again in a "
            "few minutes.",
            "backend_unavailable",
        )
    said = " ".join(get_line(error, "message") for error in errors)
    if "Entity not found" in said:
        raise SpinneyError(
            "There is no such issue in Linear, or the API key cannot see it.", "not_found"
        )
    if said or status != 200 or not isinstance(answer.get("data"), dict):
        reason = said or f"an answer with status {status}"
        raise SpinneyError(f"Linear could not answer: {reason[:_MAX_MESSAGE]}", "backend_error")
    data: Fields = answer["data"]
    return data


def _limit_exceeded(headers: Mapping[str, str]) -> SpinneyError:
    try:  # Milliseconds since 1970.
        seconds = float(headers.get("X-RateLimit-Requests-Reset", "")) / 1000 - time.time()
    except ValueError:
        seconds = 0
    return SpinneyError(
        "Linear's rate limit for this API key is exceeded. Try again later.",
        "rate_limit_error",
        retry_after=seconds if 0 < seconds < 86_400 else None,
    )


def _no_issue(issue_id: str) -> SpinneyError:
    return SpinneyError(f"There is no issue {issue_id} in Linear.", "not_found")


def _make_filter(team_id: str | None, query: ItemQuery) -> dict[str, Any]:
    """Return the conditions for an issue in the form of the API."""
    every: list[dict[str, Any]] = []
    if team_id:
        every.append({"team": {"id": {"eq": team_id}}})
    if query.state != "all":
        comparison = "nin" if query.state == "open" else "in"
        every.append({"state": {"type": {comparison: _CLOSED}}})
    every += [{"labels": {"some": {"name": {"eqIgnoreCase": name}}}} for name in query.labels]
    if query.assignee == "@me":
        every.append({"assignee": {"isMe": {"eq": True}}})
    elif query.assignee:
        equal = {"eqIgnoreCase": query.assignee}
        fields = ("displayName", "name", "email")
        every.append({"assignee": {"or": [{field: equal} for field in fields]}})
    if found := _ID.fullmatch(query.search.strip()):
        key, number = found[1].upper(), int(found[2])
        every.append({"team": {"key": {"eq": key}}, "number": {"eq": number}})
    elif query.search.strip():
        every.append({"searchableContent": {"contains": query.search.strip()}})
    return {"and": every} if every else {}


def _parse_issue(row: Fields) -> TrackerIssue:
    assignee = get_line(row, "assignee", "displayName")
    return TrackerIssue(
        id=get_line(row, "identifier"),
        title=get_line(row, "title"),
        state=get_line(row, "state", "name"),
        url=get_line(row, "url"),
        author=get_line(row, "creator", "displayName"),
        updated_at=get_time(row, "updatedAt"),
        body=get_text(row, "description", limit=_MAX_BODY),
        team=get_line(row, "team", "name"),
        labels=[
            ItemLabel(name=get_line(label, "name"), color=_color(label))
            for label in get_nodes(row, "labels")
        ],
        assignees=[assignee] if assignee else [],
        priority=get_line(row, "priorityLabel"),
        branch_name=get_line(row, "branchName"),
    )


def _parse_text(row: Fields) -> ItemText:
    issue = _parse_issue(row)
    facts = [
        ("state", issue.state),
        ("team", issue.team),
        ("priority", issue.priority),
        ("labels", ", ".join(label.name for label in issue.labels)),
        ("assignees", ", ".join(issue.assignees)),
        ("branch_name", issue.branch_name),
    ]
    comments = sorted(
        get_nodes(row, "comments"), key=lambda comment: str(comment.get("createdAt") or "")
    )
    return ItemText(
        title=issue.title,
        url=issue.url,
        author=issue.author,
        body=get_text(row, "description", limit=_MAX_BYTES),
        facts=[(name, value) for name, value in facts if value],
        comments=[_parse_comment(comment) for comment in comments],
    )


def _parse_comment(comment: Fields) -> tuple[str, str]:
    author = get_line(comment, "user", "displayName")
    return author, get_text(comment, "body", limit=_MAX_BYTES)


def _color(label: Fields) -> str:
    color = get_line(label, "color")
    return color if re.fullmatch(r"#[0-9A-Fa-f]{6}", color) else ""
