"""A stub of GitLab: the part of its REST and GraphQL APIs that Spinney uses, on loopback.

The configuration of `glab` names it as the API of gitlab.com, so no traffic leaves the machine.
"""

import hashlib
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web

Json = dict[str, Any]

TOKEN = "dummy"
HEAD = "c" * 40


def user(name: str, number: int = 0) -> Json:
    return {"id": number or sum(map(ord, name)), "username": name, "state": "active"}


def merge_request(number: int = 7, **fields: Any) -> Json:
    """A merge request as GitLab describes it."""
    path = fields.pop("path", "group/sub/engine")
    return {
        "id": 1000 + number,
        "iid": number,
        "project_id": 1,
        "source_project_id": 1,
        "target_project_id": 1,
        "title": "Teach the otter to swim",
        "description": "It was about time.",
        "state": "opened",
        "draft": False,
        "author": user("ada"),
        "source_branch": "otter",
        "target_branch": "main",
        "sha": HEAD,
        "diff_refs": {"head_sha": HEAD},
        "detailed_merge_status": "mergeable",
        "has_conflicts": False,
        "reviewers": [],
        "user": {"can_merge": True},
        "diverged_commits_count": 0,
        "merge_when_pipeline_succeeds": False,
        "created_at": "2026-01-02T03:04:05.678Z",
        "updated_at": "2026-01-02T03:04:05.678Z",
        "web_url": f"https://gitlab.com/{path}/-/merge_requests/{number}",
        **fields,
    }


def job(number: int, name: str, status: str = "success", **fields: Any) -> Json:
    return {
        "id": number,
        "name": name,
        "stage": "test",
        "status": status,
        "allow_failure": False,
        "started_at": "2026-01-02T03:04:05.678Z",
        "finished_at": "2026-01-02T03:05:05.678Z",
        "web_url": f"https://gitlab.com/group/sub/engine/-/jobs/{number}",
        "runner": {"id": 1},
        "artifacts": [],
        **fields,
    }


def note(number: int, author: str, body: str, **fields: Any) -> Json:
    return {
        "id": number,
        "author": user(author),
        "body": body,
        "created_at": "2026-01-02T03:04:05.678Z",
        "system": False,
        "resolvable": False,
        **fields,
    }


@dataclass(frozen=True)
class Asked:
    """A request that the stub received."""

    method: str
    path: str
    """Below `/api/v4/`, quoted as it was sent; `:p` stands for the project."""
    query: Json
    body: Any
    headers: Json


@dataclass
class GitLabStub:
    """A project of the service, the requests received, and the errors to answer with."""

    path: str = "group%2Fsub%2Fengine"
    answers: dict[str, Any] = field(default_factory=dict)
    """By method and path (`GET :p/issues`): JSON, bytes, or a pair of status and JSON."""
    graphql: Callable[[str, Json], Json] = lambda query, variables: {"data": {}}
    asked: list[Asked] = field(default_factory=list)
    status: int = 200
    """If not 200, all requests are answered with it."""
    message: Any = ""
    host: str = ""
    """Address and port while it runs."""

    def __post_init__(self) -> None:
        settings = {"id": 1, "merge_method": "merge", "squash_option": "default_off"}
        self.answers["GET :p"] = {**settings, "path": "engine", "merge_trains_enabled": False}

    def set_merge_request(self, **fields: Any) -> Json:
        """Set the merge request, and return it."""
        made = merge_request(**fields)
        self.answers[f"GET :p/merge_requests/{made['iid']}"] = made
        return made

    def configure(self, folder: Path) -> None:
        """Write the configuration with which `glab` is signed in to gitlab.com at the stub."""
        folder.mkdir(exist_ok=True)
        file = folder / "config.yml"
        file.write_text(
            "check_update: false\nhosts:\n    gitlab.com:\n"
            f"        token: {TOKEN}\n        api_host: {self.host}\n        api_protocol: http\n"
        )
        file.chmod(0o600)

    def sent(self, method: str, path: str) -> list[Any]:
        """Return the bodies of the requests with this method and path."""
        return [each.body for each in self.asked if (each.method, each.path) == (method, path)]

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._answer)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            self.host = f"127.0.0.1:{runner.addresses[0][1]}"
            yield
        finally:
            await runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        body = json.loads(await request.text() or "null")
        # glab 1.53 asks `/api/graphql/`.
        path = request.rel_url.raw_path.removeprefix("/api/v4/").removeprefix("/api/").rstrip("/")
        for prefix in (f"projects/{self.path}", "projects/1"):
            if path == prefix or path.startswith(f"{prefix}/"):
                path = ":p" + path.removeprefix(prefix)
        query: Json = {}
        for name, value in request.query.items():
            query[name] = value
        self.asked.append(Asked(request.method, path, query, body, dict(request.headers)))
        if self.status != 200:
            return web.json_response({"message": self.message}, status=self.status)
        if request.headers.get("PRIVATE-TOKEN") != TOKEN:
            return web.json_response({"message": "401 Unauthorized"}, status=401)
        if path == "graphql":
            return web.json_response(self.graphql(body["query"], body["variables"]))
        answer = self.answers.get(f"{request.method} {path}")
        if answer is None and request.method == "GET" and path.startswith(":p/"):
            listed = path.rpartition("/")[2]
            answer = [] if listed in ("bridges", "statuses", "discussions") else None
        if answer is None and request.method == "PUT":
            answer = self._change(path, body)
        return _respond(request, path, answer, query)

    def _change(self, path: str, changes: Any) -> Json | None:
        """Apply changes to an object, as GitLab does."""
        known = self.answers.get(f"GET {path}")
        if not isinstance(known, dict):
            return None
        for name, value in (changes or {}).items():
            if name == "reviewer_ids":
                members = self.answers.get("GET :p/members/all", [])
                known["reviewers"] = [each for each in members if each["id"] in value]
            else:
                known[name] = value
        return known


def _respond(request: web.Request, path: str, answer: Any, query: Json) -> web.Response:
    if answer is None:
        is_project = "/projects/" in request.path and path[:2] != ":p"
        message = "404 Project Not Found" if is_project else "404 Not found"
        return web.json_response({"message": message}, status=404)
    if isinstance(answer, bytes):
        return web.Response(body=answer, content_type="text/plain")
    status = 200
    if isinstance(answer, tuple):
        status, answer = answer
    if isinstance(answer, list):
        size, page = int(query.get("per_page", 20)), int(query.get("page", 1))
        answer = answer[size * (page - 1) : size * page]
    text = json.dumps(answer)
    tag = f'W/"{hashlib.sha1(text.encode()).hexdigest()}"'
    if request.headers.get("If-None-Match") == tag:
        return web.Response(status=304, headers={"ETag": tag})
    return web.Response(
        text=text, status=status, content_type="application/json", headers={"ETag": tag}
    )
