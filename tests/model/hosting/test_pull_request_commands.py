"""A worktree's pull request: opened by `gh`, remembered, followed, and what can go wrong."""

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
from model.domain.events import WorktreeUpdated
from model.domain.resources import Worktree
from model.runtime.workspace import Workspace
from tests.conftest import Eventually
from tests.fakes import FakeBackend, silence
from tests.model.git.place import Place
from tests.model.hosting.conftest import FakeGh

URL = "https://github.com/ada/engine/pull/7"
CREATED = f"\n{URL}\n"


def call_of(gh: FakeGh, command: str) -> dict[str, Any]:
    return next(call for call in gh.calls if " ".join(call["args"][:2]) == command)


def args_of(gh: FakeGh, command: str) -> list[str]:
    return [str(argument) for argument in call_of(gh, command)["args"]]


async def test_the_branch_is_pushed_and_proposed_and_the_worktree_remembers_it(
    place: Place, worktree: Worktree, fake_gh: FakeGh
) -> None:
    fake_gh.answers("pr create", CREATED)
    opened = await open_pull_request(place.workspace, worktree.id)
    assert (opened.pr_number, opened.pr_url) == (7, URL)
    known = place.now(worktree)
    assert (known.pr_number, known.pr_url) == (7, URL)
    head = place.in_worktree(worktree).git("rev-parse", "HEAD")
    assert place.repository.git("ls-remote", "origin", "refs/heads/otter").startswith(head)


async def test_title_and_body_come_from_a_single_commit(
    place: Place, worktree: Worktree, fake_gh: FakeGh
) -> None:
    fake_gh.answers("pr create", CREATED)
    await open_pull_request(place.workspace, worktree.id)
    args = args_of(fake_gh, "pr create")
    assert {"--base=main", "--title=Teach the otter to swim"} <= set(args)
    assert "--draft" not in args
    assert call_of(fake_gh, "pr create")["input"] == "It was about time."
    assert call_of(fake_gh, "pr create")["tty"] is False


async def test_several_commits_are_listed_in_the_body(
    place: Place, worktree: Worktree, fake_gh: FakeGh
) -> None:
    fake_gh.answers("pr create", CREATED)
    place.in_worktree(worktree).commit("more.txt", "two\n")
    await open_pull_request(place.workspace, worktree.id)
    assert "--title=Teach the otter to swim" in args_of(fake_gh, "pr create")
    assert call_of(fake_gh, "pr create")["input"] == "- Teach the otter to swim\n- Change more.txt"


async def test_what_is_given_is_taken_as_it_is(
    place: Place, worktree: Worktree, fake_gh: FakeGh
) -> None:
    fake_gh.answers("pr create", CREATED)
    await open_pull_request(place.workspace, worktree.id, title="--web", body="", draft=True)
    assert {"--title=--web", "--draft"} <= set(args_of(fake_gh, "pr create"))
    assert call_of(fake_gh, "pr create")["input"] == ""


async def test_a_pull_request_that_is_open_already_is_remembered(
    place: Place, worktree: Worktree, fake_gh: FakeGh
) -> None:
    said = f'a pull request for branch "otter" into branch "main" already exists:\n{URL}\n'
    fake_gh.answers("pr create", err=said, code=1)
    opened = await open_pull_request(place.workspace, worktree.id)
    assert opened.pr_number == 7
    assert place.now(worktree).pr_url == URL


def known_now(workspace: Workspace, worktree: Worktree) -> Worktree:
    return workspace.store.state.worktrees[worktree.id]


async def refusal(place: Place, worktree: Worktree) -> SpinneyError:
    with pytest.raises(SpinneyError) as refused:
        await open_pull_request(place.workspace, worktree.id)
    assert place.now(worktree).pr_number is None
    return refused.value


async def test_nothing_is_pushed_or_written_where_gh_cannot_propose_it(
    place: Place, worktree: Worktree, fake_gh: FakeGh
) -> None:
    fake_gh.answers("repo view", err="please run: gh auth login", code=4)
    error = await refusal(place, worktree)
    assert error.message.startswith("gh is not signed in to GitHub.")
    assert place.repository.git("ls-remote", "origin", "refs/heads/otter") == ""


async def test_a_branch_without_commits_of_its_own_is_not_proposed(
    place: Place, fake_gh: FakeGh
) -> None:
    error = await refusal(place, await place.add("heron"))
    assert error.message == (
        "There is nothing to propose: 'heron' has no commits that 'main' lacks. Commit first."
    )
    assert fake_gh.calls == []


async def test_a_repository_without_a_remote_is_told(
    place: Place, worktree: Worktree, fake_gh: FakeGh
) -> None:
    place.repository.git("remote", "remove", "origin")
    error = await refusal(place, worktree)
    assert error.message.startswith("The repository has no remote. Add one with")


async def test_a_branch_goes_where_it_was_pushed_before(
    place: Place, worktree: Worktree, fake_gh: FakeGh
) -> None:
    fake_gh.answers("pr create", CREATED)
    git = place.repository.git
    git("remote", "rename", "origin", "upstream")
    fork = place.repository.root.parent / "fork.git"
    git("init", "--quiet", "--bare", str(fork))
    git("remote", "add", "fork", str(fork))
    refused = await refusal(place, worktree)
    assert refused.message.startswith("None of the remotes (upstream, fork) is called 'origin'.")
    git("push", "--quiet", "fork", "otter")
    head = place.in_worktree(worktree).commit("more.txt", "two\n")
    await open_pull_request(place.workspace, worktree.id)
    assert git("ls-remote", "fork", "refs/heads/otter").startswith(head)
    assert git("ls-remote", "upstream", "refs/heads/otter") == ""


async def test_a_base_of_a_remote_is_named_as_that_remote_names_it(
    place: Place, worktree: Worktree, fake_gh: FakeGh
) -> None:
    fake_gh.answers("pr create", CREATED)
    based = place.now(worktree).model_copy(update={"base_branch": "origin/main"})
    await place.workspace.store.accept(WorktreeUpdated(worktree=based))
    await open_pull_request(place.workspace, worktree.id)
    assert "--base=main" in args_of(fake_gh, "pr create")


async def test_a_base_that_was_never_pushed_is_told(
    place: Place, worktree: Worktree, fake_gh: FakeGh
) -> None:
    said = "pull request create failed: GraphQL: Base ref must be a branch (createPullRequest)\n"
    fake_gh.answers("pr create", err=said, code=1)
    error = await refusal(place, worktree)
    assert error.message.startswith("'main' is not a branch on GitHub")


async def test_a_push_that_is_refused_is_told_in_git_s_words(
    place: Place, worktree: Worktree, fake_gh: FakeGh
) -> None:
    hook = place.repository.root.parent / "origin.git" / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'no otters here' >&2\nexit 1\n")
    hook.chmod(0o755)
    error = await refusal(place, worktree)
    assert error.message.startswith("The branch could not be pushed: ")
    assert "no otters here" in error.message
    assert [call["args"][:2] for call in fake_gh.calls] == [["repo", "view"]]


TROUBLES = {
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


@pytest.mark.parametrize("said", TROUBLES)
async def test_each_trouble_has_a_sentence_of_its_own(
    place: Place, worktree: Worktree, fake_gh: FakeGh, said: str
) -> None:
    fake_gh.answers("pr create", err=said + "\n", code=1)
    error = await refusal(place, worktree)
    sentence, kind = TROUBLES[said]
    assert error.message.startswith(sentence)
    assert error.error_type == kind


async def test_a_missing_gh_is_told_with_what_to_do(
    place: Place, worktree: Worktree, no_gh: None
) -> None:
    error = await refusal(place, worktree)
    assert error.message.startswith("The program 'gh' is not installed. Install it")
    assert error.error_type == "backend_unavailable"


async def test_the_real_gh_without_an_account_says_that_it_is_not_signed_in(
    place: Place, worktree: Worktree, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if shutil.which("gh") is None:
        pytest.skip("needs gh")
    for name in [name for name in os.environ if name.startswith(("GH_", "GITHUB_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GH_CONFIG_DIR", str(tmp_path / "gh config"))
    error = await refusal(place, worktree)
    assert error.message.startswith("gh is not signed in to GitHub.")


async def test_a_saved_pull_request_is_looked_at_at_once(
    place: Place, worktree: Worktree, fake_gh: FakeGh, eventually: Eventually
) -> None:
    fake_gh.shows(state="OPEN", statusCheckRollup=[{"state": "PENDING"}])
    await save_worktree_pr(place.workspace, worktree.id, 7, URL)
    await eventually(lambda: place.now(worktree).cached_pr_status == "open")
    assert place.now(worktree).cached_check_status == "pending"
    assert args_of(fake_gh, "pr view")[2] == URL


async def test_a_cleared_pull_request_leaves_nothing_behind(
    place: Place, worktree: Worktree, fake_gh: FakeGh, eventually: Eventually
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
async def test_what_is_no_pull_request_is_not_saved(
    place: Place, worktree: Worktree, number: int, url: str
) -> None:
    with pytest.raises(SpinneyError, match="Invalid field"):
        await save_worktree_pr(place.workspace, worktree.id, number, url)


async def test_a_merged_pull_request_archives_its_worktree(
    place: Place, worktree: Worktree, fake_gh: FakeGh, eventually: Eventually
) -> None:
    fake_gh.shows(state="MERGED")
    await save_worktree_pr(place.workspace, worktree.id, 7, URL)
    await eventually(lambda: place.now(worktree).archived_at is not None)
    assert Path(worktree.path).is_dir()


async def test_a_merged_pull_request_archives_nothing_where_that_is_switched_off(
    place: Place, worktree: Worktree, fake_gh: FakeGh, eventually: Eventually
) -> None:
    await update_preferences(place.workspace, {"auto_archive_on_pr_merged": False})
    fake_gh.shows(state="MERGED")
    await save_worktree_pr(place.workspace, worktree.id, 7, URL)
    await eventually(lambda: place.now(worktree).cached_pr_status == "merged")
    assert place.now(worktree).archived_at is None


async def test_a_merged_worktree_is_archived_only_when_its_session_has_ended(
    place: Place,
    worktree: Worktree,
    fake_gh: FakeGh,
    backend: FakeBackend,
    eventually: Eventually,
) -> None:
    backend.script = silence
    session = await create_session(place.workspace, worktree.id, execution_mode="build")
    await send_chat_message(place.workspace, session.id, "go on")
    fake_gh.shows(state="MERGED")
    await save_worktree_pr(place.workspace, worktree.id, 7, URL)
    await eventually(lambda: place.now(worktree).cached_pr_status == "merged")
    assert place.now(worktree).archived_at is None
    await stop_generation(place.workspace, session.id)
    await eventually(lambda: place.now(worktree).archived_at is not None)


async def test_that_it_is_to_be_archived_outlives_a_restart(
    place: Place,
    worktree: Worktree,
    fake_gh: FakeGh,
    backend: FakeBackend,
    eventually: Eventually,
) -> None:
    backend.script = silence
    session = await create_session(place.workspace, worktree.id, execution_mode="build")
    await send_chat_message(place.workspace, session.id, "go on")
    fake_gh.shows(state="MERGED")
    await save_worktree_pr(place.workspace, worktree.id, 7, URL)
    await eventually(lambda: place.now(worktree).cached_pr_status == "merged")
    assert place.now(worktree).archive_when_idle
    await place.workspace.stop()
    again = Workspace(place.workspace.directories, {backend.name: backend}, Catalog())
    await again.start()
    try:
        await Eventually(again.bus)(lambda: known_now(again, worktree).archived_at is not None)
        assert not known_now(again, worktree).archive_when_idle
    finally:
        await again.stop()


async def test_a_push_for_a_pull_request_goes_to_the_branch_that_it_proposes(
    place: Place, worktree: Worktree, fake_gh: FakeGh
) -> None:
    fake_gh.shows(headRefName="proposal", headRepository={"name": "engine"},
                  headRepositoryOwner={"login": "ada"}, isCrossRepository=False)  # fmt: skip
    pushed = await git_push(place.workspace, worktree.path, pr_number=7)
    assert pushed.success, pushed.output
    head = place.in_worktree(worktree).git("rev-parse", "HEAD")
    assert place.repository.git("ls-remote", "origin", "refs/heads/proposal").startswith(head)


async def test_a_push_to_a_fork_that_is_no_remote_says_what_is_missing(
    place: Place, worktree: Worktree, fake_gh: FakeGh
) -> None:
    fake_gh.shows(headRefName="proposal", headRepository={"name": "engine"},
                  headRepositoryOwner={"login": "ada"}, isCrossRepository=True)  # fmt: skip
    with pytest.raises(SpinneyError, match="comes from ada/engine, which is not one of"):
        await git_push(place.workspace, worktree.path, pr_number=7)


async def test_a_pull_request_that_is_gone_is_told(
    place: Place, worktree: Worktree, fake_gh: FakeGh
) -> None:
    said = "GraphQL: Could not resolve to a PullRequest with the number of 7. (repository)"
    fake_gh.answers("pr view", err=said, code=1)
    with pytest.raises(SpinneyError, match="The pull request no longer exists"):
        await git_push(place.workspace, worktree.path, pr_number=7)
