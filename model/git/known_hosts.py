"""Which hosts are hosting services: the public ones, and those that `gh` and `glab` are signed in
to. Of their configuration only the host names are read.
"""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from model.domain.hosting import HostingService

_GH_HOST: Final = re.compile(r"""^["']?([A-Za-z0-9][A-Za-z0-9.-]*)["']?\s*:""", re.MULTILINE)
_GLAB_HOST: Final = re.compile(r"""( +)["']?([A-Za-z0-9][A-Za-z0-9.-]*)["']?\s*:\s*""")
_SCHEME: Final = re.compile(r"https?://")
_MAX_CHARACTERS: Final = 1_000_000


def read_known_hosts(environ: Mapping[str, str] = os.environ) -> dict[str, HostingService]:
    """Return the hosts that may be sent a request, with their services. Reads files; blocks."""
    hosts: dict[str, HostingService] = {}
    for host in ("gitlab.com", *_read_gitlab_hosts(environ)):
        hosts[host.lower()] = "gitlab"
    for host in ("github.com", *_read_github_hosts(environ)):
        hosts[host.lower()] = "github"
    return hosts


def find_service(host: str, hosts: Mapping[str, HostingService]) -> HostingService | None:
    """Return the service of a host.

    One that is called `gitlab` is recognized, too, so that the message can say how to sign in; no
    request is sent to it, as `glab` adds the token in `GITLAB_TOKEN` to requests to any host.
    """
    return hosts.get(host) or ("gitlab" if "gitlab" in host.split(".")[:-1] else None)


def _read_github_hosts(environ: Mapping[str, str]) -> Iterator[str]:
    yield from filter(None, [environ.get("GH_HOST")])
    folder = environ.get("GH_CONFIG_DIR") or _config_home(environ) / "gh"
    yield from _GH_HOST.findall(_read(Path(folder) / "hosts.yml"))


def _read_gitlab_hosts(environ: Mapping[str, str]) -> Iterator[str]:
    for name in ("GITLAB_HOST", "GITLAB_URI", "GL_HOST"):
        if given := environ.get(name):
            yield _SCHEME.sub("", given, count=1).partition("/")[0].partition(":")[0]
    if folder := environ.get("GLAB_CONFIG_DIR"):
        yield from _find_glab_hosts(_read(Path(folder) / "config.yml"))
        return
    home = Path(environ.get("HOME", ""))
    # glab reads one of them; which one, if several exist, depends on its version.
    for folders in (
        home / ".config",
        _config_home(environ),
        home / "Library" / "Application Support",
    ):
        yield from _find_glab_hosts(_read(folders / "glab-cli" / "config.yml"))


def _find_glab_hosts(text: str) -> Iterator[str]:
    """Return the keys of the mapping `hosts`: the lines below it with the smallest indentation."""
    indentation: str | None = None
    is_inside = False
    for line in text.splitlines():
        if line[:1] not in (" ", "", "#"):
            is_inside = line.rstrip() == "hosts:"
        elif is_inside and (found := _GLAB_HOST.fullmatch(line)):
            indentation = indentation or found[1]
            if found[1] == indentation:
                yield found[2]


def _config_home(environ: Mapping[str, str]) -> Path:
    return Path(environ.get("XDG_CONFIG_HOME") or Path(environ.get("HOME", "")) / ".config")


def _read(path: Path) -> str:
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            return file.read(_MAX_CHARACTERS)
    except (OSError, ValueError):
        return ""
