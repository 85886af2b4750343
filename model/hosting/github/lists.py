"""Lists at GitHub: issues, pull requests, workflow runs, alerts and advisories, in pages of 100.

Anyone can file texts of any length. They are cut by `gh` itself, so that a page fits into its
bounded output.
"""

import asyncio
import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import parse_qs, quote, urlencode, urlsplit

from model.base.errors import SpinneyError
from model.domain.hosting import (
    Advisory,
    ItemLabel,
    ItemState,
    OpenIssue,
    OpenPullRequest,
    SecurityAlert,
    WorkflowRun,
)
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
from model.hosting.forge import PAGE_SIZE, ItemQuery
from model.hosting.github.api import Repository, RestAnswer, locate_repository, query, request
from model.hosting.github.failures import account_command
from model.hosting.page_cursors import Page, PageCursors

T = TypeVar("T", OpenIssue, OpenPullRequest)

_FAILURES: Final = ("failure", "timed_out", "startup_failure")
"""How a workflow run that failed has ended; one that was cancelled has not."""
_MAX_BODY: Final = 4_000
"""Characters of a description in a list."""

_FIELDS: Final = """\
number title body url state updatedAt author { login }
labels(first: 20) { nodes { name color } } assignees(first: 10) { nodes { login } }
comments { totalCount }"""
_ISSUE_FIELDS: Final = f"... on Issue {{ {_FIELDS} }}"
_PULL_REQUEST_FIELDS: Final = (
    f"... on PullRequest {{ {_FIELDS} isDraft headRefName baseRefName isCrossRepository }}"
)
_PAGE: Final = "pageInfo { hasNextPage endCursor }"
_ORDER: Final = "orderBy: {field: CREATED_AT, direction: DESC}"
_LIST: Final = f"""\
query List%(kind)ss($owner: String!, $name: String!, $states: [%(kind)sState!], $after: String) {{
  repository(owner: $owner, name: $name) {{
    hasIssuesEnabled
    found: %(connection)s(first: {PAGE_SIZE}, after: $after, states: $states, {_ORDER}) {{
      {_PAGE} nodes {{ %(fields)s }}
    }}
  }}
}}"""
_SEARCH: Final = f"""\
query SearchItems($query: String!, $after: String) {{
  found: search(type: ISSUE, query: $query, first: {PAGE_SIZE}, after: $after) {{
    {_PAGE} nodes {{ %(fields)s }}
  }}
}}"""
_CUT: Final = f'(.. | objects | select(.body | type == "string") | .body) |= .[:{_MAX_BODY}]'

_RUNS: Final = (
    "[.workflow_runs[] | {id, name, display_title: (.display_title // .name), status, conclusion,"
    " html_url, head_branch, head_sha, run_number, updated_at, actor: {login: .actor.login}}]"
)
_ALERTS: Final = (
    "[.[] | {number, state, html_url, updated_at, dependency, security_vulnerability,"
    " security_advisory: (.security_advisory | {ghsa_id, cve_id, summary, severity})}]"
)
_ADVISORIES: Final = (
    "[.[] | {ghsa_id, cve_id, summary, severity, state, html_url, updated_at,"
    " author: {login: .author.login}}]"
)
_ALERT_STATES: Final[dict[ItemState, str]] = {
    "open": "open", "closed": "dismissed,fixed,auto_dismissed", "all": "",
}  # fmt: skip
_ADVISORY_STATES: Final[dict[ItemState, tuple[str, ...]]] = {
    "open": ("triage", "draft"), "closed": ("published", "closed"), "all": ("",),
}  # fmt: skip

_WIDER: Final = ("repo:", "org:", "user:", "owner:", "enterprise:")
"""Qualifiers of a search that reach beyond the repository."""
_NEXT: Final = re.compile(r'<([^<>]{1,2000})>; rel="next"')
_NOT_A_LOGIN: Final = re.compile(r"[^\w@\[\]-]")


class GitHubLists:
    """The lists of repositories, and where their pages begin."""

    def __init__(self) -> None:
        self._cursors = PageCursors()

    async def list_issues(self, path: Path, wanted: ItemQuery) -> list[OpenIssue]:
        """Return a page of issues, the newest first. Raises `conflict` if they are disabled."""
        states = {"open": ["OPEN"], "closed": ["CLOSED"], "all": None}[wanted.state]
        text = _LIST % {"kind": "Issue", "connection": "issues", "fields": _ISSUE_FIELDS}
        return await self._list(path, wanted, "issue", text, states, _parse_issue)

    async def list_pull_requests(self, path: Path, wanted: ItemQuery) -> list[OpenPullRequest]:
        """Return a page of pull requests, the newest first."""
        states = {"open": ["OPEN"], "closed": ["CLOSED", "MERGED"], "all": None}[wanted.state]
        text = _LIST % {
            "kind": "PullRequest", "connection": "pullRequests", "fields": _PULL_REQUEST_FIELDS,
        }  # fmt: skip
        return await self._list(path, wanted, "pr", text, states, _parse_pull_request)

    async def list_workflow_runs(
        self, path: Path, *, failed: bool, branch: str, page: int
    ) -> list[WorkflowRun]:
        """Return a page of runs, the newest first; up to 100 of each kind of failure."""
        repository = await locate_repository(path)
        # GitHub looks for one status at a time.
        pages = await asyncio.gather(
            *(
                _load_runs(path, repository, {"status": status, "branch": branch, "page": page})
                for status in (_FAILURES if failed else ("",))
            )
        )
        found = [row for rows in pages for row in rows]
        found.sort(key=lambda row: get_number(row, "id") or 0, reverse=True)
        return [_parse_run(row) for row in found]

    async def list_security_alerts(
        self, path: Path, state: ItemState, page: int
    ) -> list[SecurityAlert]:
        """Return a page of Dependabot alerts. Raises `conflict` if they are disabled."""
        repository = await locate_repository(path)

        async def load(after: str | None) -> Page[SecurityAlert]:
            given = {"state": _ALERT_STATES[state], "after": after or ""}
            endpoint = _make_endpoint(repository, "dependabot/alerts", given)
            answer = await request(path, repository.host, endpoint, jq=_ALERTS, accept=(403, 404))
            if answer.status in (403, 404):
                raise _alerts_refused(repository, answer)
            return Page([_parse_alert(row) for row in await _rows(answer)], _find_next(answer))

        return await self._cursors.fetch((repository, "alerts", state), page, load)

    async def list_advisories(self, path: Path, state: ItemState, page: int) -> list[Advisory]:
        """Return a page of the repository's advisories; it may have up to 100 of each state."""
        repository = await locate_repository(path)
        found: list[Advisory] = []
        for one in _ADVISORY_STATES[state]:

            async def load(after: str | None, one: str = one) -> Page[Advisory]:
                given = {"state": one, "after": after or ""}
                endpoint = _make_endpoint(repository, "security-advisories", given)
                answer = await request(
                    path, repository.host, endpoint, jq=_ADVISORIES, accept=(403, 404)
                )
                if answer.status in (403, 404):
                    raise _advisories_refused()
                return Page(
                    [_parse_advisory(row) for row in await _rows(answer)], _find_next(answer)
                )

            found += await self._cursors.fetch((repository, "advisories", one), page, load)
        return found

    async def _list(
        self,
        path: Path,
        wanted: ItemQuery,
        kind: str,
        text: str,
        states: list[str] | None,
        parse: Callable[[Fields], T],
    ) -> list[T]:
        """Return a page by a search, or without one if only the state matters."""
        repository = await locate_repository(path)
        load = partial(_load_all, path, repository, text, states, parse)
        search = ""
        if wanted.search.strip() or wanted.labels or wanted.assignee:
            search = make_search(repository, kind, wanted)
            load = partial(_load_found, path, repository, text, search, parse)
        key = (repository, kind, search, wanted.state)
        return await self._cursors.fetch(key, wanted.page, load)


async def _load_runs(
    path: Path, repository: Repository, given: Mapping[str, str | int]
) -> list[Fields]:
    answer = await request(
        path, repository.host, _make_endpoint(repository, "actions/runs", given), jq=_RUNS,
        accept=(404,),
    )  # fmt: skip
    if answer.status == 404:
        raise SpinneyError(
            "GitHub shows no workflow runs of this repository: Actions are disabled in its "
            "settings, or the account that gh is signed in with cannot see it. Check the "
            "account with 'gh auth status'.",
            "not_found",
        )
    return await _rows(answer)


async def _load_all(
    path: Path,
    repository: Repository,
    text: str,
    states: list[str] | None,
    parse: Callable[[Fields], T],
    after: str | None,
) -> Page[T]:
    answer = await query(
        path, repository.host, text, jq=_CUT,
        owner=repository.owner, name=repository.name, states=states, after=after,
    )  # fmt: skip
    found = get_fields(answer.data, "repository")
    if parse is _parse_issue and found.get("hasIssuesEnabled") is False:
        raise SpinneyError(
            "Issues are disabled for this repository. Enable them in its settings on GitHub.",
            "conflict",
        )
    return Page([parse(row) for row in get_nodes(found, "found")], get_end_cursor(found, "found"))


async def _load_found(
    path: Path,
    repository: Repository,
    text: str,
    search: str,
    parse: Callable[[Fields], T],
    after: str | None,
) -> Page[T]:
    fields = _ISSUE_FIELDS if parse is _parse_issue else _PULL_REQUEST_FIELDS
    answer = await query(
        path, repository.host, _SEARCH % {"fields": fields}, jq=_CUT, query=search, after=after
    )
    found = answer.data
    return Page([parse(row) for row in get_nodes(found, "found")], get_end_cursor(found, "found"))


def make_search(repository: Repository, kind: str, wanted: ItemQuery) -> str:
    """Return a search for issues (`issue`) or pull requests (`pr`) of one repository."""
    words = [f"repo:{repository.owner}/{repository.name}", f"is:{kind}"]
    if wanted.state != "all":
        words.append(f"is:{wanted.state}")
    words += [f'label:"{" ".join(name.split()).replace(chr(34), "")}"' for name in wanted.labels]
    if assignee := _NOT_A_LOGIN.sub("", wanted.assignee):
        words.append(f"assignee:{assignee}")
    words.append("sort:created-desc")
    words += [
        word for word in wanted.search.split() if not word.lower().lstrip("-(").startswith(_WIDER)
    ]
    return " ".join(words)


def _make_endpoint(repository: Repository, name: str, given: Mapping[str, Any]) -> str:
    parameters = {key: value for key, value in given.items() if value}
    encoded = urlencode({"per_page": PAGE_SIZE, **parameters}, quote_via=quote, safe=",")
    return f"{repository.endpoint}/{name}?{encoded}"


def _find_next(answer: RestAnswer) -> str | None:
    """The cursor of the next page, from the header with the addresses of other pages."""
    found = _NEXT.search(answer.headers.get("link", ""))
    cursors = parse_qs(urlsplit(found[1]).query).get("after") if found else None
    return cursors[0] if cursors else None


async def _rows(answer: RestAnswer) -> list[Fields]:
    rows = await answer.parse()
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _alerts_refused(repository: Repository, answer: RestAnswer) -> SpinneyError:
    if "archived" in answer.body:
        return SpinneyError("The repository is archived, so it has no alerts.", "conflict")
    if "disabled" in answer.body or "not enabled" in answer.body:
        return SpinneyError(
            "Dependabot alerts are disabled for this repository. Enable them in its settings on "
            "GitHub, under security.",
            "conflict",
        )
    refresh = account_command(repository.host, "refresh")
    return SpinneyError(
        "The account that gh is signed in with cannot see the Dependabot alerts of this "
        "repository. That takes permission to write to it, and a token with the scope "
        f"'security_events': run '{refresh} --scopes security_events', or ask an owner.",
        "forbidden",
    )


def _advisories_refused() -> SpinneyError:
    return SpinneyError(
        "The account that gh is signed in with cannot see the security advisories of this "
        "repository. Those that are not published are visible to its administrators and security "
        "managers: check the account with 'gh auth status', or ask an owner.",
        "forbidden",
    )


def _parse_common(row: Fields) -> dict[str, Any]:
    number = get_number(row, "number")
    if number is None:
        raise SpinneyError("GitHub's answer has an item without a number.", "backend_error")
    return {
        "id": str(number),
        "number": number,
        "title": get_line(row, "title"),
        "state": get_line(row, "state").lower(),
        "url": get_line(row, "url"),
        "author": get_line(row, "author", "login"),
        "updated_at": get_time(row, "updatedAt"),
        "labels": [_parse_label(label) for label in get_nodes(row, "labels")],
        "assignees": [get_line(person, "login") for person in get_nodes(row, "assignees")],
        "comment_count": get_number(row, "comments", "totalCount") or 0,
    }


def _parse_label(label: Fields) -> ItemLabel:
    color = get_line(label, "color")
    is_color = re.fullmatch(r"[0-9A-Fa-f]{6}", color)
    return ItemLabel(name=get_line(label, "name", limit=100), color=f"#{color}" if is_color else "")


def _parse_issue(row: Fields) -> OpenIssue:
    return OpenIssue(**_parse_common(row), body=get_text(row, "body", limit=_MAX_BODY))


def _parse_pull_request(row: Fields) -> OpenPullRequest:
    return OpenPullRequest(
        **_parse_common(row),
        head_ref_name=get_line(row, "headRefName"),
        base_ref_name=get_line(row, "baseRefName"),
        draft=row.get("isDraft") is True,
        is_from_fork=row.get("isCrossRepository") is True,
    )


def _parse_run(row: Fields) -> WorkflowRun:
    return WorkflowRun(
        id=str(get_number(row, "id") or ""),
        title=get_line(row, "display_title"),
        state=(get_line(row, "conclusion") or get_line(row, "status")).lower(),
        url=get_line(row, "html_url"),
        author=get_line(row, "actor", "login"),
        updated_at=get_time(row, "updated_at"),
        workflow=get_line(row, "name"),
        branch=get_line(row, "head_branch"),
        commit=get_line(row, "head_sha"),
        number=get_number(row, "run_number") or 0,
    )


def _parse_alert(row: Fields) -> SecurityAlert:
    advisory = get_fields(row, "security_advisory")
    vulnerability = get_fields(row, "security_vulnerability")
    dependency = get_fields(row, "dependency")
    package = get_fields(dependency, "package")
    number = get_number(row, "number") or 0
    return SecurityAlert(
        id=str(number),
        number=number,
        title=get_line(advisory, "summary"),
        state=get_line(row, "state").lower(),
        url=get_line(row, "html_url"),
        updated_at=get_time(row, "updated_at"),
        package=get_line(package, "name"),
        ecosystem=get_line(package, "ecosystem"),
        severity=get_line(vulnerability, "severity") or get_line(advisory, "severity"),
        manifest=get_line(dependency, "manifest_path"),
        vulnerable=get_line(vulnerability, "vulnerable_version_range"),
        patched=get_line(vulnerability, "first_patched_version", "identifier"),
        advisory=get_line(advisory, "ghsa_id") or get_line(advisory, "cve_id"),
    )


def _parse_advisory(row: Fields) -> Advisory:
    return Advisory(
        id=get_line(row, "ghsa_id"),
        title=get_line(row, "summary"),
        state=get_line(row, "state").lower(),
        url=get_line(row, "html_url"),
        author=get_line(row, "author", "login"),
        updated_at=get_time(row, "updated_at"),
        severity=get_line(row, "severity"),
        cve=get_line(row, "cve_id"),
    )
