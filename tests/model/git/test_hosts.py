"""Which repository of the hosting service a remote's URL refers to."""

import os
import shutil
from pathlib import Path

import pytest

from model.domain.hosting import HostingService
from model.git import ssh
from model.git.hosts import list_hosting_remotes, parse_repository_url
from model.git.known_hosts import read_known_hosts
from tests.model.git.repository import Repository

HOSTS: dict[str, HostingService] = {
    "gitlab.com": "gitlab",
    "code.corp.example": "gitlab",
    "github.com": "github",
    "git.corp.example": "github",
}


def parse(url: str) -> tuple[str, str] | None:
    found = parse_repository_url(url, HOSTS)
    return None if found is None else (found.owner, found.repo)


@pytest.mark.parametrize(
    "url",
    [
        "git@github.com:ada/loom.git",
        "git@github.com:ada/loom",
        "git@github.com:/ada/loom.git",
        "github.com:ada/loom.git",
        "ssh://git@github.com/ada/loom.git",
        "ssh://git@github.com:22/ada/loom",
        "ssh://git@ssh.github.com:443/ada/loom.git",
        "git+ssh://git@github.com/ada/loom",
        "https://github.com/ada/loom.git",
        "https://github.com/ada/loom",
        "https://github.com/ada/loom/",
        "https://www.github.com/ada/loom",
        "https://ada:secret@GitHub.com:443/ada/loom.git",
        "http://github.com/ada/loom",
        "git://github.com/ada/loom.git",
        "https://git.corp.example:8443/ada/loom.git",
        "git@git.corp.example:ada/loom.git",
    ],
)
def test_every_form_of_url_is_parsed(url: str) -> None:
    assert parse(url) == ("ada", "loom")


@pytest.mark.parametrize(
    "url",
    [
        "",
        "/srv/github.com/ada/loom.git",
        "../loom",
        "file:///srv/loom.git",
        "https://codeberg.org/ada/loom.git",
        "https://gitlab.com/loom.git",
        "https://gitlab.com/../loom",
        "https://github.com.evil.example/ada/loom",
        "https://evil.example/github.com/ada/loom",
        "https://github.com@evil.example/ada/loom",
        "https://github.com/ada",
        "https://github.com/ada/loom/tree/main",
        "git@github.com:loom.git",
    ],
)
def test_other_urls_refer_to_no_repository(url: str) -> None:
    assert parse_repository_url(url, HOSTS) is None


def test_a_name_with_dots_keeps_them() -> None:
    assert parse("git@github.com:ada/loom.github.io.git") == ("ada", "loom.github.io")


@pytest.mark.parametrize(
    ("url", "service", "host", "owner", "page"),
    [
        (
            "git@gitlab.com:group/sub/deep/loom.git", "gitlab", "gitlab.com", "group/sub/deep",
            "https://gitlab.com/group/sub/deep/loom/-/merge_requests/",
        ),
        (
            "ssh://git@altssh.gitlab.com:443/group/loom.git", "gitlab", "gitlab.com", "group",
            "https://gitlab.com/group/loom/-/merge_requests/",
        ),
        (
            "https://code.corp.example/group/loom/", "gitlab", "code.corp.example", "group",
            "https://code.corp.example/group/loom/-/merge_requests/",
        ),
        (
            "https://gitlab.other.example/group/loom", "gitlab", "gitlab.other.example", "group",
            "https://gitlab.other.example/group/loom/-/merge_requests/",
        ),
        (
            "https://ssh.github.com/ada/loom", "github", "github.com", "ada",
            "https://github.com/ada/loom/pull/",
        ),
    ],
)  # fmt: skip
def test_service_owner_and_pages_are_known(
    url: str, service: str, host: str, owner: str, page: str
) -> None:
    found = parse_repository_url(url, HOSTS)
    assert found is not None
    assert (found.service, found.host, found.owner, found.repo) == (service, host, owner, "loom")
    assert found.pull_requests_url == page


def test_the_hosts_are_those_that_gh_and_glab_know(tmp_path: Path) -> None:
    text = 'github.com:\n    user: ada\n    oauth_token: x\n"git.corp.example":\n    user: ada\n'
    (tmp_path / "hosts.yml").write_text(text)
    (tmp_path / "config.yml").write_text(
        "# hosts\ngit_protocol: ssh\nhosts:\n    # Of one host\n    gitlab.com:\n"
        "        token: !!null x\n        api_host: elsewhere.example\n\n"
        "    Code.corp.example:\n        token: y\n"
        "aliases:\n    ci.example: pipeline ci\n"
    )
    folders = {"GH_CONFIG_DIR": str(tmp_path), "GLAB_CONFIG_DIR": str(tmp_path)}
    assert read_known_hosts(folders) == HOSTS
    nowhere = {name: str(tmp_path / "none") for name in folders}
    public = {"gitlab.com": "gitlab", "github.com": "github"}
    assert read_known_hosts(nowhere) == public
    given = {"GH_HOST": "GIT.corp.example", "GITLAB_HOST": "https://code.corp.example:8443/x"}
    assert read_known_hosts({**nowhere, **given}) == HOSTS


def test_the_configuration_of_glab_is_found_where_glab_searches(tmp_path: Path) -> None:
    folder = tmp_path / "settings" / "glab-cli"
    folder.mkdir(parents=True)
    (folder / "config.yml").write_text("hosts:\n  code.corp.example:\n    token: y\n")
    environ = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "settings")}
    assert "code.corp.example" in read_known_hosts(environ)
    other = tmp_path / ".config" / "glab-cli"
    other.mkdir(parents=True)
    (other / "config.yml").write_text("hosts:\n  git.corp.example:\n    token: y\n")
    assert {"code.corp.example", "git.corp.example"} <= read_known_hosts(environ).keys()


async def test_a_shortened_url_is_expanded_as_by_git(repository: Repository) -> None:
    repository.git("config", "url.https://github.com/.insteadOf", "gh:")
    repository.git("config", "url.git@github.com:ada/.insteadOf", "gh:ada/")
    repository.git("remote", "add", "origin", "gh:ada/loom")
    repository.git("remote", "add", "fork", "gh:bob/loom")
    repository.git("remote", "add", "disk", "/srv/loom")
    found = [(r.name, r.owner, r.repo, r.url) for r in await list_hosting_remotes(repository.root)]
    assert found == [
        ("origin", "ada", "loom", "git@github.com:ada/loom"),
        ("fork", "bob", "loom", "https://github.com/bob/loom"),
    ]


@pytest.fixture
def ssh_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only settings that ssh reads, instead of those in the account's home directory."""
    program = shutil.which("ssh")
    if program is None:
        pytest.skip("needs ssh")
    settings = tmp_path / "ssh config"
    wrapper = tmp_path / "bin" / "ssh"
    wrapper.parent.mkdir()
    wrapper.write_text(f'#!/bin/sh\nexec {program} -F "{settings}" "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{wrapper.parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(ssh, "_cache", {})
    return settings


async def test_an_ssh_host_alias_is_resolved(repository: Repository, ssh_settings: Path) -> None:
    ssh_settings.write_text(
        "Host work-gh\n  HostName github.com\n  User git\n"
        "Host *-port\n  HostName ssh.github.com\n  Port 443\n"
        "Host work-lab\n  HostName gitlab.com\n"
    )
    for name, url in {
        "scp": "git@work-gh:ada/loom.git",
        "url": "ssh://git@work-gh/ada/loom",
        "port": "gh-port:ada/loom",
        "lab": "git@work-lab:ada/loom",
        "web": "https://work-gh/ada/loom",
        "plain": "git@unknown.example:ada/loom",
    }.items():
        repository.git("remote", "add", name, url)
    found = {r.name: (r.owner, r.repo, r.url) for r in await list_hosting_remotes(repository.root)}
    assert found == {
        "scp": ("ada", "loom", "git@work-gh:ada/loom.git"),
        "url": ("ada", "loom", "ssh://work-gh/ada/loom"),
        "port": ("ada", "loom", "gh-port:ada/loom"),
        "lab": ("ada", "loom", "git@work-lab:ada/loom"),
    }


async def test_resolved_hosts_are_cached(repository: Repository, ssh_settings: Path) -> None:
    ssh_settings.write_text("Host work-gh\n  HostName github.com\n")
    assert await ssh.resolve_host("work-gh") == "github.com"
    ssh_settings.unlink()
    assert await ssh.resolve_host("work-gh") == "github.com"


@pytest.mark.parametrize("name", ["-oProxyCommand=touch x", "a;b", "", "$(touch x)", "-G"])
async def test_invalid_host_names_are_never_passed_to_ssh(
    name: str, tmp_path: Path, ssh_settings: Path
) -> None:
    ssh_settings.write_text(f'Match exec "touch {tmp_path}/ran"\n  HostName github.com\n')
    assert await ssh.resolve_host(name) == name
    assert not (tmp_path / "ran").exists()


async def test_hanging_ssh_settings_time_out(
    ssh_settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ssh_settings.write_text('Match exec "sleep 300"\n  HostName github.com\n')
    monkeypatch.setattr(ssh, "_TIMEOUT", 0.2)
    assert await ssh.resolve_host("work-gh") == "work-gh"


async def test_without_ssh_a_host_is_not_resolved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ssh, "_cache", {})
    monkeypatch.setenv("PATH", str(tmp_path))
    assert await ssh.resolve_host("work-gh") == "work-gh"
