"""Lists to begin work from, and worktrees that are created from their items."""

from typing import Any

import pytest

from tests.contract.conftest import expect_error
from tests.contract.project_client import ProjectClient
from tests.model.hosting.conftest import FakeGh

REPOSITORY = "HTTP/2.0 200 OK\nServer: x\n\n"


def answer_with(fake_gh: FakeGh, body: str, command: str = "api graphql") -> None:
    """Let `gh api` answer every query with this body."""
    fake_gh.set_result(command, REPOSITORY + body)


@pytest.fixture
async def hosted(client: ProjectClient, fake_gh: FakeGh) -> ProjectClient:
    """The project, with a remote at the hosting service."""
    client.repository.git("remote", "add", "hosted", "https://github.com/ada/engine.git")
    return client


async def test_issues_and_pull_requests_are_listed(hosted: ProjectClient, fake_gh: FakeGh) -> None:
    node = '{"number": 12, "title": "Door", "url": "https://github.com/ada/engine/issues/12"}'
    answer_with(fake_gh, f'{{"data": {{"repository": {{"found": {{"nodes": [{node}]}}}}}}}}')
    given: dict[str, Any] = {"projectId": hosted.project_id, "state": "all", "page": 1}
    [issue] = await hosted.call("list_issues", **given, refresh=True)
    assert (issue["kind"], issue["id"], issue["worktree_ids"]) == ("issue", "12", [])
    [pull] = await hosted.call("list_pull_requests", **given, labels=[])
    assert (pull["kind"], pull["number"]) == ("pull_request", 12)
    work = await hosted.call("list_open_work", kinds=["issue"])
    assert [found["item"]["title"] for found in work["items"]] == ["Door"]
    assert work["problems"] == []


ENDS = ("failure", "timed_out", "startup_failure")
RUNS = [f"actions/runs?per_page=100&status={end}&page=1" for end in ENDS]
ALERTS = "dependabot/alerts?per_page=100&state=open"
ADVISORIES = "security-advisories?per_page=100&state=triage"


@pytest.mark.parametrize(
    ("command", "endpoints"),
    [
        ("list_workflow_runs", RUNS),
        ("list_security_alerts", [ALERTS]),
        ("list_advisories", [ADVISORIES]),
    ],
)
async def test_other_lists_say_why_they_cannot_be_read(
    hosted: ProjectClient, fake_gh: FakeGh, command: str, endpoints: list[str]
) -> None:
    said = "please run: gh auth login"
    for endpoint in endpoints:
        fake_gh.set_result(f"api repos/ada/engine/{endpoint}", err=said, code=4)
    error = await expect_error(hosted.call, command, projectId=hosted.project_id)
    assert "gh is not signed in" in error
    error = await expect_error(hosted.call, command, projectId=hosted.project_id, page=0)
    assert "Invalid field 'page'" in error


@pytest.mark.parametrize("command", ["list_tracker_issues", "list_tracker_teams"])
async def test_the_issue_tracker_needs_a_key(client: ProjectClient, command: str) -> None:
    error = await expect_error(client.call, command, projectId=client.project_id)
    assert "No API key of the issue tracker is set" in error


async def test_an_item_is_read_with_its_comments(hosted: ProjectClient, fake_gh: FakeGh) -> None:
    comments = '{"nodes": [{"author": {"login": "bob"}, "body": "Oil it."}]}'
    item = f'{{"title": "The door squeaks", "body": "Often.", "comments": {comments}}}'
    answer_with(fake_gh, f'{{"data": {{"repository": {{"item": {item}}}}}}}')
    asked = {"projectId": hosted.project_id, "kind": "issue"}
    text = await hosted.call("get_work_text", **asked, itemId="12")
    assert text.startswith("# Issue #12: The door squeaks\n")
    assert "Often.\n\n## Comment by bob\n\nOil it.\n" in text
    error = await expect_error(hosted.call, "get_work_text", **asked, itemId="x")
    assert error == "Invalid field 'itemId': must be a number"


async def test_work_starts_from_an_issue(hosted: ProjectClient, fake_gh: FakeGh) -> None:
    item = '{"title": "The door squeaks", "body": "Often.", "state": "OPEN"}'
    answer_with(fake_gh, f'{{"data": {{"repository": {{"item": {item}}}}}}}')
    started = await hosted.call(
        "start_work", projectId=hosted.project_id, kind="issue", itemId="12", mode="build"
    )
    assert started["worktree"]["name"] == "12-the-door-squeaks"
    assert started["worktree"]["started_from"] == "issue/12"
    assert started["session"]["prompt"] == "investigate_issue"
    assert started["session"]["execution_mode"] == "build"
    about = {"kind": "issue", "item_id": "12"}
    task = await hosted.call(
        "start_task", projectId=hosted.project_id, prompt="/demo say done", context=about
    )
    assert task["worktree"]["name"] == "12-the-door-squeaks-2"
    assert task["worktree"]["started_from"] == "issue/12"
    error = await expect_error(
        hosted.call, "start_work", projectId=hosted.project_id, kind="issue", itemId="x"
    )
    assert error == "Invalid field 'itemId': must be a number"
