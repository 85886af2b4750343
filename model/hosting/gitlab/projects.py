"""Find the project at GitLab that a working tree belongs to, by its remotes."""

import asyncio
import re
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.domain.hosting import HostingRemote
from model.git.branch_tips import read_branch_tips
from model.git.hosts import choose_remote, list_hosting_remotes
from model.git.known_hosts import read_known_hosts
from model.hosting.gitlab.answers import Project
from model.hosting.gitlab.errors import signed_out_error

_URL: Final = re.compile(
    r"https?://(?P<host>[^\s/:]+)(?::\d+)?/(?P<path>[^\s/]+(?:/(?!-/)[^\s/]+)+?)(?:/-)?"
    r"/merge_requests/(?P<number>\d{1,9})"
)
_MAX_URL: Final = 2_000


def is_merge_request_url(url: str) -> bool:
    """Whether this is the URL of a merge request."""
    return _match_url(url) is not None


async def find_project(path: Path) -> Project:
    """Return the project that has the issues and merge requests. Raises if there is none."""
    remote = choose_remote(await _list_remotes(path))
    if remote is None:
        raise SpinneyError(
            "The repository has no remote on GitLab. Add one with 'git remote add origin <url>', "
            "then try again.",
            "conflict",
        )
    return await _to_project(path, remote)


async def find_source(path: Path, branch: str) -> Project:
    """Return the project that a branch was pushed to; the one of `find_project` if to none."""
    tips = (await read_branch_tips(path)).commits
    pushed = [
        remote
        for remote in await _list_remotes(path)
        if f"refs/remotes/{remote.name}/{branch}" in tips
    ]
    origin = next((remote for remote in pushed if remote.name == "origin"), None)
    if remote := origin or choose_remote(pushed):
        return await _to_project(path, remote)
    return await find_project(path)


async def locate(path: Path, merge_request: int | str) -> tuple[Project, int]:
    """Return the project and the number of a merge request, given its number or URL."""
    if isinstance(merge_request, int):
        return await find_project(path), merge_request
    found = _match_url(merge_request)
    if found is None:
        raise SpinneyError("This is not the URL of a merge request at GitLab.")
    project = Project(path, found["host"].lower(), found["path"])
    await _check_host(project.host)
    return project, int(found["number"])


def _match_url(url: str) -> re.Match[str] | None:
    return _URL.fullmatch(url) if len(url) <= _MAX_URL else None


async def _list_remotes(path: Path) -> list[HostingRemote]:
    return [remote for remote in await list_hosting_remotes(path) if remote.service == "gitlab"]


async def _to_project(path: Path, remote: HostingRemote) -> Project:
    await _check_host(remote.host)
    return Project(path, remote.host, f"{remote.owner}/{remote.repo}")


async def _check_host(host: str) -> None:
    """Raise for a host that `glab` has no account at; only its name says that it is GitLab."""
    if (await asyncio.to_thread(read_known_hosts)).get(host) != "gitlab":
        raise signed_out_error(host)
