"""Which service a repository is at: by the hosts of its remotes, and as soon as one is known."""

from pathlib import Path

from model.hosting.forges import find_forge, is_pull_request_url
from tests.live.gitlab_stub import GitLabStub
from tests.model.git.repository import Repository


async def test_the_service_is_that_of_the_upstream_or_the_origin(
    repository: Repository, service: GitLabStub
) -> None:
    async def find() -> str:
        forge = await find_forge(repository.root)
        return f"{forge.name}: {forge.pull_request_name}"

    assert await find() == "GitHub: pull request"
    repository.git("remote", "add", "mirror", "https://gitlab.com/group/sub/engine.git")
    assert await find() == "GitLab: merge request"
    repository.git("remote", "add", "origin", "git@github.com:ada/engine.git")
    assert await find() == "GitHub: pull request"
    repository.git("remote", "add", "upstream", "ssh://git@gitlab.com/group/engine.git")
    assert await find() == "GitLab: merge request"


async def test_a_host_that_glab_has_just_signed_in_to_is_known_at_once(
    repository: Repository, service: GitLabStub, tmp_path: Path
) -> None:
    repository.git("remote", "add", "origin", "https://code.corp.example/group/engine.git")
    assert (await find_forge(repository.root)).name == "GitHub"
    file = tmp_path / "glab settings" / "config.yml"
    file.write_text("hosts:\n    code.corp.example:\n        token: x\n")
    assert (await find_forge(repository.root)).name == "GitLab"


def test_the_urls_of_both_services_are_accepted() -> None:
    assert is_pull_request_url("https://github.com/ada/engine/pull/7")
    assert is_pull_request_url("https://gitlab.com/group/sub/engine/-/merge_requests/7")
    assert not is_pull_request_url("https://codeberg.org/ada/engine/pulls/7")
