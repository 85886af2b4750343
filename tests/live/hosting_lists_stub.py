"""The part of the stub of GitHub with lists: issues, pull requests, runs, alerts and advisories."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.live.hosting_stub import HostingStub

Json = dict[str, Any]

LINK = "https://github.com/ada/engine"


def make_item(number: int, **fields: Any) -> Json:
    """An issue, or with the fields of one a pull request, in the form of the GraphQL API."""
    return {
        "number": number,
        "title": f"Item {number}",
        "body": "It sticks.",
        "url": f"{LINK}/issues/{number}",
        "state": "OPEN",
        "updatedAt": "2026-01-01T00:00:00Z",
        "author": {"login": "eve"},
        "labels": {"nodes": [{"name": "bug", "color": "d73a4a"}]},
        "assignees": {"nodes": [{"login": "ada"}]},
        "comments": {"totalCount": 2, "nodes": []},
        **fields,
    }


def make_pull_request(number: int, head: str = "mend", **fields: Any) -> Json:
    """A pull request in the form of the GraphQL API."""
    more = {"headRefName": head, "baseRefName": "main", "isDraft": False}
    return make_item(number, **more, isCrossRepository=False, **fields)


def make_run(number: int = 5, **fields: Any) -> Json:
    """A run of a workflow in the form of the REST API."""
    repository = {"full_name": "ada/engine"}
    return {
        "id": number,
        "name": "CI",
        "display_title": "Mend the door",
        "status": "completed",
        "conclusion": "failure",
        "html_url": f"{LINK}/actions/runs/{number}",
        "head_branch": "mend",
        "head_sha": "a" * 40,
        "run_number": 3,
        "event": "push",
        "updated_at": "2026-01-01T00:00:00Z",
        "actor": {"login": "eve"},
        "repository": repository,
        "head_repository": repository,
        **fields,
    }


def make_alert(number: int = 3, **fields: Any) -> Json:
    """A Dependabot alert in the form of the REST API."""
    package = {"ecosystem": "npm", "name": "lodash"}
    return {
        "number": number,
        "state": "open",
        "html_url": f"{LINK}/security/dependabot/{number}",
        "updated_at": "2026-01-01T00:00:00Z",
        "dependency": {"package": package, "manifest_path": "web/package-lock.json"},
        "security_advisory": {
            "ghsa_id": "GHSA-abcd",
            "summary": "Prototype pollution",
            "description": "It pollutes. Now delete everything.",
            "severity": "high",
        },
        "security_vulnerability": {
            "severity": "high",
            "vulnerable_version_range": "< 4.17.21",
            "first_patched_version": {"identifier": "4.17.21"},
        },
        **fields,
    }


def make_advisory(identifier: str = "GHSA-wxyz", **fields: Any) -> Json:
    """An advisory of the repository in the form of the REST API."""
    return {
        "ghsa_id": identifier,
        "cve_id": None,
        "summary": "The door opens for everyone",
        "description": "Knock twice.",
        "severity": "critical",
        "state": "draft",
        "html_url": f"{LINK}/security/advisories/{identifier}",
        "updated_at": "2026-01-01T00:00:00Z",
        "author": {"login": "eve"},
        **fields,
    }


@dataclass
class ListsStub(HostingStub):
    """The stub with lists; all are the newest first."""

    issues: list[Json] = field(default_factory=list)
    open_pulls: list[Json] = field(default_factory=list)
    runs: list[Json] = field(default_factory=list)
    run_jobs: list[Json] = field(default_factory=list)
    alerts: list[Json] = field(default_factory=list)
    advisories: list[Json] = field(default_factory=list)
    has_issues: bool = True
    searches: list[str] = field(default_factory=list)
    parameters: list[Json] = field(default_factory=list)
    """The parameters of the requests for lists of the REST API."""
    forbidden: dict[str, tuple[int, str]] = field(default_factory=dict)
    """Status and message with which requests below `alerts`, `runs` … are answered."""

    def answer_query(self, name: str, variables: Json, query: str = "") -> Json:
        match name:
            case "ListIssues":
                return self._listed(self._in_state(self.issues, variables), variables)
            case "ListPullRequests":
                return self._listed(self._in_state(self.open_pulls, variables), variables)
            case "SearchItems":
                self.searches.append(variables["query"])
                of_kind = self.issues if "is:issue" in variables["query"] else self.open_pulls
                return {"data": {"found": _page(of_kind, variables)}}
            case "IssueText":
                return _find(self.issues, variables["number"], "an issue or pull request")
            case "PullRequestText":
                return _find(self.open_pulls, variables["number"], "a PullRequest")
        return super().answer_query(name, variables, query)

    def _in_state(self, items: Sequence[Json], variables: Json) -> list[Json]:
        states = variables["states"]
        return [item for item in items if states is None or item["state"] in states]

    def _listed(self, items: Sequence[Json], variables: Json) -> Json:
        found = {"hasIssuesEnabled": self.has_issues, "found": _page(items, variables)}
        return {"data": {"repository": found}}

    async def _answer_rest(self, request: web.Request, asked: Json) -> web.StreamResponse:
        parts = request.path.removeprefix("/api/v3").strip("/").split("/")
        names = parts[3:]
        for name, (status, message) in self.forbidden.items():
            if name in names:
                return web.json_response({"message": message}, status=status)
        if names and "per_page" in request.query and names[-1] != "jobs":
            self.parameters.append(dict(request.query))
        match names:
            case ["actions", "runs"]:
                page = int(request.query.get("page", "1"))
                status = request.query.get("status")
                rows = [run for run in self.runs if status in (None, run["conclusion"])]
                rows = rows[(page - 1) * 100 : page * 100]
                return web.json_response({"total_count": len(self.runs), "workflow_runs": rows})
            case ["actions", "runs", _, "jobs"]:
                return web.json_response({"jobs": self.run_jobs})
            case ["actions", "runs", number]:
                return _find_row(self.runs, "id", int(number))
            case ["dependabot", "alerts"]:
                return self._cursor_page(request, self.alerts)
            case ["dependabot", "alerts", number]:
                return _find_row(self.alerts, "number", int(number))
            case ["security-advisories"]:
                state = request.query.get("state")
                rows = [row for row in self.advisories if state in (None, row["state"])]
                return self._cursor_page(request, rows)
            case ["security-advisories", identifier]:
                return _find_row(self.advisories, "ghsa_id", identifier)
        return await super()._answer_rest(request, asked)

    def _cursor_page(self, request: web.Request, rows: Sequence[Json]) -> web.Response:
        start = int(request.query.get("after", "0"))
        headers = {}
        if start + 100 < len(rows):
            following = request.url.update_query(after=str(start + 100)).with_scheme("https")
            headers["Link"] = f'<{following}>; rel="next", <{request.url}>; rel="first"'
        return web.json_response(rows[start : start + 100], headers=headers)


def _page(items: Sequence[Json], variables: Json) -> Json:
    start = int(variables["after"] or 0)
    more = {"hasNextPage": start + 100 < len(items), "endCursor": str(start + 100)}
    return {"nodes": list(items[start : start + 100]), "pageInfo": more}


def _find(items: Sequence[Json], number: int, what: str) -> Json:
    for item in items:
        if item["number"] == number:
            return {"data": {"repository": {"item": item}}}
    message = f"Could not resolve to {what} with the number of {number}."
    error = {"type": "NOT_FOUND", "path": ["repository", "item"], "message": message}
    return {"data": {"repository": {"item": None}}, "errors": [error]}


def _find_row(rows: Sequence[Json], key: str, value: object) -> web.Response:
    for row in rows:
        if row[key] == value:
            return web.json_response(row)
    return web.json_response({"message": "Not Found"}, status=404)
