"""The commands of pull requests in a project at GitLab."""

from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.commands.git import git_push
from model.commands.pull_requests import open_pull_request, save_worktree_pr
from model.domain.worktrees import Worktree
from tests.conftest import Eventually
from tests.live.gitlab_stub import GitLabStub, merge_request
from tests.model.git.conftest import with_remote  # noqa: F401 - a fixture
from tests.model.git.git_project import GitProject
from tests.model.hosting.conftest import place, worktree  # noqa: F401 - fixtures

URL = "https://gitlab.com/group/sub/engine/-/merge_requests/7"


@pytest.fixture
def at_gitlab(place: GitProject, service: GitLabStub) -> GitProject:  # noqa: F811
    """A project whose `origin` is in a subgroup; pushes go to the bare repository."""
    git = place.repository.git
    git("config", "remote.origin.pushurl", git("config", "remote.origin.url"))
    git("config", "remote.origin.url", "git@gitlab.com:group/sub/engine.git")
    git("config", "core.sshCommand", "false")
    return place


async def test_a_merge_request_is_opened_and_followed(
    at_gitlab: GitProject,
    worktree: Worktree,  # noqa: F811
    service: GitLabStub,
    eventually: Eventually,
) -> None:
    service.answers["POST :p/merge_requests"] = (201, merge_request())
    service.set_merge_request(state="merged", head_pipeline={"status": "success"})
    opened = await open_pull_request(at_gitlab.workspace, worktree.id, title="Otters", body="")
    assert (opened.pr_number, opened.pr_url) == (7, URL)
    await eventually(lambda: at_gitlab.now(worktree).cached_pr_status == "merged")
    known = at_gitlab.now(worktree)
    assert (known.pr_url, known.cached_check_status) == (URL, "success")


async def test_a_merge_request_is_linked_by_its_url(
    at_gitlab: GitProject,
    worktree: Worktree,  # noqa: F811
) -> None:
    await save_worktree_pr(at_gitlab.workspace, worktree.id, 7, URL)
    assert at_gitlab.now(worktree).pr_url == URL
    with pytest.raises(SpinneyError, match="Invalid field 'prUrl'"):
        await save_worktree_pr(at_gitlab.workspace, worktree.id, 7, f"{URL}/diffs")


async def test_a_push_for_a_merge_request_goes_to_its_head(
    at_gitlab: GitProject,
    worktree: Worktree,  # noqa: F811
    service: GitLabStub,
) -> None:
    service.set_merge_request(source_branch="proposal")
    pushed = await git_push(at_gitlab.workspace, worktree.path, pr_number=7)
    assert pushed.success, pushed.output
    bare = at_gitlab.repository.git("config", "remote.origin.pushurl")
    head = at_gitlab.in_worktree(worktree).git("rev-parse", "HEAD")
    listed = at_gitlab.repository.git("ls-remote", str(Path(bare)), "refs/heads/proposal")
    assert listed.startswith(head)


async def test_a_project_of_the_same_name_in_a_group_is_not_taken_for_the_fork(
    at_gitlab: GitProject,
    worktree: Worktree,  # noqa: F811
    service: GitLabStub,
) -> None:
    """The fork of the person `sub` is `sub/engine`, which `group/sub/engine` ends with."""
    service.set_merge_request(source_project_id=2)
    service.answers["GET projects/2"] = {"path": "engine", "namespace": {"full_path": "sub"}}
    with pytest.raises(SpinneyError, match="Merge request #7 comes from sub/engine, which is not"):
        await git_push(at_gitlab.workspace, worktree.path, pr_number=7)
