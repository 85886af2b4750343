"""Open issues and pull requests, as `gh` lists them."""

import asyncio
import json

import pytest

from model.base.errors import SpinneyError
from model.commands.hosting import list_issues, list_pull_requests
from model.commands.projects import list_projects
from tests.model.git.place import Place
from tests.model.hosting.conftest import FakeGh
from tests.patience import PATIENCE


async def test_issues_come_with_what_a_worktree_needs(place: Place, fake_gh: FakeGh) -> None:
    fake_gh.answers(
        "issue list", json.dumps([{"number": 12, "title": "Door", "body": "It sticks."}])
    )
    [issue] = await list_issues(place.workspace, place.project.id)
    assert (issue.number, issue.title, issue.body) == (12, "Door", "It sticks.")


async def test_pull_requests_come_with_their_branches(place: Place, fake_gh: FakeGh) -> None:
    row = {"number": 7, "title": "Mend", "headRefName": "mend", "baseRefName": "main"}
    fake_gh.answers("pr list", json.dumps([row]))
    [request] = await list_pull_requests(place.workspace, place.project.id)
    assert (request.number, request.head_ref_name, request.base_ref_name) == (7, "mend", "main")


@pytest.mark.parametrize("answer", ["no JSON", "{}", '[{"number": "x"}]', "[1]"])
async def test_an_answer_that_is_no_list_is_said_in_a_sentence(
    answer: str, place: Place, fake_gh: FakeGh
) -> None:
    fake_gh.answers("issue list", answer)
    with pytest.raises(SpinneyError, match="gh did not return a list"):
        await list_issues(place.workspace, place.project.id)


async def test_issues_are_listed_without_their_texts_where_those_are_too_long(
    place: Place, fake_gh: FakeGh
) -> None:
    rows = [{"number": n, "title": "Door", "body": "long " * 13_000} for n in range(100)]
    fake_gh.answers("issue list", json.dumps(rows))
    fake_gh.answers("--json=number,title", json.dumps([{"number": 12, "title": "Door"}]))
    [issue] = await list_issues(place.workspace, place.project.id)
    assert (issue.number, issue.title, issue.body) == (12, "Door", "")


async def test_trouble_is_told_in_words(place: Place, fake_gh: FakeGh) -> None:
    fake_gh.answers("pr list", err="please run: gh auth login", code=4)
    with pytest.raises(SpinneyError, match="gh is not signed in"):
        await list_pull_requests(place.workspace, place.project.id)


async def test_an_issue_that_says_the_same_for_ever_holds_up_nobody(
    place: Place, fake_gh: FakeGh
) -> None:
    """An expression that goes back and forth takes a quarter of a minute for each of these."""
    rows = [{"number": n, "title": "Door", "body": "a." * 25_000} for n in range(5)]
    fake_gh.answers("issue list", json.dumps(rows))
    async with asyncio.timeout(PATIENCE):
        issues, projects = await asyncio.gather(
            list_issues(place.workspace, place.project.id),
            list_projects(place.workspace),
        )
    assert len(issues) == 5
    assert len(projects) == 1
