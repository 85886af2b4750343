"""The lists that work begins from: what is asked of the service, and what is known of each item."""

import time
from collections.abc import AsyncIterator, Callable

import pytest

from model.base.errors import SpinneyError
from model.commands.hosting import (
    list_advisories,
    list_issues,
    list_open_work,
    list_pull_requests,
    list_security_alerts,
    list_tracker_issues,
    list_tracker_teams,
    list_workflow_runs,
)
from model.commands.preferences import update_preferences
from model.commands.projects import add_project, list_projects, update_project_settings
from model.commands.sessions import create_session
from model.domain.events.sessions import SessionUpdated
from model.domain.events.worktrees import WorktreeUpdated
from model.domain.hosting import Advisory, OpenIssue, OpenPullRequest, SecurityAlert, WorkflowRun
from model.domain.worktrees import Worktree
from model.hosting.forge import ItemQuery, Unsupported
from model.hosting.linear import Linear
from tests.model.git.git_project import GitProject
from tests.model.git.repository import Repository
from tests.model.hosting.fake_forge import FakeForge, forge  # noqa: F401 - a fixture
from tests.model.hosting.linear_stub import KEY, LinearStub

# ruff: noqa: F811 - fixtures are imported, and named again where they are used


def make_issue(number: int = 12, at: float = 1) -> OpenIssue:
    return OpenIssue(id=str(number), number=number, title="Door", updated_at=at)


def make_pull(number: int = 7, head: str = "mend", *, fork: bool = False) -> OpenPullRequest:
    return OpenPullRequest(
        id=str(number),
        number=number,
        title="Mend",
        head_ref_name=head,
        base_ref_name="main",
        is_from_fork=fork,
        updated_at=2,
    )


def make_run() -> WorkflowRun:
    return WorkflowRun(id="5", title="Mend", workflow="CI", branch="otter", commit="a")


async def test_what_is_wanted_is_asked_of_the_service(place: GitProject, forge: FakeForge) -> None:
    workspace, key = place.workspace, place.project.id
    await list_issues(workspace, key, "door", "all", ["bug"], "@me", 2)
    await list_workflow_runs(workspace, key, "all", "mend", 3)
    await list_security_alerts(workspace, key, "closed", 4)
    await list_advisories(workspace, key, "open", 5)
    root = place.repository.root
    assert forge.asked == [
        (root, ItemQuery("door", "all", ("bug",), "@me", 2)),
        (root, {"failed": False, "branch": "mend", "page": 3}),
        (root, "closed", 4),
        (root, "open", 5),
    ]


async def test_a_list_is_requested_once_unless_it_is_refreshed(
    place: GitProject, forge: FakeForge
) -> None:
    forge.items = [make_issue()]
    for refresh in (False, False, True):
        assert len(await list_issues(place.workspace, place.project.id, refresh=refresh)) == 1
    assert len(forge.asked) == 2
    await list_issues(place.workspace, place.project.id, search="door")
    assert len(forge.asked) == 3


async def test_items_have_the_worktrees_that_belong_to_them(
    place: GitProject, forge: FakeForge, worktree: Worktree
) -> None:
    workspace, key = place.workspace, place.project.id
    forge.items = [
        make_issue(12), make_issue(13), make_pull(7), make_pull(8, "otter"),
        make_pull(9, "otter", fork=True), make_run(), Advisory(id="GHSA-1", title="Open door"),
        SecurityAlert(id="3", number=3, title="Bad", package="lodash"),
    ]  # fmt: skip
    links = {"issue_number": 12, "pr_number": 7, "started_from": "security_alert/3"}
    await workspace.store.accept(WorktreeUpdated(worktree=worktree.model_copy(update=links)))
    ids = [worktree.id]
    assert [item.worktree_ids for item in await list_issues(workspace, key)] == [ids, []]
    pulls = await list_pull_requests(workspace, key)
    assert [item.worktree_ids for item in pulls] == [ids, ids, []]
    assert [run.worktree_ids for run in await list_workflow_runs(workspace, key)] == [ids]
    assert [alert.worktree_ids for alert in await list_security_alerts(workspace, key)] == [ids]
    assert [one.worktree_ids for one in await list_advisories(workspace, key)] == [[]]
    archived = worktree.model_copy(update={**links, "archived_at": time.time()})
    await workspace.store.accept(WorktreeUpdated(worktree=archived))
    # The items are those of the last minute, but the worktrees those of now.
    assert (await list_issues(workspace, key))[0].worktree_ids == []


async def test_pages_and_searches_are_bounded(place: GitProject, forge: FakeForge) -> None:
    with pytest.raises(SpinneyError, match="Invalid field 'page': must be from 1 to 100"):
        await list_issues(place.workspace, place.project.id, page=0)
    with pytest.raises(SpinneyError, match="Invalid field 'page'"):
        await list_advisories(place.workspace, place.project.id, page=101)
    with pytest.raises(SpinneyError, match="Invalid field 'search'"):
        await list_issues(place.workspace, place.project.id, search="x" * 501)
    assert forge.asked == []


async def test_a_list_that_the_service_does_not_have_is_explained(
    place: GitProject, forge: FakeForge
) -> None:
    forge.unsupported = Unsupported("Forge has no advisories.", frozenset({"advisory"}))
    with pytest.raises(SpinneyError, match="Forge has no advisories"):
        await list_advisories(place.workspace, place.project.id)
    assert await list_issues(place.workspace, place.project.id) == []


# The issue tracker -----------------------------------------------------------------------------


@pytest.fixture
async def tracker(place: GitProject, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[LinearStub]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    stub = LinearStub()
    async with stub.running():
        place.workspace.tracker = Linear(stub.endpoint)
        yield stub


async def test_the_key_is_the_projects_or_else_the_persons_and_no_client_gets_it(
    place: GitProject, tracker: LinearStub
) -> None:
    workspace, key = place.workspace, place.project.id
    with pytest.raises(SpinneyError, match="No API key of the issue tracker is set"):
        await list_tracker_issues(workspace, key)
    await update_preferences(workspace, {"tracker_api_key": "wrong"})
    with pytest.raises(SpinneyError, match="does not accept the API key"):
        await list_tracker_teams(workspace, key)
    project = await update_project_settings(
        workspace, key, tracker_api_key=f" {KEY}\n", tracker_team_id="engine"
    )
    assert (project.tracker_api_key, project.tracker_team_id) == (None, "engine")
    assert [project.tracker_api_key for project in await list_projects(workspace)] == [None]
    [issue] = await list_tracker_issues(workspace, key)
    assert (issue.id, issue.worktree_ids) == ("ENG-12", [])
    assert [team.key for team in await list_tracker_teams(workspace, key)] == ["ENG"]
    await update_project_settings(workspace, key, tracker_api_key="")
    await update_preferences(workspace, {"tracker_api_key": KEY})
    assert len(await list_tracker_issues(workspace, key, refresh=True)) == 1


# Everything open -------------------------------------------------------------------------------


async def test_everything_open_is_in_one_list_with_the_sessions_that_work_on_it(
    place_there: GitProject, forge: FakeForge, worktree: Worktree
) -> None:
    workspace = place_there.workspace
    forge.items = [make_issue(12, at=1), make_issue(13, at=3), make_pull(7)]
    linked = worktree.model_copy(update={"issue_number": 12})
    await workspace.store.accept(WorktreeUpdated(worktree=linked))
    idle = await create_session(workspace, worktree.id)
    busy = await create_session(workspace, worktree.id)
    running = SessionUpdated(session_id=busy.id, updates={"status": "running"})
    await workspace.store.accept(running)
    work = await list_open_work(workspace)
    assert [(found.item.kind, found.item.id) for found in work.items] == [
        ("issue", "13"), ("pull_request", "7"), ("issue", "12"),
    ]  # fmt: skip
    assert work.items[2].item.worktree_ids == [worktree.id]
    assert work.items[2].session_ids == [busy.id, idle.id]
    assert work.problems == []
    only = await list_open_work(workspace, kinds=["pull_request"])
    assert [found.item.id for found in only.items] == ["7"]
    with pytest.raises(SpinneyError, match="Invalid field 'kinds'"):
        await list_open_work(workspace, kinds=["advisory"])


async def test_a_repository_is_read_once_and_one_without_a_remote_not_at_all(
    place_there: GitProject, forge: FakeForge, make_repository: Callable[[str], Repository]
) -> None:
    forge.items = [make_issue()]
    for name, url in (("again", "git@github.com:Ada/Engine.git"), ("local", "")):
        other = make_repository(name)
        if url:
            other.git("remote", "add", "origin", url)
        await add_project(place_there.workspace, str(other.root))
    work = await list_open_work(place_there.workspace, kinds=["issue"])
    assert [found.project_id for found in work.items] == [place_there.project.id]
    assert len(forge.asked) == 1


async def test_a_project_that_cannot_be_read_is_named_beside_the_others(
    place_there: GitProject, forge: FakeForge, make_repository: Callable[[str], Repository]
) -> None:
    forge.problem = SpinneyError("gh is not signed in to GitHub.")
    other = make_repository("other")
    other.git("remote", "add", "origin", "https://github.com/ada/other.git")
    await add_project(place_there.workspace, str(other.root))
    work = await list_open_work(place_there.workspace)
    assert work.items == []
    assert [problem.message for problem in work.problems] == ["gh is not signed in to GitHub."] * 2
