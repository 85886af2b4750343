"""Opening, saving and clearing the pull request of a worktree, and errors of `gh`."""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from model.agents.catalog import Catalog
from model.base.errors import SpinneyError
from model.commands.git import git_push
from model.commands.preferences import update_preferences
from model.commands.pull_requests import (
    clear_worktree_pr,
    open_pull_request,
    save_worktree_pr,
)
from model.commands.sessions import create_session, send_chat_message, stop_generation
from model.domain.events.worktrees import WorktreeUpdated
from model.domain.worktrees import Worktree
from model.runtime.workspace import Workspace
from tests.conftest import Eventually
from tests.fakes import FakeBackend, silence
from tests.model.git.git_project import GitProject
from tests.model.hosting.conftest import FakeGh

URL = "https://github.com/ada/engine/pull/7"
CREATED = f"\n{URL}\n"


def find_call(gh: FakeGh, command: str) -> dict[str, Any]:
    return next(call for call in gh.calls if " ".join(call["args"][:2]) == command)


def find_args(gh: FakeGh, command: str) -> list[str]:
    return [str(argument) for argument in find_call(gh, command)["args"]]


async def test_the_branch_is_pushed_and_its_pull_request_opened_and_saved(
    place: GitProject, worktree: Worktree, fake_gh: FakeGh
) -> None:
    fake_gh.set_result("pr create", CREATED)
    opened = await open_pull_request(place.workspace, worktree.id)
    assert (opened.pr_number, opened.pr_url) == (7, URL)
    known = place.now(worktree)
    assert (known.pr_number, known.pr_url) == (7, URL)
    head = place.in_worktree(worktree).git("rev-parse", "HEAD")
    assert place.repository.git("ls-remote", "origin", "refs/heads/otter").startswith(head)


async def test_title_and_body_come_from_a_single_commit(
    place: GitProject, worktree: Worktree, fake_gh: FakeGh
) -> None:
    fake_gh.set_result("pr create", CREATED)
    await open_pull_request(place.workspace, worktree.id)
    args = find_args(fake_gh, "pr create")
    assert {"--base=main", "--title=Teach the otter to swim"} <= set(args)
    assert "--draft" not in args
    assert find_call(fake_gh, "pr create")["input"] == "It was about time."
    assert find_call(fake_gh, "pr create")["tty"] is False


async def test_several_commits_are_listed_in_the_body(
    place: GitProject, worktree: Worktree, fake_gh: FakeGh
) -> None:
    fake_gh.set_result("pr create", CREATED)
    place.in_worktree(worktree).commit("more.txt", "two\n")
    await open_pull_request(place.workspace, worktree.id)
    assert "--title=Teach the otter to swim" in find_args(fake_gh, "pr create")
    assert (
        find_call(fake_gh, "pr create")["input"] == "- Teach the otter to swim\n- Change more.txt"
    )


async def test_a_given_title_and_body_are_passed_unchanged(
    place: GitProject, worktree: Worktree, fake_gh: FakeGh
) -> None:
    fake_gh.set_result("pr create", CREATED)
    await open_pull_request(place.workspace, worktree.id, title="--web", body="", draft=True)
    assert {"--title=--web", "--draft"} <= set(find_args(fake_gh, "pr create"))
    assert find_call(fake_gh, "pr create")["input"] == ""


async def test_a_pull_request_that_is_already_open_is_saved(
    place: GitProject, worktree: Worktree, fake_gh: FakeGh
) -> None:
    stderr = f'a pull request for branch "otter" into branch "main" already exists:\n{URL}\n'
    fake_gh.set_result("pr create", err=stderr, code=1)
    opened = await open_pull_request(place.workspace, worktree.id)
    assert opened.pr_number == 7
    assert place.now(worktree).pr_url == URL


def get_current(workspace: Workspace, worktree: Worktree) -> Worktree:
    return workspace.store.state.worktrees[worktree.id]


async def get_refusal(place: GitProject, worktree: Worktree) -> SpinneyError:
    with pytest.raises(SpinneyError) as refused:
        await open_pull_request(place.workspace, worktree.id)
    assert place.now(worktree).pr_number is None
    return refused.value


async def test_nothing_is_pushed_if_gh_cannot_open_a_pull_request(
    place: GitProject, worktree: Worktree, fake_gh: FakeGh
) -> None:
    fake_gh.set_result("repo view", err="please run: gh auth login", code=4)
    error = await get_refusal(place, worktree)
    assert error.message.startswith("gh is not signed in to GitHub.")
    assert place.repository.git("ls-remote", "origin", "refs/heads/otter") == ""


async def test_a_branch_without_commits_of_its_own_is_refused(
    place: GitProject, fake_gh: FakeGh
) -> None:
    error = await get_refusal(place, await place.add("heron"))
    assert error.message == (
        "There is nothing to propose: 'heron' has no commits that 'main' lacks. Commit first."
    )
    assert fake_gh.calls == []


async def test_a_repository_without_a_remote_is_refused(
    place: GitProject, worktree: Worktree, fake_gh: FakeGh
) -> None:
    place.repository.git("remote", "remove", "origin")
    error = await get_refusal(place, worktree)
    assert error.message.startswith("The repository has no remote. Add one with")


async def test_a_branch_is_pushed_to_the_remote_that_has_it(
    place: GitProject, worktree: Worktree, fake_gh: FakeGh
) -> None:
    fake_gh.set_result("pr create", CREATED)
    git = place.repository.git
    git("remote", "rename", "origin", "upstream")
    fork = place.repository.root.parent / "fork.git"
    git("init", "--quiet", "--bare", str(fork))
    git("remote", "add", "fork", str(fork))
    refused = await get_refusal(place, worktree)
    assert refused.message.startswith("None of the remotes (upstream, fork) is called 'origin'.")
    git("push", "--quiet", "fork", "otter")
    head = place.in_worktree(worktree).commit("more.txt", "two\n")
    await open_pull_request(place.workspace, worktree.id)
    assert git("ls-remote", "fork", "refs/heads/otter").startswith(head)
    assert git("ls-remote", "upstream", "refs/heads/otter") == ""


async def test_the_name_of_the_remote_is_removed_from_the_base(
    place: GitProject, worktree: Worktree, fake_gh: FakeGh
) -> None:
    fake_gh.set_result("pr create", CREATED)
    based = place.now(worktree).model_copy(update={"base_branch": "origin/main"})
    await place.workspace.store.accept(WorktreeUpdated(worktree=based))
    await open_pull_request(place.workspace, worktree.id)
    assert "--base=main" in find_args(fake_gh, "pr create")


async def test_a_base_that_was_never_pushed_is_refused(
    place: GitProject, worktree: Worktree, fake_gh: FakeGh
) -> None:
    stderr = "pull request create failed: GraphQL: Base ref must be a branch (createPullRequest)\n"
    fake_gh.set_result("pr create", err=stderr, code=1)
    error = await get_refusal(place, worktree)
    assert error.message.startswith("'main' is not a branch on GitHub")


async def test_a_rejected_push_fails_with_gits_message(
    place: GitProject, worktree: Worktree, fake_gh: FakeGh
) -> None:
    hook = place.repository.root.parent / "origin.git" / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'no otters here' >&2\nexit 1\n")
    hook.chmod(0o755)
    error = await get_refusal(place, worktree)
    assert error.message.startswith("The branch could not be pushed: ")
    assert "no otters here" in error.message
    assert [call["args"][:2] for call in fake_gh.calls] == [["repo", "view"]]


ERRORS = {
    "To get started with GitHub CLI, please run:  gh auth login": (
        "gh is not signed in to GitHub.",
        "backend_unavailable",
    ),
    "HTTP 401: Bad credentials (https://api.github.com/graphql)": (
        "gh is not signed in to GitHub.",
        "backend_unavailable",
    ),
    "none of the git remotes configured for this repository point to a known GitHub host": (
        "The repository has no remote on GitHub.",
        "conflict",
    ),
    "GraphQL: ada does not have the correct permissions to execute `CreatePullRequest`": (
        "The account that gh is signed in with does not have permission",
        "forbidden",
    ),
    "GraphQL: Could not resolve to a Repository with the name 'ada/engine'.": (
        "There is no such repository on GitHub",
        "not_found",
    ),
    "error connecting to api.github.com": ("GitHub cannot be reached.", "backend_unavailable"),
    "GraphQL: API rate limit exceeded for user": (
        "GitHub's rate limit for this account is exceeded",
        "rate_limit_error",
    ),
    "pull request create failed: something new": (
        "pull request create failed: something new",
        "backend_error",
    ),
}


@pytest.mark.parametrize("stderr", ERRORS)
async def test_each_error_of_gh_has_a_message_and_a_type(
    place: GitProject, worktree: Worktree, fake_gh: FakeGh, stderr: str
) -> None:
    fake_gh.set_result("pr create", err=stderr + "\n", code=1)
    error = await get_refusal(place, worktree)
    sentence, kind = ERRORS[stderr]
    assert error.message.startswith(sentence)
    assert error.error_type == kind


async def test_the_error_for_a_missing_gh_says_how_to_install_it(
    place: GitProject, worktree: Worktree, no_gh: None
) -> None:
    error = await get_refusal(place, worktree)
    assert error.message.startswith("The program 'gh' is not installed. Install it")
    assert error.error_type == "backend_unavailable"


async def test_the_real_gh_without_an_account_says_that_it_is_not_signed_in(
    place: GitProject, worktree: Worktree, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if shutil.which("gh") is None:
        pytest.skip("needs gh")
    for name in [name for name in os.environ if name.startswith(("GH_", "GITHUB_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GH_CONFIG_DIR", str(tmp_path / "gh config"))
    error = await get_refusal(place, worktree)
    assert error.message.startswith("gh is not signed in to GitHub.")


async def test_a_saved_pull_request_is_polled_immediately(
    place: GitProject, worktree: Worktree, fake_gh: FakeGh, eventually: Eventually
) -> None:
    fake_gh.set_pull_request(state="OPEN", statusCheckRollup=[{"state": "PENDING"}])
    await save_worktree_pr(place.workspace, worktree.id, 7, URL)
    await eventually(lambda: place.now(worktree).cached_pr_status == "open")
    assert place.now(worktree).cached_check_status == "pending"
    assert find_args(fake_gh, "pr view")[2] == URL


async def test_a_cleared_pull_request_leaves_nothing_behind(
    place: GitProject, worktree: Worktree, fake_gh: FakeGh, eventually: Eventually
) -> None:
    await save_worktree_pr(place.workspace, worktree.id, 7, URL)
    await eventually(lambda: place.now(worktree).cached_pr_status == "open")
    await clear_worktree_pr(place.workspace, worktree.id)
    known = place.now(worktree)
    assert (known.pr_number, known.pr_url, known.cached_pr_status) == (None, None, None)
    assert known.dismissed_pr == 7
    await save_worktree_pr(place.workspace, worktree.id, 7, URL)
    assert place.now(worktree).dismissed_pr is None


@pytest.mark.parametrize(("number", "url"), [(0, URL), (7, "--web"), (7, "https://x/y")])
async def test_an_invalid_pull_request_is_not_saved(
    place: GitProject, worktree: Worktree, number: int, url: str
) -> None:
    with pytest.raises(SpinneyError, match="Invalid field"):
        await save_worktree_pr(place.workspace, worktree.id, number, url)


async def test_a_merged_pull_request_archives_its_worktree(
    place: GitProject, worktree: Worktree, fake_gh: FakeGh, eventually: Eventually
) -> None:
    fake_gh.set_pull_request(state="MERGED")
    await save_worktree_pr(place.workspace, worktree.id, 7, URL)
    await eventually(lambda: place.now(worktree).archived_at is not None)
    assert Path(worktree.path).is_dir()


async def test_a_merged_pull_request_archives_nothing_if_the_preference_is_off(
    place: GitProject, worktree: Worktree, fake_gh: FakeGh, eventually: Eventually
) -> None:
    await update_preferences(place.workspace, {"auto_archive_on_pr_merged": False})
    fake_gh.set_pull_request(state="MERGED")
    await save_worktree_pr(place.workspace, worktree.id, 7, URL)
    await eventually(lambda: place.now(worktree).cached_pr_status == "merged")
    assert place.now(worktree).archived_at is None


async def test_a_merged_worktree_is_archived_only_when_its_session_has_ended(
    place: GitProject,
    worktree: Worktree,
    fake_gh: FakeGh,
    backend: FakeBackend,
    eventually: Eventually,
) -> None:
    backend.script = silence
    session = await create_session(place.workspace, worktree.id, execution_mode="build")
    await send_chat_message(place.workspace, session.id, "go on")
    fake_gh.set_pull_request(state="MERGED")
    await save_worktree_pr(place.workspace, worktree.id, 7, URL)
    await eventually(lambda: place.now(worktree).cached_pr_status == "merged")
    assert place.now(worktree).archived_at is None
    await stop_generation(place.workspace, session.id)
    await eventually(lambda: place.now(worktree).archived_at is not None)


async def test_a_pending_archival_survives_a_restart(
    place: GitProject,
    worktree: Worktree,
    fake_gh: FakeGh,
    backend: FakeBackend,
    eventually: Eventually,
) -> None:
    backend.script = silence
    session = await create_session(place.workspace, worktree.id, execution_mode="build")
    await send_chat_message(place.workspace, session.id, "go on")
    fake_gh.set_pull_request(state="MERGED")
    await save_worktree_pr(place.workspace, worktree.id, 7, URL)
    await eventually(lambda: place.now(worktree).cached_pr_status == "merged")
    assert place.now(worktree).archive_when_idle
    await place.workspace.stop()
    again = Workspace(place.workspace.directories, {backend.name: backend}, Catalog())
    await again.start()
    try:
        await Eventually(again.bus)(lambda: get_current(again, worktree).archived_at is not None)
        assert not get_current(again, worktree).archive_when_idle
    finally:
        await again.stop()


async def test_a_push_for_a_pull_request_goes_to_its_head_branch(
    place: GitProject, worktree: Worktree, fake_gh: FakeGh
) -> None:
    fake_gh.set_pull_request(headRefName="proposal", headRepository={"name": "engine"},
                  headRepositoryOwner={"login": "ada"}, isCrossRepository=False)  # fmt: skip
    pushed = await git_push(place.workspace, worktree.path, pr_number=7)
    assert pushed.success, pushed.output
    head = place.in_worktree(worktree).git("rev-parse", "HEAD")
    assert place.repository.git("ls-remote", "origin", "refs/heads/proposal").startswith(head)


async def test_a_push_to_a_fork_that_is_not_a_remote_is_refused(
    place: GitProject, worktree: Worktree, fake_gh: FakeGh
) -> None:
    fake_gh.set_pull_request(headRefName="proposal", headRepository={"name": "engine"},
                  headRepositoryOwner={"login": "ada"}, isCrossRepository=True)  # fmt: skip
    with pytest.raises(SpinneyError, match="comes from ada/engine, which is not one of"):
        await git_push(place.workspace, worktree.path, pr_number=7)


async def test_a_push_for_a_deleted_pull_request_is_refused(
    place: GitProject, worktree: Worktree, fake_gh: FakeGh
) -> None:
    stderr = "GraphQL: Could not resolve to a PullRequest with the number of 7. (repository)"
    fake_gh.set_result("pr view", err=stderr, code=1)
    with pytest.raises(SpinneyError, match="The pull request no longer exists"):
        await git_push(place.workspace, worktree.path, pr_number=7)
