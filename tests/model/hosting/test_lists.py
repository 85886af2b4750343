"""Lists of open issues and pull requests from `gh`."""

import asyncio
import json

import pytest

from model.base.errors import SpinneyError
from model.commands.hosting import list_issues, list_pull_requests
from model.commands.projects import list_projects
from tests.model.git.git_project import GitProject
from tests.model.hosting.conftest import FakeGh
from tests.patience import PATIENCE


async def test_issues_are_listed_with_number_title_and_body(
    place: GitProject, fake_gh: FakeGh
) -> None:
    fake_gh.set_result(
        "issue list", json.dumps([{"number": 12, "title": "Door", "body": "It sticks."}])
    )
    [issue] = await list_issues(place.workspace, place.project.id)
    assert (issue.number, issue.title, issue.body) == (12, "Door", "It sticks.")


async def test_pull_requests_are_listed_with_their_branches(
    place: GitProject, fake_gh: FakeGh
) -> None:
    row = {"number": 7, "title": "Mend", "headRefName": "mend", "baseRefName": "main"}
    fake_gh.set_result("pr list", json.dumps([row]))
    [request] = await list_pull_requests(place.workspace, place.project.id)
    assert (request.number, request.head_ref_name, request.base_ref_name) == (7, "mend", "main")


@pytest.mark.parametrize("answer", ["no JSON", "{}", '[{"number": "x"}]', "[1]"])
async def test_output_that_is_not_a_list_is_an_error(
    answer: str, place: GitProject, fake_gh: FakeGh
) -> None:
    fake_gh.set_result("issue list", answer)
    with pytest.raises(SpinneyError, match="gh did not return a list"):
        await list_issues(place.workspace, place.project.id)


async def test_issues_are_listed_without_bodies_that_are_too_long(
    place: GitProject, fake_gh: FakeGh
) -> None:
    rows = [{"number": n, "title": "Door", "body": "long " * 13_000} for n in range(100)]
    fake_gh.set_result("issue list", json.dumps(rows))
    fake_gh.set_result("--json=number,title", json.dumps([{"number": 12, "title": "Door"}]))
    [issue] = await list_issues(place.workspace, place.project.id)
    assert (issue.number, issue.title, issue.body) == (12, "Door", "")


async def test_an_error_of_gh_is_explained(place: GitProject, fake_gh: FakeGh) -> None:
    fake_gh.set_result("pr list", err="please run: gh auth login", code=4)
    with pytest.raises(SpinneyError, match="gh is not signed in"):
        await list_pull_requests(place.workspace, place.project.id)


async def test_a_repetitive_issue_does_not_block_other_commands(
    place: GitProject, fake_gh: FakeGh
) -> None:
    """A regular expression that backtracks takes 15 seconds for each of these."""
    rows = [{"number": n, "title": "Door", "body": "a." * 25_000} for n in range(5)]
    fake_gh.set_result("issue list", json.dumps(rows))
    async with asyncio.timeout(PATIENCE):
        issues, projects = await asyncio.gather(
            list_issues(place.workspace, place.project.id),
            list_projects(place.workspace),
        )
    assert len(issues) == 5
    assert len(projects) == 1
