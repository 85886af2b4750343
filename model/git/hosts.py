"""Find the remotes on hosting services, with their owner and repository.

Understands every URL form that git accepts: ssh, scp-like, https, git, with and without `.git`,
with ports and credentials, abbreviated by `url.<base>.insteadOf`, and with host aliases from
`~/.ssh/config`. Which hosts there are is in `known_hosts.py`.
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import unquote

from model.base.text import clean_line
from model.domain.hosting import HostingRemote, HostingService
from model.git import ssh
from model.git.error_messages import without_credentials
from model.git.known_hosts import find_service, read_known_hosts
from model.git.repositories import list_remotes
from model.git.run import git

_HOST_ALIASES: Final = {
    "ssh.github.com": "github.com",
    "www.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "www.gitlab.com": "gitlab.com",
}
_URL: Final = re.compile(
    r"(?:git\+)?(?:ssh|https?|git)(?:\+ssh)?://(?:[^/@\s]*@)?(?P<host>[^/:@\s]+)(?::\d*)?/(?P<path>\S+)",
    re.IGNORECASE,
)
_SSH_URL: Final = re.compile(r"(?:git\+)?ssh(?:\+\w+)?://", re.IGNORECASE)
_SCP_LIKE: Final = re.compile(r"(?:[^/:@\s]+@)?(?P<host>[^/:@\s]+):(?P<path>(?!//)\S+)")
_NAME: Final = re.compile(r"[\w.-]+")
_PULL_REQUESTS: Final[Mapping[HostingService, str]] = {
    "github": "pull",
    "gitlab": "-/merge_requests",
}


async def list_hosting_remotes(root: Path) -> list[HostingRemote]:
    """Return the remotes on hosting services, their URLs without credentials."""
    hosts, aliases, remotes = await asyncio.gather(
        asyncio.to_thread(read_known_hosts), _read_url_aliases(root), list_remotes(root)
    )
    found = []
    for remote in remotes:
        url = _expand_alias(remote.url, aliases)
        parsed = parse_repository_url(url, hosts) or parse_repository_url(
            await _resolve_ssh_host(url), hosts
        )
        if parsed is not None:
            shown = clean_line(without_credentials(url))
            found.append(parsed.model_copy(update={"name": remote.name, "url": shown}))
    return found


async def find_remote_host(root: Path) -> str:
    """Return the host of the remote that is asked, of any kind; empty if none is on a host."""
    aliases, remotes = await asyncio.gather(_read_url_aliases(root), list_remotes(root))
    by_name = {remote.name: _expand_alias(remote.url, aliases) for remote in remotes}
    url = by_name.get("upstream") or by_name.get("origin") or next(iter(by_name.values()), "")
    found = _split_url(await _resolve_ssh_host(url))
    return clean_line(found["host"].lower()) if found else ""


def choose_remote(remotes: Sequence[HostingRemote]) -> HostingRemote | None:
    """Return the remote where issues and merge requests are: `upstream`, `origin` or the first."""
    by_name = {remote.name: remote for remote in remotes}
    return by_name.get("upstream") or by_name.get("origin") or next(iter(remotes), None)


def parse_repository_url(url: str, hosts: Mapping[str, HostingService]) -> HostingRemote | None:
    """Return host, owner and repository of a URL, or `None` if it is on no hosting service.

    Args:
        url: A URL in any form that git accepts.
        hosts: The known hosts with their services.
    """
    found = _split_url(url)
    if found is None:
        return None
    host = found["host"].lower()
    host = _HOST_ALIASES.get(host, host)
    service = find_service(host, hosts)
    names = [name for name in unquote(found["path"]).split("/") if name]
    if service is None or len(names) < 2 or (service == "github" and len(names) > 2):
        return None
    names[-1] = names[-1].removesuffix(".git")
    if not all(_NAME.fullmatch(name) and name.strip(".") for name in names):
        return None
    page = f"https://{host}/{'/'.join(names)}/{_PULL_REQUESTS[service]}/"
    return HostingRemote(
        name="", url=url, owner="/".join(names[:-1]), repo=names[-1],
        service=service, host=host, pull_requests_url=page,
    )  # fmt: skip


def identify_url(url: str) -> str:
    """Return what is equal for the URLs of one repository, however it is reached."""
    found = _split_url(url)
    return (
        url
        if found is None
        else f"{found['host'].lower()}/{found['path'].strip('/')}".removesuffix(".git")
    )


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
