"""The issue tracker: lists, teams and texts from a stub of its API, and what can go wrong."""

from collections.abc import AsyncIterator

import pytest

from model.base.errors import SpinneyError
from model.hosting.forge import ItemQuery
from model.hosting.linear import ENDPOINT, Linear
from tests.model.hosting.linear_stub import KEY, LinearStub, make_issue


@pytest.fixture
async def stub(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[LinearStub]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    made = LinearStub()
    async with made.running():
        yield made


@pytest.fixture
def linear(stub: LinearStub) -> Linear:
    return Linear(stub.endpoint)


def test_keys_are_sent_to_linear_alone() -> None:
    assert ENDPOINT.startswith("https://api.linear.app/")
    assert Linear()._endpoint == ENDPOINT


async def test_issues_are_listed_with_what_they_are(linear: Linear) -> None:
    [issue] = await linear.list_issues(KEY, "engine", ItemQuery())
    assert (issue.kind, issue.id, issue.title) == ("tracker_issue", "ENG-12", "The door squeaks")
    assert (issue.state, issue.team, issue.priority) == ("In Progress", "Engine", "Urgent")
    assert (issue.author, issue.assignees) == ("bob", ["ada"])
    assert [(label.name, label.color) for label in issue.labels] == [("bug", "#eb5757")]
    assert (issue.body, issue.branch_name) == ("Every time.", "ada/eng-12-the-door-squeaks")
    assert issue.updated_at == 1767225600


async def test_pages_are_those_of_the_service_and_the_last_one_is_shorter(
    linear: Linear, stub: LinearStub
) -> None:
    stub.issues = [make_issue(number) for number in range(1, 251)]
    third = await linear.list_issues(KEY, None, ItemQuery(page=3))
    assert [issue.id for issue in third] == [f"ENG-{number}" for number in range(201, 251)]
    second = await linear.list_issues(KEY, None, ItemQuery(page=2))
    assert second[0].id == "ENG-101"
    assert await linear.list_issues(KEY, None, ItemQuery(page=9)) == []
    # The pages before a page are requested only once.
    assert [each["after"] for each in stub.asked] == [None, "100", "200", "100", "200"]


@pytest.mark.parametrize(
    ("query", "condition"),
    [
        (ItemQuery(), {"state": {"type": {"nin": ["completed", "canceled", "duplicate"]}}}),
        (ItemQuery(search="door"), {"searchableContent": {"contains": "door"}}),
        (
            ItemQuery(search="eng-12"),
            {"team": {"key": {"eq": "ENG"}}, "number": {"eq": 12}},
        ),
        (ItemQuery(labels=("bug",)), {"labels": {"some": {"name": {"eqIgnoreCase": "bug"}}}}),
        (ItemQuery(assignee="@me"), {"assignee": {"isMe": {"eq": True}}}),
    ],
)
async def test_conditions_are_left_to_the_service(
    linear: Linear, stub: LinearStub, query: ItemQuery, condition: object
) -> None:
    await linear.list_issues(KEY, "engine", query)
    asked = stub.asked[0]["filter"]["and"]
    assert condition in asked
    assert {"team": {"id": {"eq": "engine"}}} in asked


async def test_teams_are_listed(linear: Linear) -> None:
    [team] = await linear.list_teams(KEY)
    assert (team.id, team.key, team.name) == ("engine", "ENG", "Engine")


async def test_the_text_of_an_issue_has_its_comments_oldest_first(
    linear: Linear, stub: LinearStub
) -> None:
    stub.comments = [
        {"body": "Oil it.", "createdAt": "2026-01-02", "user": {"displayName": "eve"}},
        {"body": "It does.\x1b[2J", "createdAt": "2026-01-01", "user": None},
    ]
    text = await linear.fetch_text(KEY, "ENG-12")
    assert ("branch_name", "ada/eng-12-the-door-squeaks") in text.facts
    assert (text.title, text.author, text.body) == ("The door squeaks", "bob", "Every time.")
    assert list(text.comments) == [("", "It does.␛[2J"), ("eve", "Oil it.")]
    assert ("priority", "Urgent") in text.facts


async def test_fields_of_another_form_are_empty(linear: Linear, stub: LinearStub) -> None:
    stub.issues = [{"identifier": "ENG-1", "title": 5, "labels": [], "state": "x", "team": None}]
    [issue] = await linear.list_issues(KEY, None, ItemQuery())
    assert (issue.id, issue.title, issue.labels, issue.state) == ("ENG-1", "", [], "")


# What can go wrong -----------------------------------------------------------------------------


async def fail(linear: Linear, key: str | None = KEY) -> SpinneyError:
    with pytest.raises(SpinneyError) as failed:
        await linear.list_issues(key, "engine", ItemQuery())
    assert KEY not in failed.value.message
    return failed.value


@pytest.mark.parametrize("key", [None, "", "  "])
async def test_without_a_key_nothing_is_sent(
    linear: Linear, stub: LinearStub, key: str | None
) -> None:
    assert "Create one in Linear" in (await fail(linear, key)).message
    assert stub.asked == []


@pytest.mark.parametrize("key", ["wrong", "line\nbreak", "ключ"])
async def test_a_wrong_key_is_refused_with_a_sentence(linear: Linear, key: str) -> None:
    assert "does not accept the API key" in (await fail(linear, key)).message


@pytest.mark.parametrize(
    ("code", "status", "said", "kind"),
    [
        ("RATELIMITED", 400, "rate limit for this API key is exceeded", "rate_limit_error"),
        ("FORBIDDEN", 200, "does not have permission", "forbidden"),
        ("OTHER", 503, "has a problem at the moment", "backend_unavailable"),
        ("OTHER", 200, "Linear could not answer: OTHER", "backend_error"),
    ],
)
async def test_an_error_is_explained(
    linear: Linear, stub: LinearStub, code: str, status: int, said: str, kind: str
) -> None:
    stub.refuse(code, status=status)
    error = await fail(linear)
    assert said in error.message
    assert error.error_type == kind


async def test_a_team_that_is_gone_is_not_an_empty_list(linear: Linear, stub: LinearStub) -> None:
    stub.teams = []
    assert "team no longer exists in Linear" in (await fail(linear)).message


async def test_an_issue_that_is_gone_is_explained(linear: Linear) -> None:
    with pytest.raises(SpinneyError, match="There is no such issue in Linear"):
        await linear.fetch_text(KEY, "ENG-99")
    with pytest.raises(SpinneyError, match="must be an id such as ENG-12"):
        await linear.fetch_text(KEY, "../ENG-99")


async def test_a_redirect_is_not_followed(linear: Linear, stub: LinearStub) -> None:
    stub.failure = 307, {}, {"Location": "http://127.0.0.1:9/other"}
    assert "an answer with status 307" in (await fail(linear)).message


async def test_an_endless_answer_is_refused(
    linear: Linear, stub: LinearStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("model.hosting.linear._MAX_BYTES", 1_000)
    stub.issues = [make_issue(description="x" * 5_000)]
    assert "too long" in (await fail(linear)).message


async def test_a_tracker_that_cannot_be_reached_is_explained(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    assert "Linear cannot be reached" in (await fail(Linear("http://127.0.0.1:9/"))).message
