"""Find the remotes on the hosting service, with their owner and repository.

Understands every URL form that git accepts: ssh, scp-like, https, git, with and without `.git`,
with ports and credentials, abbreviated by `url.<base>.insteadOf`, and with host aliases from
`~/.ssh/config`. Self-hosted installations are those in the configuration of `gh`; only the host
names are read from that file.
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
from model.git.error_messages import without_credentials
from model.git.repositories import list_remotes
from model.git.run import git

PUBLIC_HOST: Final = "github.com"
_HOST_ALIASES: Final = {"ssh.github.com": PUBLIC_HOST, "www.github.com": PUBLIC_HOST}
_URL: Final = re.compile(
    r"(?:git\+)?(?:ssh|https?|git)(?:\+ssh)?://(?:[^/@\s]*@)?(?P<host>[^/:@\s]+)(?::\d*)?/(?P<path>\S+)",
    re.IGNORECASE,
)
_SSH_URL: Final = re.compile(r"(?:git\+)?ssh(?:\+\w+)?://", re.IGNORECASE)
_SCP_LIKE: Final = re.compile(r"(?:[^/:@\s]+@)?(?P<host>[^/:@\s]+):(?P<path>(?!//)\S+)")
_REPOSITORY: Final = re.compile(r"/*(?P<owner>[\w.-]+)/+(?P<repo>[\w.-]+?)(?:\.git)?/*")
_HOST_ENTRY: Final = re.compile(r"""^["']?([A-Za-z0-9][A-Za-z0-9.-]*)["']?\s*:""", re.MULTILINE)
_MAX_CHARACTERS: Final = 1_000_000


async def list_hosting_remotes(root: Path) -> list[HostingRemote]:
    """Return the remotes on the hosting service, their URLs without credentials."""
    hosts, aliases = await asyncio.gather(
        asyncio.to_thread(read_known_hosts), _read_url_aliases(root)
    )
    found = []
    for remote in await list_remotes(root):
        url = _expand_alias(remote.url, aliases)
        repository = parse_repository_url(url, hosts) or parse_repository_url(
            await _resolve_ssh_host(url), hosts
        )
        if repository is not None:
            owner, repo = repository
            url = clean_line(without_credentials(url))
            found.append(HostingRemote(name=remote.name, url=url, owner=owner, repo=repo))
    return found


def parse_repository_url(url: str, hosts: frozenset[str]) -> tuple[str, str] | None:
    """Return the owner and repository of a URL, or `None` if its host is not among `hosts`."""
    found = _split_url(url)
    if found is None:
        return None
    host = found["host"].lower()
    if _HOST_ALIASES.get(host, host) not in hosts:
        return None
    repository = _REPOSITORY.fullmatch(unquote(found["path"]))
    return (repository["owner"], repository["repo"]) if repository else None


def read_known_hosts(environ: Mapping[str, str] = os.environ) -> frozenset[str]:
    """Return the public host and the hosts that `gh` is signed in to. Reads a file; blocks."""
    hosts = {PUBLIC_HOST, environ.get("GH_HOST", "").lower()} - {""}
    home = environ.get("XDG_CONFIG_HOME") or f"{environ.get('HOME', '')}/.config"
    path = Path(environ.get("GH_CONFIG_DIR") or f"{home}/gh") / "hosts.yml"
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            text = file.read(_MAX_CHARACTERS)
    except (OSError, ValueError):
        return frozenset(hosts)
    return frozenset(hosts | {host.lower() for host in _HOST_ENTRY.findall(text)})


def _split_url(url: str) -> re.Match[str] | None:
    return _URL.fullmatch(url) or (None if "://" in url else _SCP_LIKE.fullmatch(url))


async def _resolve_ssh_host(url: str) -> str:
    """Return the URL with its ssh host alias replaced by the real host name."""
    found = _split_url(url)
    if found is None or ("://" in url and not _SSH_URL.match(url)):
        return url
    start, end = found.span("host")
    return url[:start] + await ssh.resolve_host(found["host"]) + url[end:]


async def _read_url_aliases(root: Path) -> dict[str, str]:
    """Return URL abbreviations and what they expand to, from git's `url.<base>.insteadOf`."""
    found = await git(root, "config", "-z", "--get-regexp", r"^url\..*\.insteadof$", check=False)
    entries = (entry.partition("\n") for entry in found.fields)
    return {
        abbreviation: key.removeprefix("url.")[: -len(".insteadof")]
        for key, _, abbreviation in entries
        if abbreviation
    }


def _expand_alias(url: str, aliases: dict[str, str]) -> str:
    matching = [abbreviation for abbreviation in aliases if url.startswith(abbreviation)]
    if not matching:
        return url
    longest = max(matching, key=len)
    return aliases[longest] + url.removeprefix(longest)
