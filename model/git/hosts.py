"""Which remotes lead to the hosting service, and to whose repository there.

Every form that git accepts is understood: ssh, scp-like, https, git, with and without `.git`, with
ports and credentials, shortened by `url.….insteadOf`, and with a host that only `~/.ssh/config`
explains. The service's own installations are those that `gh` knows; of its file only the host names
are read.
"""

import asyncio
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from model.base.text import clean_line
from model.domain.resources import HostingRemote
from model.git import ssh
from model.git.repositories import remotes
from model.git.run import git, without_credentials

PUBLIC_HOST: Final = "github.com"
_OTHER_NAMES: Final = {"ssh.github.com": PUBLIC_HOST, "www.github.com": PUBLIC_HOST}
_URL: Final = re.compile(
    r"(?:git\+)?(?:ssh|https?|git)(?:\+ssh)?://(?:[^/@\s]*@)?(?P<host>[^/:@\s]+)(?::\d*)?/(?P<path>\S+)",
    re.IGNORECASE,
)
_BY_SSH: Final = re.compile(r"(?:git\+)?ssh(?:\+\w+)?://", re.IGNORECASE)
_SCP_LIKE: Final = re.compile(r"(?:[^/:@\s]+@)?(?P<host>[^/:@\s]+):(?P<path>(?!//)\S+)")
_REPOSITORY: Final = re.compile(r"/*(?P<owner>[\w.-]+)/+(?P<repo>[\w.-]+?)(?:\.git)?/*")
_HOST_ENTRY: Final = re.compile(r"""^["']?([A-Za-z0-9][A-Za-z0-9.-]*)["']?\s*:""", re.MULTILINE)
_MOST_CHARACTERS: Final = 1_000_000


async def hosting_remotes(root: Path) -> list[HostingRemote]:
    """The repository's remotes at the hosting service; their URLs without credentials."""
    hosts, shortened = await asyncio.gather(asyncio.to_thread(known_hosts), _shortened(root))
    found = []
    for remote in await remotes(root):
        url = _whole(remote.url, shortened)
        place = place_of(url, hosts) or place_of(await _with_real_host(url), hosts)
        if place is not None:
            owner, repo = place
            url = clean_line(without_credentials(url))
            found.append(HostingRemote(name=remote.name, url=url, owner=owner, repo=repo))
    return found


def place_of(url: str, hosts: frozenset[str]) -> tuple[str, str] | None:
    """Owner and repository that a URL leads to; `None` where it leads to none of these hosts."""
    found = _parts(url)
    if found is None:
        return None
    host = found["host"].lower()
    if _OTHER_NAMES.get(host, host) not in hosts:
        return None
    repository = _REPOSITORY.fullmatch(unquote(found["path"]))
    return (repository["owner"], repository["repo"]) if repository else None


def known_hosts(environ: Mapping[str, str] = os.environ) -> frozenset[str]:
    """The public host and those that `gh` is signed in to. Reads a file; blocks."""
    hosts = {PUBLIC_HOST, environ.get("GH_HOST", "").lower()} - {""}
    home = environ.get("XDG_CONFIG_HOME") or f"{environ.get('HOME', '')}/.config"
    path = Path(environ.get("GH_CONFIG_DIR") or f"{home}/gh") / "hosts.yml"
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            text = file.read(_MOST_CHARACTERS)
    except (OSError, ValueError):
        return frozenset(hosts)
    return frozenset(hosts | {host.lower() for host in _HOST_ENTRY.findall(text)})


def _parts(url: str) -> re.Match[str] | None:
    return _URL.fullmatch(url) or (None if "://" in url else _SCP_LIKE.fullmatch(url))


async def _with_real_host(url: str) -> str:
    """The URL with the host that ssh goes to, should it be an alias of the person's settings."""
    found = _parts(url)
    if found is None or ("://" in url and not _BY_SSH.match(url)):
        return url
    start, end = found.span("host")
    return url[:start] + await ssh.real_host(found["host"]) + url[end:]


async def _shortened(root: Path) -> dict[str, str]:
    """What stands for which beginning of a URL, by git's own settings (`url.<base>.insteadOf`)."""
    found = await git(root, "config", "-z", "--get-regexp", r"^url\..*\.insteadof$", check=False)
    entries = (entry.partition("\n") for entry in found.fields)
    return {
        short: key.removeprefix("url.")[: -len(".insteadof")] for key, _, short in entries if short
    }


def _whole(url: str, shortened: dict[str, str]) -> str:
    fitting = [short for short in shortened if url.startswith(short)]
    if not fitting:
        return url
    longest = max(fitting, key=len)
    return shortened[longest] + url.removeprefix(longest)
