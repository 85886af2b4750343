"""Find the hosting service of a repository."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model.base.git_layout import find_git_directories
from model.domain.hosting import HostingService
from model.git.hosts import choose_remote, list_hosting_remotes
from model.git.known_hosts import read_known_hosts
from model.hosting.forge import Forge
from model.hosting.github.forge import GitHub
from model.hosting.gitlab.forge import GitLab

_MAX_AGE: Final = 600.0
"""Seconds after which the remotes are read again; settings of git and ssh outside the repository
may have changed."""
_MAX_ENTRIES: Final = 1000


Signs = tuple[int, dict[str, HostingService]]
"""When the repository's configuration changed, in nanoseconds, and the known hosts."""


@dataclass(frozen=True, slots=True)
class _Found:
    forge: Forge
    signs: Signs
    at: float
    """On the monotonic clock."""


_found: Final[dict[Path, _Found]] = {}
"""By working tree: pull requests are polled once a minute, and reading remotes starts git."""

_FORGES: Final[Mapping[HostingService, Forge]] = {"github": GitHub(), "gitlab": GitLab()}


async def find_forge(path: Path) -> Forge:
    """Return the service that hosts the repository of the working tree at `path`.

    If none of its remotes is on a known host, this is GitHub, whose program explains what to do.
    """
    signs = await asyncio.to_thread(_read_signs, path)
    known = _found.get(path)
    now = time.monotonic()
    if known is not None and known.signs == signs and now - known.at < _MAX_AGE:
        return known.forge
    remote = choose_remote(await list_hosting_remotes(path))
    forge = _FORGES[remote.service if remote else "github"]
    if len(_found) >= _MAX_ENTRIES:
        _found.clear()
    _found[path] = _Found(forge, signs, now)
    return forge


def _read_signs(path: Path) -> Signs:
    """Return by what a change of the service shows; the time is 0 without a configuration."""
    directories = find_git_directories(path)
    try:
        changed = (directories.common_dir / "config").stat().st_mtime_ns if directories else 0
    except OSError:
        changed = 0
    return changed, read_known_hosts()


def is_pull_request_url(url: str) -> bool:
    """Whether this is the URL of a pull request of any known service."""
    return any(forge.is_pull_request_url(url) for forge in _FORGES.values())
