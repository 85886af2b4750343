"""Find the hosting service of a repository."""

from pathlib import Path
from typing import Final

from model.hosting.forge import Forge
from model.hosting.github.forge import GitHub

_GITHUB: Final = GitHub()
_FORGES: Final[tuple[Forge, ...]] = (_GITHUB,)


async def find_forge(path: Path) -> Forge:
    """Return the service that hosts the repository of the working tree at `path`.

    If none of its remotes is on a known host, this is GitHub, whose program explains what to do.
    """
    return _GITHUB


def is_pull_request_url(url: str) -> bool:
    """Whether this is the URL of a pull request of any known service."""
    return any(forge.is_pull_request_url(url) for forge in _FORGES)
