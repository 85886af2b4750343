"""A stub of GitHub: the part of its GraphQL and REST APIs that `gh` 2.23 uses, on loopback behind a
proxy, with a self-signed certificate.

`HTTPS_PROXY` and `SSL_CERT_FILE` direct `gh` here; the proxy connects every host name to the stub,
so there are no DNS lookups and no traffic leaves the machine.
"""

import asyncio
import itertools
import re
import ssl
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web

Json = dict[str, Any]

TOKEN = "dummy"
HOSTS = ("github.com", "api.github.com", "git.corp.example")
_OPERATION = re.compile(r"\b(?:query|mutation) (\w+)")


@dataclass(frozen=True)
class Check:
    """A check run (`conclusion` is empty while it runs), or with `classic` a commit status."""

    conclusion: str = ""
    classic: str = ""

    def to_json(self, number: int) -> Json:
        if self.classic:
            context = {"context": f"ci/{number}", "state": self.classic, "targetUrl": ""}
            return {"__typename": "StatusContext", **context, "createdAt": "2026-01-01T00:00:00Z"}
        return {
            "__typename": "CheckRun",
            "name": f"check {number}",
            "checkSuite": {"workflowRun": {"workflow": {"name": "CI"}}},
            "status": "COMPLETED" if self.conclusion else "IN_PROGRESS",
            "conclusion": self.conclusion,
            "startedAt": "2026-01-01T00:00:00Z",
            "completedAt": "2026-01-01T00:01:00Z",
            "detailsUrl": "",
        }


@dataclass(frozen=True)
class PullRequest:
    """A pull request at the service."""

    number: int = 7
    head: str = "otter"
    owner: str = "ada"
    """Owner of the repository of the head; it is a fork if that is not the stub's owner."""
    base: str = "main"
    title: str = ""
    body: str = ""
    state: str = "OPEN"
    draft: bool = False
    decision: str = ""
    asked: Sequence[str] = ()
    """Logins asked for a review; `organization/team` for a team."""
    reviewed: Sequence[str] = ()
    """Logins that wrote a review."""
    checks: Sequence[Check] = ()

    def to_json(self, repository: "HostingStub") -> Json:
        """All fields that `gh` uses; it reads those that it requested."""
        place = f"https://{repository.host}/{repository.owner}/{repository.name}"
        return {
            "id": f"PR_{self.number}",
            "number": self.number,
            "url": f"{place}/pull/{self.number}",
            "title": self.title,
            "body": self.body,
            "state": self.state,
            "isDraft": self.draft,
            "baseRefName": self.base,
            "headRefName": self.head,
            "headRepository": {"id": "R_1", "name": repository.name},
            "headRepositoryOwner": {"id": "U_1", "login": self.owner, "name": ""},
            "isCrossRepository": self.owner != repository.owner,
            "reviewDecision": self.decision,
            "reviewRequests": {"nodes": [_requested(login) for login in self.asked]},
            "latestReviews": {"nodes": [_review(login) for login in self.reviewed]},
            "statusCheckRollup": _rollup(self.checks, after=0),
        }


def _requested(login: str) -> Json:
    if "/" in login:
        organization, slug = login.split("/")
        team = {"organization": {"login": organization}, "name": slug, "slug": slug}
        return {"requestedReviewer": {"__typename": "Team", **team}}
    return {"requestedReviewer": {"__typename": "User", "login": login}}


def _review(login: str) -> Json:
    who = {"author": {"login": login}, "authorAssociation": "MEMBER"}
    return {**who, "submittedAt": "2026-01-01T00:00:00Z", "body": "hm", "state": "COMMENTED"}


def _rollup(checks: Sequence[Check], after: int) -> Json:
    """The checks of the last commit, in pages of a hundred as at the service."""
    if not checks:
        return {"nodes": [{"commit": {"statusCheckRollup": None}}]}
    page = checks[after : after + 100]
    more = {"hasNextPage": after + 100 < len(checks), "endCursor": str(after + 100)}
    nodes = [check.to_json(after + place) for place, check in enumerate(page)]
    contexts = {"nodes": nodes, "pageInfo": more}
    return {"nodes": [{"commit": {"statusCheckRollup": {"contexts": contexts}}}]}


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
        await asyncio.to_thread(make_certificate, self.certificate, key)
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(self.certificate, key)
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._answer)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
            async with _proxy_to(runner.addresses[0][1]) as self.proxy:
                yield
        finally:
            await runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        asked = await request.json() if request.method == "POST" else {}
        found = _OPERATION.search(asked.get("query", ""))
        name = found[1] if found else f"{request.method} {request.path}"
        self.asked.append(name)
        if self.silent:
            await asyncio.Event().wait()
        if request.headers.get("Authorization") != f"token {TOKEN}":
            return web.json_response({"message": "Bad credentials"}, status=401)
        if self.status != 200:
            error = {"message": self.message}
            return web.json_response(error, status=self.status)
        if self.refused and self.refused in asked.get("query", ""):
            return web.json_response({"data": None, "errors": [{"message": self.message}]})
        if found is None:
            return web.json_response({"login": self.owner}, headers={"X-Oauth-Scopes": "repo"})
        return web.json_response(self._queried(name, asked["query"], asked.get("variables") or {}))

    def _queried(self, name: str, query: str, variables: Json) -> Json:
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
                return _data(node={"statusCheckRollup": _rollup(known.checks, after)})
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
        return made.to_json(self)

    def _by_number(self, number: int) -> Json:
        known = self.pull_requests.get(number)
        if known is not None:
            return _data(repository={"pullRequest": known.to_json(self)})
        gone = f"Could not resolve to a PullRequest with the number of {number}."
        error = {"type": "NOT_FOUND", "path": ["repository", "pullRequest"], "message": gone}
        return {"data": {"repository": {"pullRequest": None}}, "errors": [error]}

    def _on_branch(self, head: Any, variables: Json) -> Json:
        wanted = variables.get("states") or variables.get("state") or ["OPEN", "CLOSED", "MERGED"]
        fitting = [known for known in self.pull_requests.values() if known.head == head]
        nodes = [known.to_json(self) for known in reversed(fitting) if known.state in wanted]
        page = {"hasNextPage": False, "endCursor": ""}
        found = {"totalCount": len(nodes), "nodes": nodes, "pageInfo": page}
        return {"pullRequests": found, "defaultBranchRef": {"name": "main"}}


def make_certificate(certificate: Path, key: Path) -> None:
    """Create a self-signed certificate for all `HOSTS`."""
    names = ",".join(f"DNS:{host}" for host in HOSTS)
    subprocess.run(
        [
            "openssl", "req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=stub",
            "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
            "-addext", f"subjectAltName={names}", "-keyout", str(key), "-out", str(certificate),
        ],
        check=True, capture_output=True, timeout=60,
    )  # fmt: skip


@asynccontextmanager
async def _proxy_to(port: int) -> AsyncIterator[str]:
    """Run a proxy that connects all `CONNECT` requests to a port on loopback; yields its URL."""
    open_ends: set[asyncio.StreamWriter] = set()

    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        to_stub, from_stub = await asyncio.open_connection("127.0.0.1", port)
        open_ends.update((writer, from_stub))
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await asyncio.gather(_carry(reader, from_stub), _carry(to_stub, writer))

    server = await asyncio.start_server(connect, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for end in open_ends:
            end.close()


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while piece := await reader.read(1 << 16):
            writer.write(piece)
            await writer.drain()
    writer.close()


def _data(**found: Any) -> Json:
    return {"data": found}
