"""Send requests to GitLab's API by `glab`, GitLab's own program, and translate its errors.

`glab api` adds the credentials of the account that it is signed in with. The project and the host
are always named, because `glab` would choose them by rules of its own.
"""

import asyncio
import json
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlencode

from model.base.errors import SpinneyError
from model.hosting.gitlab.answers import Answer, Project
from model.hosting.gitlab.errors import describe, to_error, to_failure
from model.hosting.log_end import LogEnd
from model.hosting.program import HostingProgram, Output

Query = Sequence[tuple[str, str]]

PROGRAM: Final = HostingProgram(
    name="glab",
    website="https://gitlab.com/gitlab-org/cli",
    sign_in="glab auth login",
    environment={
        # Without its prefix, glab 1.74 and later know the variable as well, but write a warning
        # between the headers of an answer. Older ones know only the second name.
        "GLAB_NO_PROMPT": "true",
        "PROMPT_DISABLED": "true",
        "GLAB_CHECK_UPDATE": "false",
        "GLAB_SEND_TELEMETRY": "false",
        "GLAB_PAGER": "cat",
        "GLAB_DEBUG_HTTP": "false",
    },
    # Any value of DEBUG, also `false`, makes glab 1.53 write its calls of git to its errors.
    removed=frozenset({"DEBUG", "NO_PROMPT", "GITLAB_REPO", "GITLAB_GROUP"}),
)

_DOWNLOAD_TIMEOUT: Final = 300.0
"""Seconds; a log may have hundreds of megabytes."""
_STATUS_LINE: Final = re.compile(r"HTTP/[\d.]+ (\d{3})")
_FAILED: Final = re.compile(r"\(?HTTP (\d{3})\)?")


async def request(
    project: Project,
    method: str,
    endpoint: str,
    *,
    query: Query = (),
    body: Mapping[str, Any] | None = None,
    headers: Sequence[str] = (),
    accept: Collection[int] = (),
    missing: str = "",
) -> Answer:
    """Send a request and return the answer.

    Args:
        project: The project whose host is asked.
        method: GET, POST, PUT or DELETE.
        endpoint: Below `/api/v4/`, its parts quoted; or `graphql`.
        query: Query parameters.
        body: Is sent as JSON.
        headers: Further headers, as `Name: value`.
        accept: Statuses of errors that are returned and not raised.
        missing: The message for status 404, if the project itself exists.

    Raises:
        SpinneyError: A plain message for known errors, otherwise GitLab's own message.
    """
    target = f"{endpoint}?{urlencode(query)}" if query else endpoint
    args = ["api", target, f"--method={method}", f"--hostname={project.host}", "--include"]
    args += [f"--header={header}" for header in headers]
    if body is not None:
        args += ["--input=-", "--header=Content-Type: application/json"]
    given = "" if body is None else json.dumps(body)
    found = await PROGRAM.run(project.cwd, tuple(args), given)
    answer = _parse(found)
    if answer is None:
        raise to_failure(project, found)
    if answer.status < 400 or answer.status in accept:
        return answer
    raise to_error(project, answer, missing)


async def get_object(project: Project, endpoint: str, query: Query = (), missing: str = "") -> Any:
    """Return the object at an endpoint. Raises like `request`."""
    answer = await request(project, "GET", endpoint, query=query, missing=missing)
    return await answer.parse(dict)


async def get_pages(
    project: Project, endpoint: str, query: Query = (), *, pages: int, missing: str = ""
) -> tuple[list[Any], bool]:
    """Return the objects of up to `pages` pages of a list, and whether there are more."""
    rows: list[Any] = []
    for page in range(1, pages + 1):
        wanted = (*query, ("per_page", "100"), ("page", str(page)))
        answer = await request(project, "GET", endpoint, query=wanted, missing=missing)
        found = await answer.parse(list)
        rows += (row for row in found if isinstance(row, dict))
        if len(found) < 100:
            return rows, False
    return rows, True


async def get_page(project: Project, endpoint: str, query: Query, page: int) -> list[Any]:
    """Return the objects of one page of a list, also where long texts make it exceed the limit."""
    wanted = (*query, ("per_page", "100"), ("page", str(page)))
    answer = await request(project, "GET", endpoint, query=wanted)
    if not answer.is_cut:
        return [row for row in await answer.parse(list) if isinstance(row, dict)]
    rows: list[Any] = []
    for part in range(10 * (page - 1) + 1, 10 * page + 1):
        wanted = (*query, ("per_page", "10"), ("page", str(part)))
        answer = await request(project, "GET", endpoint, query=wanted)
        rows += (row for row in await answer.parse(list) if isinstance(row, dict))
    return rows


async def download(project: Project, endpoint: str, end: LogEnd, missing: str) -> None:
    """Pass a log on piece by piece. Raises like `request`."""
    args = ("api", endpoint, "--method=GET", f"--hostname={project.host}")
    found = await PROGRAM.run(project.cwd, args, timeout=_DOWNLOAD_TIMEOUT, take=end.take)
    if found.code == 0:
        return
    if status := _FAILED.search(found.err):
        # The body of an error is in the place of the log.
        body, _ = await asyncio.to_thread(end.finish)
        raise to_error(project, Answer(int(status[1]), body), missing)
    raise to_failure(project, found)


async def query_graphql(project: Project, query: str, variables: Mapping[str, Any]) -> Any:
    """Return the data of a GraphQL query. Raises like `request`, and for errors in the answer."""
    answer = await request(
        project, "POST", "graphql", body={"query": query, "variables": variables}
    )
    found = await answer.parse(dict)
    if errors := found.get("errors"):
        raise SpinneyError(f"GitLab refused the query: {describe(errors)}", "backend_error")
    return found.get("data") or {}


def _parse(found: Output) -> Answer | None:
    """Parse status, headers and body, which may follow warnings of the program."""
    text = found.out
    start = 0 if text.startswith("HTTP/") else text.find("\nHTTP/") + 1
    status = _STATUS_LINE.match(text, start)
    if status is None:
        return None
    head, _, body = text[start:].partition("\n\n")
    pairs = (line.partition(":") for line in head.splitlines()[1:])
    headers = {name.lower(): value.strip() for name, _, value in pairs}
    return Answer(int(status[1]), body, headers, found.is_cut)
