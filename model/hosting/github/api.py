"""Requests to GitHub's API, through `gh api`."""

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from model.base.errors import SpinneyError
from model.git.hosts import list_hosting_remotes
from model.git.repositories import list_remotes
from model.hosting.fields import read_json
from model.hosting.github.failures import find_wait, no_remote_error, to_error
from model.hosting.github.gh import gh, run_gh
from model.hosting.program import Output

Json = dict[str, Any]

_NOT_MODIFIED: Final = 304
_DOWNLOAD_TIMEOUT: Final = 300.0
"""Seconds; a log may have hundreds of megabytes."""


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository on GitHub or on a GitHub Enterprise host."""

    host: str
    owner: str
    name: str

    @property
    def endpoint(self) -> str:
        """The beginning of its paths in the REST API."""
        return f"repos/{self.owner}/{self.name}"


@dataclass(frozen=True, slots=True)
class PullRequestPlace:
    """The repository of a pull request, and its number there."""

    repository: Repository
    number: int


@dataclass(frozen=True, slots=True)
class GraphQLAnswer:
    """The data that a query returned, and the errors for what is missing in it."""

    data: Json
    errors: Sequence[Json] = ()

    def is_refused(self, name: str) -> bool:
        """Whether a field of this name could not be read."""
        return any(name in (error.get("path") or ()) for error in self.errors)


@dataclass(frozen=True, slots=True)
class RestAnswer:
    """An answer of the REST API."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    """By lower-case name."""
    body: str = ""

    @property
    def is_unchanged(self) -> bool:
        """Whether a conditional request found nothing new."""
        return self.status == _NOT_MODIFIED

    async def parse(self) -> Any:
        """Return the body's JSON. Raises `backend_error`."""
        return await _parse(self.body)


async def find_repository(path: Path, named: str = "") -> Repository:
    """Return the repository that `gh` finds for a working tree, or that has the given URL."""
    if not named and "GH_REPO" not in os.environ and not await list_remotes(path):
        # `gh` would first ask to be signed in, which does not help.
        raise no_remote_error()
    options = [named] if named else []
    found = await _parse(await gh(path, "repo", "view", *options, "--json=url"))
    url = found.get("url") if isinstance(found, dict) else None
    parts = urlsplit(url if isinstance(url, str) else "")
    names = parts.path.strip("/").split("/")
    if not parts.netloc or len(names) != 2:
        raise SpinneyError("gh did not return the URL of the repository.", "backend_error")
    return Repository(parts.netloc, *names)


async def locate_repository(path: Path) -> Repository:
    """Return the repository of a working tree, without a request if its remotes leave no doubt."""
    if "GH_REPO" not in os.environ:
        remotes = await list_hosting_remotes(path)
        found = [remote for remote in remotes if remote.service == "github"]
        if len(found) == 1:
            return Repository(found[0].host, found[0].owner, found[0].repo)
    return await find_repository(path)


def parse_place(url: str) -> PullRequestPlace:
    """Return the repository and number in the URL of a pull request, which must be one."""
    parts = urlsplit(url)
    owner, name, _, number = parts.path.strip("/").split("/")
    return PullRequestPlace(Repository(parts.netloc, owner, name), int(number))


async def query(
    path: Path, host: str, text: str, *, partial: bool = False, jq: str = "", **variables: Any
) -> GraphQLAnswer:
    """Run a GraphQL query or mutation.

    With `partial`, data that is not complete is returned with its errors; without data, or without
    `partial`, they are raised. `gh` applies the filter `jq` to a success, so that texts that are
    too long are cut before they count for the size of its output.
    """
    options = [f"--jq={jq}"] if jq else []
    result = await run_gh(
        path, "api", "graphql", "--include", f"--hostname={host}", "--input=-", *options,
        stdin=json.dumps({"query": text, "variables": variables}),
    )  # fmt: skip
    answer = _split(result)
    found = await read_json(answer.body)
    data = found.get("data") if isinstance(found, dict) else None
    errors = found.get("errors") if isinstance(found, dict) else None
    errors = [e for e in errors if isinstance(e, dict)] if isinstance(errors, list) else []
    if isinstance(data, dict) and (not errors or (partial and any(data.values()))):
        return GraphQLAnswer(data, errors)
    raise _to_error(host, result, answer, "\n".join(_describe(error) for error in errors))


async def request(
    path: Path,
    host: str,
    endpoint: str,
    *,
    method: str = "GET",
    body: Json | None = None,
    version: str = "",
    jq: str = "",
    accept: Sequence[int] = (),
) -> RestAnswer:
    """Send a request to the REST API.

    Args:
        path: The directory that `gh` runs in.
        host: The host of the repository.
        endpoint: A path such as `repos/ada/engine/pulls/7`.
        method: The HTTP method.
        body: Sent as JSON.
        version: The `etag` of a former answer: if nothing has changed since, the answer says so
            and does not count for the rate limit.
        jq: A filter that `gh` applies to a success.
        accept: Statuses of failures to return instead of raising an error.
    """
    options = [f"--header=If-None-Match: {version}"] if version else []
    if jq:
        options.append(f"--jq={jq}")
    if body is not None:
        options.append("--input=-")
    result = await run_gh(
        path, "api", endpoint, "--include", f"--hostname={host}", f"--method={method}", *options,
        stdin=json.dumps(body) if body is not None else "",
    )  # fmt: skip
    answer = _split(result)
    if result.code == 0 or answer.is_unchanged:
        return answer
    if answer.status in accept and not _is_limited(answer):
        return answer
    raise _to_error(host, result, answer, "")


async def download(path: Path, host: str, endpoint: str, take: Callable[[bytes], None]) -> None:
    """Pass the body of an answer on piece by piece."""
    result = await run_gh(
        path, "api", endpoint, f"--hostname={host}", timeout=_DOWNLOAD_TIMEOUT, take=take
    )
    if result.code != 0:
        raise to_error(result.err, result.code, host=host)


def _split(result: Output) -> RestAnswer:
    """Split the output of `gh api --include`: status line, headers, an empty line, the body."""
    head, _, body = result.out.partition("\n\n")
    first, *lines = head.split("\n")
    words = first.split(" ", 2)
    if not first.startswith("HTTP/") or len(words) < 2 or not words[1][:3].isdecimal():
        return RestAnswer(0)
    pairs = (line.partition(":") for line in lines)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    return RestAnswer(int(words[1][:3]), headers, body)


def _is_limited(answer: RestAnswer) -> bool:
    """Whether a rate limit is exceeded; the message of a secondary one need not say so."""
    if answer.status not in (403, 429):
        return False
    return find_wait(answer.headers, time.time()) is not None or "rate limit" in answer.body


def _to_error(host: str, result: Output, answer: RestAnswer, named: str) -> SpinneyError:
    """Return the error for a failed request; `named` are the errors in its answer."""
    wait = find_wait(answer.headers, time.time())
    message = named or result.err or answer.body
    if _is_limited(answer):
        message = f"rate limit\n{message}"
    return to_error(message, result.code, wait, host)


def _describe(error: Json) -> str:
    is_limit = error.get("type") == "RATE_LIMITED"
    return f"{'rate limit: ' if is_limit else ''}{error.get('message') or 'unknown error'}"


async def _parse(text: str) -> Any:
    found = await read_json(text)
    if found is None:
        raise SpinneyError("gh returned unexpected data.", "backend_error")
    return found
