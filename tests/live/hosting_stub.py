"""A stub of GitHub: the part of its GraphQL and REST APIs that `gh` uses, on loopback behind a
proxy, with a self-signed certificate. It is tested with `gh` 2.23 and 2.46.

`HTTPS_PROXY` and `SSL_CERT_FILE` direct `gh` here; the proxy connects every host name to the stub,
so there are no DNS lookups and no traffic leaves the machine.
"""

import asyncio
import itertools
import json
import re
import ssl
import zlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from aiohttp import web

from tests.live.hosting_pull_requests import (
    MUTATIONS,
    Comment,
    Job,
    Json,
    PullRequest,
    rollup,
)
from tests.live.tls_proxy import make_certificate, proxy_to

TOKEN = "dummy"
HOSTS = ("github.com", "api.github.com", "git.corp.example")
_OPERATION = re.compile(r"\b(?:query|mutation) (\w+)")


@dataclass
class HostingStub:
    """One repository of the service, the requests received, and the errors to answer with."""

    folder: Path
    """The folder for the certificate and its key."""
    host: str = "github.com"
    owner: str = "ada"
    name: str = "engine"
    forks: Sequence[str] = ()
    """Logins that have a fork."""
    pull_requests: dict[int, PullRequest] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    """Names of the queries and mutations received; for other requests, method and path."""
    status: int = 200
    """If not 200, all requests are answered with it."""
    message: str = ""
    """The message of error responses and of the errors of queries."""
    refused: str = ""
    """A query, mutation or field; requests that contain it fail with `message`."""
    silent: bool = False
    """Whether requests are never answered."""
    headers: dict[str, str] = field(default_factory=dict)
    """Headers of error responses, such as those that name a rate limit."""
    unreadable: Sequence[str] = ()
    """`statusCheckRollup` or `reviewThreads`: the token may not read it, and may read the rest."""
    unknown: str = ""
    """A field that this version of the service does not have."""
    permission: str = "ADMIN"
    methods: Sequence[str] = ("merge", "squash", "rebase")
    allows_auto_merge: bool = True
    has_queue: bool = False
    moved_to: str = ""
    """The present name of the repository."""
    people: Sequence[str] = ("ada", "bob")
    teams: Sequence[str] = ()
    branches: set[str] = field(default_factory=lambda: {"main", "otter"})
    protected: Sequence[str] = ()
    """Branches that cannot be deleted."""
    jobs: dict[int, Job] = field(default_factory=dict)
    """By the id of their check."""
    changes: list[tuple[str, Json]] = field(default_factory=list)
    """Names and variables of the mutations, and methods, paths and bodies of other changes."""
    unchanged: list[str] = field(default_factory=list)
    """Paths of the conditional requests that found nothing new."""
    proxy: str = ""
    """URL of the proxy while it runs."""
    _numbers: "itertools.count[int]" = field(default_factory=lambda: itertools.count(7))

    def set_pull_requests(self, *pull_requests: PullRequest) -> None:
        """Replace all pull requests."""
        self.pull_requests = {known.number: known for known in pull_requests}

    @property
    def certificate(self) -> Path:
        return self.folder / "certificate.pem"

    @property
    def environment(self) -> dict[str, str]:
        """Environment with which `gh` connects only to the stub and is signed in."""
        return {
            "HTTPS_PROXY": self.proxy,
            "SSL_CERT_FILE": str(self.certificate),
            "SSL_CERT_DIR": str(self.folder),
            "GH_TOKEN": TOKEN,
        }

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        key = self.folder / "key.pem"
        await asyncio.to_thread(make_certificate, HOSTS, self.certificate, key)
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(self.certificate, key)
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._answer)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
            async with proxy_to(runner.addresses[0][1]) as self.proxy:
                yield
        finally:
            await runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        asked = await request.json() if request.can_read_body else {}
        found = _OPERATION.search(asked.get("query", ""))
        name = found[1] if found else f"{request.method} {request.path}"
        self.asked.append(name)
        if self.silent:
            await asyncio.Event().wait()
        if request.headers.get("Authorization") != f"token {TOKEN}":
            return web.json_response({"message": "Bad credentials"}, status=401)
        if self.status != 200:
            error = {"message": self.message}
            return web.json_response(error, status=self.status, headers=self.headers)
        if self.refused and self.refused in asked.get("query", ""):
            return web.json_response({"data": None, "errors": [{"message": self.message}]})
        if self.unknown and self.unknown in asked.get("query", ""):
            message = f"Field '{self.unknown}' doesn't exist on type 'PullRequest'"
            return web.json_response({"errors": [{"message": message}]})
        if found is None:
            return await self._answer_rest(request, asked)
        variables = asked.get("variables") or {}
        return web.json_response(self.answer_query(name, variables, asked["query"]))

    def answer_query(self, name: str, variables: Json, query: str = "") -> Json:
        """The answer to the query or mutation of this name."""
        match name:
            case "RepositoryInfo":
                return _data(repository=self._repository(variables["owner"]))
            case "RepositoryNetwork":
                owners = re.findall(r'repository\(owner: ?"(\w+)"', query)
                found = {f"repo_{n:03}": self._repository(who) for n, who in enumerate(owners)}
                return _data(viewer={"login": self.owner}, **found)
            case "PullRequestCreate":
                return _data(createPullRequest={"pullRequest": self._create(variables["input"])})
            case "PullRequestByNumber":
                return self._by_number(variables["pr_number"])
            case "PullRequestForBranch" | "PullRequestList":
                head = variables.get("headRefName") or variables.get("headBranch")
                return _data(repository=self._on_branch(head, variables))
            case "PullRequestStatusChecks":
                known = self.pull_requests[int(variables["id"].removeprefix("PR_"))]
                after = int(variables["endCursor"])
                return _data(node={"statusCheckRollup": rollup(known.checks, after)})
            case "PullRequestDetails" | "PullRequestChecks" | "PullRequestThreads":
                return self._details(variables["number"], int(variables.get("after") or 0))
            case "PullRequestBehind":
                compared = {"behindBy": self.pull_requests[variables["number"]].behind}
                return _data(repository={"pullRequest": {"baseRef": {"compare": compared}}})
            case "PullRequestId":
                return self._by_number(variables["number"])
            case "ThreadReply" | "ThreadResolve":
                return self._change_thread(name, variables["thread"], variables)
            case "PossibleReviewers":
                users = {"nodes": [{"login": login} for login in self.people]}
                viewer = {"login": self.owner}
                return _data(viewer=viewer, repository={"assignableUsers": users})
            case "PossibleTeams":
                return self._list_teams()
            case _ if name in MUTATIONS:
                self.changes.append((name, variables))
                number = int(variables["id"].removeprefix("PR_"))
                self.pull_requests[number] = self.pull_requests[number].after(name, variables)
                return _data(done={"clientMutationId": None})
            case _:
                return {"errors": [{"message": f"the stub knows no {name}"}]}

    def _repository(self, owner: str) -> Json | None:
        own = self._described(self.owner)
        if owner == self.owner:
            return own
        return {**self._described(owner), "parent": own} if owner in self.forks else None

    def _described(self, owner: str) -> Json:
        return {
            "id": f"R_{owner}",
            "name": self.name,
            "url": f"https://{self.host}/{owner}/{self.name}",
            "owner": {"login": owner},
            "viewerPermission": "ADMIN",
            "hasIssuesEnabled": True,
            "hasWikiEnabled": False,
            "isPrivate": False,
            "defaultBranchRef": {"name": "main"},
            "parent": None,
        }

    def _create(self, wanted: Json) -> Json:
        owner, _, head = wanted["headRefName"].rpartition(":")
        made = PullRequest(
            number=next(self._numbers),
            head=head,
            owner=owner or self.owner,
            base=wanted["baseRefName"],
            title=wanted["title"],
            body=wanted["body"],
            draft=wanted["draft"],
        )
        self.pull_requests[made.number] = made
        return self._to_json(made)

    def _to_json(self, known: PullRequest) -> Json:
        place = f"https://{self.host}/{self.owner}/{self.moved_to or self.name}"
        return known.to_json(self.owner, self.name, place)

    def _by_number(self, number: int) -> Json:
        known = self.pull_requests.get(number)
        if known is not None:
            return _data(repository={"pullRequest": self._to_json(known)})
        gone = f"Could not resolve to a PullRequest with the number of {number}."
        error = {"type": "NOT_FOUND", "path": ["repository", "pullRequest"], "message": gone}
        return {"data": {"repository": {"pullRequest": None}}, "errors": [error]}

    def _on_branch(self, head: Any, variables: Json) -> Json:
        wanted = variables.get("states") or variables.get("state") or ["OPEN", "CLOSED", "MERGED"]
        fitting = [known for known in self.pull_requests.values() if known.head == head]
        nodes = [self._to_json(known) for known in reversed(fitting) if known.state in wanted]
        page = {"hasNextPage": False, "endCursor": ""}
        found = {"totalCount": len(nodes), "nodes": nodes, "pageInfo": page}
        return {"pullRequests": found, "defaultBranchRef": {"name": "main"}}

    def _details(self, number: int, after: int) -> Json:
        known = self.pull_requests.get(number)
        if known is None:
            return self._by_number(number)
        fields = self._to_json(known)
        fields["viewerCanEnableAutoMerge"] = self.allows_auto_merge and known.state == "OPEN"
        fields["mergeQueue"] = {"id": "Q"} if self.has_queue else None
        fields["commits"] = rollup(known.checks, after)
        fields["reviewThreads"] = known.threads_to_json(self.owner, after)
        fields |= known.conversation_to_json(self.owner)
        errors = [self._hide(fields, name) for name in self.unreadable]
        allowed = {
            "mergeCommitAllowed": "merge" in self.methods,
            "squashMergeAllowed": "squash" in self.methods,
            "rebaseMergeAllowed": "rebase" in self.methods,
        }
        repository = {"viewerPermission": self.permission, "isArchived": False, **allowed}
        found = _data(repository={**repository, "pullRequest": fields})
        return {**found, "errors": errors} if errors else found

    @staticmethod
    def _hide(fields: Json, name: str) -> Json:
        """Remove a field that the token may not read; return the error for it."""
        path = ["repository", "pullRequest", name]
        if name == "statusCheckRollup":
            fields["commits"] = {"nodes": [{"commit": {name: None}}]}
            path = ["repository", "pullRequest", "commits", "nodes", 0, "commit", name]
        else:
            fields[name] = None
        message = "Resource not accessible by personal access token"
        return {"type": "FORBIDDEN", "path": path, "message": message}

    def _change_thread(self, name: str, thread_id: str, variables: Json) -> Json:
        if not thread_id.startswith("T_"):
            gone = f"Could not resolve to a node with the global id of '{thread_id}'"
            return {"data": None, "errors": [{"type": "NOT_FOUND", "message": gone}]}
        self.changes.append((name, variables))
        number = int(thread_id.split("_")[1])
        known = self.pull_requests[number]
        self.pull_requests[number] = known.after_in_thread(name, thread_id, variables)
        return _data(done={"id": thread_id})

    def _list_teams(self) -> Json:
        if not self.teams:
            message = f"Could not resolve to an Organization with the login of '{self.owner}'."
            return {"data": {"organization": None}, "errors": [{"message": message}]}
        teams = {"nodes": [{"slug": slug} for slug in self.teams]}
        return _data(organization={"teams": teams})

    async def _answer_rest(self, request: web.Request, asked: Json) -> web.StreamResponse:
        path = request.path.removeprefix("/api/v3")
        parts = path.strip("/").split("/")
        if request.method != "GET":
            return self._change(request.method, path, parts, asked)
        match parts:
            case ["repos", _, _, "pulls", number] if int(number) in self.pull_requests:
                return self._conditional(request, self.pull_requests[int(number)].to_rest())
            case ["repos", _, _, "commits", commit, "check-runs" | "status" as kind]:
                return self._checks_of(request, commit, is_classic=kind == "status")
            case ["repos", _, _, "actions", "jobs", number]:
                job = self.jobs.get(int(number), Job(has_log=False))
                return web.json_response({"id": int(number), "steps": list(job.steps)})
            case ["repos", _, _, "actions", "jobs", number, "logs"]:
                raise web.HTTPFound(f"https://api.github.com/stored-logs/{number}")
            case ["stored-logs", number]:
                return await self._send_log(request, self.jobs.get(int(number)))
            case ["repos", *_]:
                return web.json_response({"message": "Not Found"}, status=404)
        return web.json_response({"login": self.owner}, headers={"X-Oauth-Scopes": "repo"})

    def _conditional(self, request: web.Request, found: Json) -> web.Response:
        etag = f'W/"{zlib.crc32(json.dumps(found).encode()):x}"'
        if request.headers.get("If-None-Match") == etag:
            self.unchanged.append(request.path)
            return web.Response(status=304, headers={"ETag": etag})
        return web.json_response(found, headers={"ETag": etag})

    def _checks_of(self, request: web.Request, commit: str, *, is_classic: bool) -> web.Response:
        if "statusCheckRollup" in self.unreadable:
            return web.json_response({"message": "Resource not accessible"}, status=403)
        found = [
            check.to_json(place)
            for known in self.pull_requests.values()
            if known.commit == commit
            for place, check in enumerate(known.checks)
            if bool(check.classic) == is_classic
        ]
        if is_classic:
            pending = any(status["state"] in ("PENDING", "EXPECTED") for status in found)
            state = "pending" if pending or not found else "success"
            answer = {"total_count": len(found), "state": state, "statuses": found[:100]}
            return self._conditional(request, answer)
        runs = [{**run, "status": run["status"].lower()} for run in found[:100]]
        return self._conditional(request, {"total_count": len(found), "check_runs": runs})

    async def _send_log(self, request: web.Request, job: Job | None) -> web.StreamResponse:
        if job is None or not job.has_log:
            return web.json_response({"message": "Gone"}, status=410)
        response = web.StreamResponse()
        await response.prepare(request)
        with suppress(ConnectionError):
            for _ in range(job.repeat):
                await response.write(job.log)
            await response.write(job.end)
            await response.write_eof()
        return response

    def _change(self, method: str, path: str, parts: Sequence[str], body: Json) -> web.Response:
        if method == "DELETE":
            return self._delete_branch(path, "/".join(parts[6:]))
        unknown = {*body.get("reviewers", ())} - {*self.people}
        if unknown or {*body.get("team_reviewers", ())} - {*self.teams}:
            message = "Reviews may only be requested from collaborators. One or more is not one."
            return web.json_response({"message": message}, status=422)
        self.changes.append((f"{method} {path}", body))
        if parts[-1] == "comments":
            known = self.pull_requests[int(parts[4])]
            said = [*known.conversation, Comment(body["body"], self.owner, minute=59)]
            self.pull_requests[known.number] = replace(known, conversation=said)
            return web.json_response({"id": 1}, status=201)
        number = int(parts[4])
        asked = [*body["reviewers"], *(f"{self.owner}/{slug}" for slug in body["team_reviewers"])]
        self.pull_requests[number] = replace(self.pull_requests[number], asked=asked)
        return web.json_response({"number": number}, status=201)

    def _delete_branch(self, path: str, branch: str) -> web.Response:
        if branch not in self.branches:
            return web.json_response({"message": "Reference does not exist"}, status=422)
        if branch in self.protected:
            return web.json_response({"message": "Cannot delete this branch"}, status=422)
        self.branches.remove(branch)
        self.changes.append((f"DELETE {path}", {}))
        return web.Response(status=204)


def _data(**found: Any) -> Json:
    return {"data": found}
