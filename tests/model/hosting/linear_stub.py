"""A stub of Linear's API on loopback."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

Json = dict[str, Any]

KEY = "lin_api_secret"


def make_issue(number: int = 12, **fields: Any) -> Json:
    """An issue in the form of the API."""
    return {
        "identifier": f"ENG-{number}",
        "title": "The door squeaks",
        "description": "Every time.",
        "url": f"https://linear.app/acme/issue/ENG-{number}/the-door-squeaks",
        "branchName": f"ada/eng-{number}-the-door-squeaks",
        "priorityLabel": "Urgent",
        "updatedAt": "2026-01-01T00:00:00.000Z",
        "state": {"name": "In Progress"},
        "team": {"key": "ENG", "name": "Engine"},
        "assignee": {"displayName": "ada"},
        "creator": {"displayName": "bob"},
        "labels": {"nodes": [{"name": "bug", "color": "#eb5757"}]},
        **fields,
    }


@dataclass
class LinearStub:
    """The issues and teams of an organization, and the requests received."""

    issues: list[Json] = field(default_factory=lambda: [make_issue()])
    comments: list[Json] = field(default_factory=list)
    teams: list[str] = field(default_factory=lambda: ["engine"])
    """Ids."""
    asked: list[Json] = field(default_factory=list)
    """The variables of all queries."""
    failure: tuple[int, Json, dict[str, str]] | None = None
    """Status, body and headers with which every request is answered."""
    endpoint: str = ""
    """The address of the API while it runs."""

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        app = web.Application()
        app.router.add_post("/graphql", self._answer)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            self.endpoint = f"http://127.0.0.1:{runner.addresses[0][1]}/graphql"
            yield
        finally:
            await runner.cleanup()

    def refuse(self, code: str, message: str = "", status: int = 400, **headers: str) -> None:
        """Answer every request with an error of this code."""
        error = {"message": message or code, "extensions": {"code": code}}
        self.failure = status, {"errors": [error]}, headers

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        if self.failure is not None:
            status, body, headers = self.failure
            return web.json_response(body, status=status, headers=headers)
        if request.headers.get("Authorization") != KEY:
            error = {"message": "no", "extensions": {"code": "AUTHENTICATION_ERROR"}}
            return web.json_response({"errors": [error]}, status=400)
        asked = json.loads(await request.text())
        variables = asked["variables"]
        self.asked.append(variables)
        if asked["query"].startswith("query Teams"):
            nodes = [{"id": team, "key": "ENG", "name": team.title()} for team in self.teams]
            return _data(teams={"nodes": nodes, "pageInfo": {"hasNextPage": False}})
        if asked["query"].startswith("query Issues"):
            return _data(issues=self._page(variables), teams={"nodes": self._found(variables)})
        found = [each for each in self.issues if each["identifier"] == variables["id"]]
        if not found:
            error = {"message": "Entity not found: Issue", "extensions": {"code": "INPUT_ERROR"}}
            return web.json_response({"data": None, "errors": [error]})
        return _data(issue={**found[0], "comments": {"nodes": self.comments}})

    def _page(self, variables: Json) -> Json:
        start, first = int(variables["after"] or 0), variables["first"]
        more = start + first < len(self.issues)
        page = {"hasNextPage": more, "endCursor": str(start + first)}
        return {"nodes": self.issues[start : start + first], "pageInfo": page}

    def _found(self, variables: Json) -> list[Json]:
        return [{"id": team} for team in self.teams if team == variables["team"]]


def _data(**found: Any) -> web.Response:
    return web.json_response({"data": found})
