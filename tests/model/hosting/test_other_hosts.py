"""A repository on a host other than github.com: what is said names the host."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.git.hosts import find_remote_host
from model.hosting.github import api, pull_requests
from model.hosting.github.failures import account_command, to_error
from model.hosting.github.forge import GitHub
from tests.model.git.repository import Repository
from tests.model.hosting.conftest import FakeGh

HOST = "ghe.corp.test"
URL = f"https://{HOST}/ada/engine/pull/7"
UNKNOWN = (
    "none of the git remotes configured for this repository point to a known GitHub host. "
    "To tell gh about a new GitHub host, please use `gh auth login`"
)
SIGNED_OUT = "To get started with GitHub CLI, please run:  gh auth login"
SENTENCE = (
    f"gh is not signed in to {HOST}. Run 'gh auth login --hostname {HOST}' in a terminal, then try "
    f"again. If it is a GitLab host, run 'glab auth login --hostname {HOST}' instead."
)


@pytest.mark.parametrize("said", [UNKNOWN, SIGNED_OUT])
@pytest.mark.parametrize(
    "ask",
    [
        api.find_repository,
        lambda root: GitHub().check_access(root),
        lambda root: pull_requests.fetch_pull_request_state(root, 7),
        lambda root: pull_requests.fetch_pull_request_state(root, URL),
        lambda root: api.query(root, HOST, "query Otters { x }"),
        lambda root: api.request(root, HOST, "repos/ada/engine"),
        lambda root: api.download(root, HOST, "log", lambda _: None),
    ],
)
async def test_the_host_and_how_to_sign_in_there_are_named(
    repository: Repository, fake_gh: FakeGh, ask: Callable[[Path], Awaitable[object]], said: str
) -> None:
    repository.git("remote", "add", "origin", f"git@{HOST}:ada/engine.git")
    for command in ("repo view", "pr view", "Otters", "api repos/ada/engine", "api log"):
        fake_gh.set_result(command, err=f"{said}\n", code=4 if said == SIGNED_OUT else 1)
    with pytest.raises(SpinneyError) as raised:
        await ask(repository.root)
    assert raised.value.message == SENTENCE
    assert raised.value.error_type == "backend_unavailable"


@pytest.mark.parametrize(
    ("host", "said", "sentence"),
    [
        (HOST, "HTTP 502", f"GitHub at {HOST} has a problem at the moment. Try again"),
        (HOST, "dial tcp", f"GitHub at {HOST} cannot be reached."),
        (HOST, "HTTP 404", f"There is no such repository on GitHub at {HOST}, or"),
        ("github.com", "HTTP 502", "GitHub has a problem at the moment (see https://www.github"),
        ("github.com", SIGNED_OUT, "gh is not signed in to GitHub. Run 'gh auth login' in a"),
        ("", UNKNOWN, "The repository has no remote on GitHub. Add one with 'git remote add"),
        ("", SIGNED_OUT, "gh is not signed in to GitHub. Run 'gh auth login' in a terminal"),
    ],
)
def test_other_failures_name_the_host_as_well(host: str, said: str, sentence: str) -> None:
    assert to_error(said, 1, host=host).message.startswith(sentence)


@pytest.mark.parametrize(
    ("host", "commands"),
    [
        (HOST, (f"gh auth login --hostname {HOST}", f"gh auth refresh --hostname {HOST}")),
        ("github.com", ("gh auth login", "gh auth refresh")),
    ],
)
def test_commands_for_an_account_name_its_host(host: str, commands: tuple[str, str]) -> None:
    assert (account_command(host), account_command(host, "refresh")) == commands


@pytest.mark.parametrize(
    ("url", "host"),
    [
        (f"git@{HOST.upper()}:ada/engine.git", HOST),
        (f"ssh://git@{HOST}:2222/ada/engine", HOST),
        (f"https://user:secret@{HOST}/ada/engine.git", HOST),
        ("/srv/git/engine.git", ""),
    ],
)
async def test_the_host_of_the_remote_is_found(repository: Repository, url: str, host: str) -> None:
    repository.git("remote", "add", "backup", "https://backup.example/x/y.git")
    repository.git("remote", "add", "origin", url)
    assert await find_remote_host(repository.root) == host
