"""Which repository at the hosting service a remote's address leads to."""

from pathlib import Path

import pytest

from model.git.hosts import hosting_remotes, known_hosts, place_of
from tests.model.git.made_repository import Repository

HOSTS = frozenset({"github.com", "git.corp.example"})


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
def test_every_form_of_an_address_is_understood(url: str) -> None:
    assert place_of(url, HOSTS) == ("ada", "loom")


@pytest.mark.parametrize(
    "url",
    [
        "",
        "/srv/github.com/ada/loom.git",
        "../loom",
        "file:///srv/loom.git",
        "https://gitlab.com/ada/loom.git",
        "https://github.com.evil.example/ada/loom",
        "https://evil.example/github.com/ada/loom",
        "https://github.com@evil.example/ada/loom",
        "https://github.com/ada",
        "https://github.com/ada/loom/tree/main",
        "git@github.com:loom.git",
    ],
)
def test_other_addresses_lead_to_no_repository(url: str) -> None:
    assert place_of(url, HOSTS) is None


def test_a_name_with_dots_keeps_them() -> None:
    assert place_of("git@github.com:ada/loom.github.io.git", HOSTS) == ("ada", "loom.github.io")


def test_the_hosts_are_those_that_gh_knows(tmp_path: Path) -> None:
    text = 'github.com:\n    user: ada\n    oauth_token: x\n"git.corp.example":\n    user: ada\n'
    (tmp_path / "hosts.yml").write_text(text)
    assert known_hosts({"GH_CONFIG_DIR": str(tmp_path)}) == HOSTS
    assert known_hosts(
        {"GH_CONFIG_DIR": str(tmp_path / "none"), "GH_HOST": "GIT.corp.example"}
    ) == (HOSTS)


async def test_a_shortened_address_is_written_out_as_git_does(repository: Repository) -> None:
    repository.git("config", "url.https://github.com/.insteadOf", "gh:")
    repository.git("config", "url.git@github.com:ada/.insteadOf", "gh:ada/")
    repository.git("remote", "add", "origin", "gh:ada/loom")
    repository.git("remote", "add", "fork", "gh:bob/loom")
    repository.git("remote", "add", "disk", "/srv/loom")
    found = [(r.name, r.owner, r.repo, r.url) for r in await hosting_remotes(repository.root)]
    assert found == [
        ("origin", "ada", "loom", "git@github.com:ada/loom"),
        ("fork", "bob", "loom", "https://github.com/bob/loom"),
    ]
