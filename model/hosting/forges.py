"""Find the hosting service of a repository."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from model.domain.resources import HostingService
from model.git.hosts import choose_remote, list_hosting_remotes
from model.hosting.forge import Forge
from model.hosting.github.forge import GitHub
from model.hosting.gitlab.forge import GitLab

_FORGES: Final[Mapping[HostingService, Forge]] = {"github": GitHub(), "gitlab": GitLab()}


async def find_forge(path: Path) -> Forge:
    """Return the service that hosts the repository of the working tree at `path`.

    If none of its remotes is on a known host, this is GitHub, whose program explains what to do.
    """
    remote = choose_remote(await list_hosting_remotes(path))
    return _FORGES[remote.service if remote else "github"]


def is_pull_request_url(url: str) -> bool:
    """Whether this is the URL of a pull request of any known service."""
    return any(forge.is_pull_request_url(url) for forge in _FORGES.values())
