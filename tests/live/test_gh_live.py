"""Pull requests with the real `gh`; the hosting service is a stub on loopback.

With SPINNEY_RECORD_GH=1 its answers are written to the recording that tests without `gh` use.
"""

# ruff: noqa: F811 - fixtures are imported, and named again where they are used

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from model.base.errors import SpinneyError
from model.commands.projects import get_github_remotes
from model.commands.pull_requests import open_pull_request, save_worktree_pr
from model.commands.sessions import create_session, send_chat_message
from model.commands.worktrees import create_worktree
from model.domain.worktrees import PullRequestContext, Worktree
from model.hosting.github import gh
from model.hosting.github.pull_requests import PullRequestState, fetch_pull_request_state
from model.hosting.program import HostingProgram, Output
from tests.conftest import Eventually
from tests.fakes import FakeBackend
from tests.live.gh_service import service  # noqa: F401 - a fixture
from tests.live.hosting_cases import (
    API_CASES,
    API_RECORDING,
    PASSED,
    RECORDING,
    STATES,
    TROUBLES,
    URL,
    check_api_case,
)
from tests.live.hosting_pull_requests import Check, PullRequest
from tests.live.hosting_stub import TOKEN, HostingStub
from tests.model.git.conftest import (  # noqa: F401 - fixtures
    make_repository,
    own_home,
    repository,
    with_remote,
)
from tests.model.git.git_project import GitProject
from tests.model.hosting.conftest import place, place_there, worktree  # noqa: F401 - as above

Answer = dict[str, Any]


@pytest.fixture
def recorded_answers(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Answer]]:
    """The calls of `gh` with their arguments and results."""
    answers: list[Answer] = []
    run = HostingProgram.run

    async def record(
        program: HostingProgram, cwd: Path, args: tuple[str, ...], given: str = "", **bounds: Any
    ) -> Output:
        found = await run(program, cwd, args, given, **bounds)
        answers.append({"args": list(args), "out": found.out, "err": found.err, "code": found.code})
        return found

    monkeypatch.setattr(HostingProgram, "run", record)
    yield answers


async def open_and_check(place: GitProject, made: Worktree, **given: Any) -> Worktree:
    answer = await open_pull_request(place.workspace, made.id, **given)
    known = place.now(made)
    assert (known.pr_number, known.pr_url) == (answer.pr_number, answer.pr_url)
    return known


async def test_the_branch_is_pushed_and_a_pull_request_opened(
    place_there: GitProject,
    worktree: Worktree,
    service: HostingStub,
) -> None:
    known = await open_and_check(place_there, worktree)
    assert (known.pr_number, known.pr_url) == (7, URL)
    proposed = service.pull_requests[7]
    assert (proposed.head, proposed.base, proposed.draft) == ("otter", "main", False)
    assert (proposed.title, proposed.body) == ("Teach the otter to swim", "It was about time.")
    bare = place_there.repository.git("config", "remote.origin.pushurl")
    head = place_there.in_worktree(worktree).git("rev-parse", "HEAD")
    assert place_there.repository.git("ls-remote", bare, "refs/heads/otter").startswith(head)


async def test_a_given_title_and_body_are_passed_unchanged(
    place_there: GitProject,
    worktree: Worktree,
    service: HostingStub,
    eventually: Eventually,
) -> None:
    text = "- one\n\n`two` “three” 😀\n--draft\n"
    await open_and_check(place_there, worktree, title="--web 'otters'", body=text, draft=True)
    proposed = service.pull_requests[7]
    assert (proposed.title, proposed.body, proposed.draft) == ("--web 'otters'", text, True)
    await eventually(lambda: place_there.now(worktree).cached_pr_status == "draft")


async def test_an_empty_body_stays_empty(
    place_there: GitProject,
    worktree: Worktree,
    service: HostingStub,
) -> None:
    await open_and_check(place_there, worktree, title="Otters", body="")
    assert service.pull_requests[7].body == ""


async def test_an_open_pull_request_is_saved_instead_of_creating_one(
    place_there: GitProject,
    worktree: Worktree,
    service: HostingStub,
) -> None:
    service.set_pull_requests(PullRequest(number=4, title="By hand"))
    assert (await open_and_check(place_there, worktree)).pr_number == 4
    assert list(service.pull_requests) == [4]


async def test_the_pull_request_of_a_fork_is_opened_in_its_parent(
    place_there: GitProject,
    worktree: Worktree,
    service: HostingStub,
) -> None:
    service.forks = ["bob"]
    git = place_there.repository.git
    git("config", "remote.origin.url", "https://github.com/bob/engine.git")
    git("remote", "add", "upstream", "https://github.com/ada/engine.git")
    known = await open_and_check(place_there, worktree)
    assert known.pr_url == URL
    assert service.pull_requests[7].owner == "bob"


async def test_a_branch_without_commits_is_an_error(
    place_there: GitProject,
    worktree: Worktree,
    service: HostingStub,
) -> None:
    service.refused = "PullRequestCreate"
    service.message = "No commits between main and otter"
    with pytest.raises(SpinneyError, match="There is nothing to propose: the branch has no"):
        await open_pull_request(place_there.workspace, worktree.id)


async def test_an_account_without_permission_is_an_error(
    place_there: GitProject,
    worktree: Worktree,
    service: HostingStub,
) -> None:
    service.refused = "PullRequestCreate"
    service.message = "ada does not have the correct permissions to execute `CreatePullRequest`"
    with pytest.raises(SpinneyError, match="The account that gh is signed in with does not"):
        await open_pull_request(place_there.workspace, worktree.id)
    assert place_there.now(worktree).pr_number is None


async def test_a_repository_without_a_github_remote_is_an_error(
    place: GitProject,
    worktree: Worktree,
    service: HostingStub,
) -> None:
    with pytest.raises(SpinneyError, match="The repository has no remote on GitHub"):
        await open_pull_request(place.workspace, worktree.id)
    assert service.asked == []


async def test_a_service_that_never_answers_times_out(
    service: HostingStub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.silent = True
    monkeypatch.setattr(gh, "_TIMEOUT", 1)
    with pytest.raises(SpinneyError, match="gh took longer than 1 seconds and was stopped"):
        await fetch_pull_request_state(tmp_path, URL)


async def test_every_state_of_a_pull_request_is_recognized(
    service: HostingStub, tmp_path: Path
) -> None:
    for name, case in STATES.items():
        service.set_pull_requests(case.shown)
        found = await fetch_pull_request_state(tmp_path, URL)
        assert (found.status, found.checks) == (case.status, case.checks), name


async def test_a_token_without_access_to_checks_still_reports_the_status(
    service: HostingStub, tmp_path: Path
) -> None:
    service.set_pull_requests(PullRequest(draft=True, checks=[PASSED]))
    service.refused = "statusCheckRollup"
    service.message = "Resource not accessible by personal access token"
    assert await fetch_pull_request_state(tmp_path, URL) == PullRequestState("draft", None)


@pytest.mark.parametrize("name", TROUBLES)
async def test_every_failure_has_its_message(
    service: HostingStub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    error = await fetch_error(name, service, tmp_path, monkeypatch)
    assert error.message.startswith(TROUBLES[name].sentence)
    assert error.error_type == TROUBLES[name].kind


async def fetch_error(
    name: str, service: HostingStub, cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> SpinneyError:
    with monkeypatch.context() as patch:
        for field, value in TROUBLES[name].stub.items():
            patch.setattr(service, field, value)
        for variable, value in TROUBLES[name].environment.items():
            patch.setenv(variable, value)
        with pytest.raises(SpinneyError) as refused:
            await fetch_pull_request_state(cwd, URL)
    return refused.value


async def test_a_worktree_follows_its_pull_request_until_it_is_merged(
    place_there: GitProject,
    worktree: Worktree,
    service: HostingStub,
    eventually: Eventually,
) -> None:
    known = await open_and_check(place_there, worktree)
    await eventually(lambda: place_there.now(worktree).cached_pr_status == "open")
    service.set_pull_requests(PullRequest(asked=["bob"], checks=[Check()]))
    assert known.pr_number is not None
    await save_worktree_pr(place_there.workspace, worktree.id, known.pr_number, URL)
    await eventually(lambda: place_there.now(worktree).cached_check_status == "pending")
    assert place_there.now(worktree).cached_pr_status == "review"
    service.set_pull_requests(PullRequest(state="MERGED"))
    place_there.workspace.poller.refresh_hosting(worktree.id)
    await eventually(lambda: place_there.now(worktree).archived_at is not None)
    assert place_there.now(worktree).cached_pr_status == "merged"
    assert Path(worktree.path).is_dir()


async def test_a_pull_request_opened_by_an_agent_is_found_after_its_turn(
    place_there: GitProject,
    worktree: Worktree,
    service: HostingStub,
    backend: FakeBackend,
    eventually: Eventually,
) -> None:
    tree = place_there.in_worktree(worktree)
    tree.git("push", "--quiet", "--set-upstream", "origin", "otter")
    service.set_pull_requests(
        PullRequest(number=3, state="MERGED"),
        PullRequest(number=8, checks=[PASSED]),
        PullRequest(number=9, owner="somebody"),
    )
    session = await create_session(place_there.workspace, worktree.id)
    await send_chat_message(place_there.workspace, session.id, "open it")
    await eventually(lambda: place_there.now(worktree).cached_check_status == "success")
    known = place_there.now(worktree)
    assert (known.pr_number, known.cached_pr_status) == (8, "open")
    assert known.pr_url == "https://github.com/ada/engine/pull/8"


async def test_a_worktree_created_from_a_pull_request_gets_its_url_and_status(
    place_there: GitProject, service: HostingStub, eventually: Eventually
) -> None:
    git = place_there.repository.git
    bare = git("config", "remote.origin.pushurl")
    git("push", "--quiet", bare, "main:refs/pull/7/head")
    # git fetches from the bare repository; gh uses the URL of the service.
    git("config", f"url.{bare}.insteadOf", "https://github.com/ada/engine.git")
    git("remote", "add", "upstream", "https://github.com/ada/engine")
    service.set_pull_requests(PullRequest(draft=True))
    request = PullRequestContext(number=7, title="Otters", headRefName="otters", baseRefName="main")
    made = await create_worktree(place_there.workspace, place_there.project.id, pr_context=request)
    await eventually(lambda: place_there.now(made).cached_pr_status == "draft")
    assert (place_there.now(made).pr_number, place_there.now(made).pr_url) == (7, URL)


async def test_a_github_enterprise_host_that_gh_is_signed_in_to_is_supported(
    place_there: GitProject,
    worktree: Worktree,
    service: HostingStub,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    service.host = "git.corp.example"
    (tmp_path / "gh settings").mkdir()
    (tmp_path / "gh settings" / "hosts.yml").write_text(
        f"git.corp.example:\n    user: ada\n    oauth_token: {TOKEN}\n"
    )
    monkeypatch.setenv("GH_CONFIG_DIR", str(tmp_path / "gh settings"))
    monkeypatch.delenv("GH_TOKEN")
    root = place_there.repository.root
    url = "git@git.corp.example:ada/engine.git"
    place_there.repository.git("config", "remote.origin.url", url)
    (remote,) = await get_github_remotes(place_there.workspace, str(root))
    assert (remote.owner, remote.repo, remote.url) == ("ada", "engine", url)
    known = await open_and_check(place_there, worktree)
    assert known.pr_url == "https://git.corp.example/ada/engine/pull/7"


async def test_the_recording_matches_what_gh_answers(
    service: HostingStub,
    recorded_answers: list[Answer],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    recorded: dict[str, Answer] = {}
    for name, case in STATES.items():
        service.set_pull_requests(case.shown)
        await fetch_pull_request_state(tmp_path, URL)
        recorded[name] = recorded_answers.pop()
    service.set_pull_requests()
    for name in TROUBLES:
        await fetch_error(name, service, tmp_path, monkeypatch)
        recorded[name] = recorded_answers.pop()
    if os.environ.get("SPINNEY_RECORD_GH") == "1":
        RECORDING.write_text(json.dumps(recorded, indent=1, ensure_ascii=False) + "\n")
    kept = json.loads(RECORDING.read_text())
    assert {name: answer["args"] for name, answer in kept.items()} == {
        name: answer["args"] for name, answer in recorded.items()
    }, "record again: SPINNEY_RECORD_GH=1 pytest tests/live/test_gh_live.py"


async def test_the_recording_of_the_api_matches_what_gh_answers(
    service: HostingStub,
    recorded_answers: list[Answer],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    recorded: dict[str, list[Answer]] = {}
    for name, case in API_CASES.items():
        service.set_pull_requests(case.shown)
        service.asked.clear()
        recorded_answers.clear()
        with monkeypatch.context() as patch:
            for field, value in case.stub.items():
                patch.setattr(service, field, value)
            await check_api_case(case, tmp_path)
        answers = zip(service.asked, recorded_answers, strict=True)
        recorded[name] = [{"asked": asked, **answer} for asked, answer in answers]
    if os.environ.get("SPINNEY_RECORD_GH") == "1":
        API_RECORDING.write_text(json.dumps(recorded, indent=1, ensure_ascii=False) + "\n")
    kept = json.loads(API_RECORDING.read_text())
    assert {
        name: [(one["asked"], one["args"]) for one in calls] for name, calls in kept.items()
    } == {
        name: [(one["asked"], one["args"]) for one in calls] for name, calls in recorded.items()
    }, "record again: SPINNEY_RECORD_GH=1 pytest tests/live/test_gh_live.py"
