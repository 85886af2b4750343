"""Lists to begin work from, and the texts of their items, by the real `gh`."""

# ruff: noqa: F811 - fixtures are imported, and named again where they are used

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.domain.hosting import WorkKind
from model.hosting.forge import ItemQuery
from model.hosting.github.forge import GitHub
from tests.live.gh_service import serving
from tests.live.hosting_lists_stub import (
    ListsStub,
    make_advisory,
    make_alert,
    make_item,
    make_pull_request,
    make_run,
)
from tests.live.hosting_pull_requests import Job
from tests.model.git.conftest import (  # noqa: F401 - fixtures
    make_repository,
    own_home,
    repository,
    with_remote,
)
from tests.model.git.repository import Repository

Ask = Callable[[GitHub, Path], Awaitable[object]]


@pytest.fixture
async def service(
    own_home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[ListsStub]:
    folder = tmp_path / "service"
    folder.mkdir()
    stub = ListsStub(folder)
    async with serving(stub, monkeypatch):
        yield stub


@pytest.fixture
def root(service: ListsStub, repository: Repository) -> Path:
    repository.git("remote", "add", "origin", "https://github.com/ada/engine.git")
    return repository.root


@pytest.fixture
def github() -> GitHub:
    return GitHub()


async def test_issues_are_listed_with_what_they_are(
    github: GitHub, service: ListsStub, root: Path
) -> None:
    service.issues = [make_item(12, title="The door\u202e squeaks"), make_item(2, state="CLOSED")]
    [issue] = await github.list_issues(root, ItemQuery())
    assert (issue.id, issue.number, issue.title) == ("12", 12, "The door<U+202E> squeaks")
    assert (issue.state, issue.author, issue.assignees) == ("open", "eve", ["ada"])
    assert [(label.name, label.color) for label in issue.labels] == [("bug", "#d73a4a")]
    assert (issue.body, issue.comment_count, issue.updated_at) == ("It sticks.", 2, 1767225600)
    assert len(await github.list_issues(root, ItemQuery(state="all"))) == 2


async def test_pages_have_a_hundred_items_and_long_bodies_do_not_hinder_them(
    github: GitHub, service: ListsStub, root: Path
) -> None:
    body = "Ω" * 65_000
    service.issues = [make_item(number, body=body) for number in range(250, 0, -1)]
    third = await github.list_issues(root, ItemQuery(page=3))
    assert [issue.number for issue in third] == list(range(50, 0, -1))
    second = await github.list_issues(root, ItemQuery(page=2))
    assert (len(second), len(second[0].body)) == (100, 4_000)
    assert service.asked.count("ListIssues") == 4


async def test_a_search_stays_in_the_repository(
    github: GitHub, service: ListsStub, root: Path
) -> None:
    service.issues = [make_item(12)]
    service.open_pulls = [make_pull_request(7)]
    query = ItemQuery(
        "door repo:eve/other\n-org:eve is:draft", "closed", ('good "first" issue',), "@me"
    )
    [issue] = await github.list_issues(root, query)
    [pull] = await github.list_pull_requests(root, query)
    assert (issue.number, pull.number) == (12, 7)
    rest = 'is:closed label:"good first issue" assignee:@me sort:created-desc door is:draft'
    assert service.searches == [
        f"repo:ada/engine is:issue {rest}",
        f"repo:ada/engine is:pr {rest}",
    ]


async def test_pull_requests_are_listed_with_their_branches(
    github: GitHub, service: ListsStub, root: Path
) -> None:
    service.open_pulls = [
        make_pull_request(8, "main", title="Oil it") | {"isCrossRepository": True},
        make_pull_request(7) | {"isDraft": True},
    ]
    fork, own = await github.list_pull_requests(root, ItemQuery())
    assert (fork.number, fork.head_ref_name, fork.is_from_fork) == (8, "main", True)
    assert (own.head_ref_name, own.base_ref_name, own.draft) == ("mend", "main", True)


async def test_runs_alerts_and_advisories_are_listed(
    github: GitHub, service: ListsStub, root: Path
) -> None:
    others = [make_run(9, conclusion="success"), make_run(8, conclusion="cancelled")]
    service.runs = [*others, make_run(), make_run(6, conclusion="timed_out")]
    service.runs.append(make_run(4, conclusion="startup_failure"))
    slow, run, broken = await github.list_workflow_runs(root, failed=True, branch="a b", page=1)
    assert (slow.id, broken.id) == ("6", "4")
    assert (run.id, run.workflow, run.title, run.state) == ("5", "CI", "Mend the door", "failure")
    assert (run.branch, run.commit, run.number) == ("mend", "a" * 40, 3)
    service.alerts = [make_alert()]
    [alert] = await github.list_security_alerts(root, "open", 1)
    assert (alert.id, alert.package, alert.severity, alert.patched) == (
        "3", "lodash", "high", "4.17.21",
    )  # fmt: skip
    assert (alert.manifest, alert.advisory) == ("web/package-lock.json", "GHSA-abcd")
    service.advisories = [
        make_advisory("GHSA-1", state="triage"), make_advisory("GHSA-2", state="published"),
        make_advisory("GHSA-3"),
    ]  # fmt: skip
    found = await github.list_advisories(root, "open", 1)
    assert [(one.id, one.severity) for one in found] == [
        ("GHSA-1", "critical"), ("GHSA-3", "critical"),
    ]  # fmt: skip
    asked = [given.get("status") or given.get("state") for given in service.parameters]
    assert {*asked[:3]} == {"failure", "timed_out", "startup_failure"}
    assert asked[3:] == ["open", "triage", "draft"]
    assert service.parameters[0]["branch"] == "a b"


async def test_alerts_are_paged_by_cursors(github: GitHub, service: ListsStub, root: Path) -> None:
    service.alerts = [make_alert(number) for number in range(1, 151)]
    second = await github.list_security_alerts(root, "all", 2)
    assert [alert.number for alert in second] == list(range(101, 151))


# Texts -----------------------------------------------------------------------------------------


async def test_the_text_of_a_pull_request_has_its_open_comments(
    github: GitHub, service: ListsStub, root: Path
) -> None:
    comment = {"body": "Why?", "author": {"login": "bob"}}
    threads = [
        {"isResolved": True, "path": "a.py", "line": 1, "comments": {"nodes": [comment]}},
        {"isResolved": False, "path": "b.py", "line": 2, "comments": {"nodes": [comment]}},
    ]
    review = {"body": "Nearly.", "state": "CHANGES_REQUESTED", "author": {"login": "cleo"}}
    service.open_pulls = [
        make_pull_request(
            7,
            comments={"nodes": [{"body": "x" * 100_000, "author": None}]},
            reviews={"nodes": [review, {"body": "", "state": "APPROVED", "author": None}]},
            reviewThreads={"nodes": threads},
        )
    ]
    text = await github.fetch_text(root, "pull_request", "7")
    assert dict(text.facts)["head"] == "mend"
    assert [(author, body[:9]) for author, body in text.comments] == [
        ("", "x" * 9),
        ("cleo (review: changes_requested)", "Nearly."),
        ("bob on b.py:2", "Why?"),
    ]
    assert len(text.comments[0][1]) == 32_000


async def test_the_text_of_a_run_has_the_failing_logs_ends(
    github: GitHub, service: ListsStub, root: Path
) -> None:
    service.runs = [make_run()]
    service.run_jobs = [
        {"id": 1, "name": "lint", "conclusion": "success"},
        {"id": 2, "name": "test", "conclusion": "failure"},
        {"id": 3, "name": "build", "conclusion": "timed_out"},
    ]
    service.jobs = {2: Job(end=b"2026-01-01T00:00:01.0Z assert 1 == 2\n")}
    text = await github.fetch_text(root, "workflow_run", "5")
    assert dict(text.facts)["checks"] == "test, build"
    assert dict(text.facts)["branch"] == "mend"
    assert "### test" in text.log and "assert 1 == 2" in text.log
    assert "The log of 'build' is not on GitHub any more." in text.log


async def test_the_texts_of_alerts_and_advisories_have_their_descriptions(
    github: GitHub, service: ListsStub, root: Path
) -> None:
    service.alerts = [make_alert()]
    alert = await github.fetch_text(root, "security_alert", "3")
    assert (alert.title, alert.body[:12]) == ("Prototype pollution", "It pollutes.")
    assert dict(alert.facts)["package"] == "lodash"
    service.advisories = [make_advisory()]
    advisory = await github.fetch_text(root, "advisory", "GHSA-wxyz")
    assert (advisory.body, dict(advisory.facts)["severity"]) == ("Knock twice.", "critical")


GONE: tuple[tuple[WorkKind, str, str], ...] = (
    ("issue", "99", "There is no issue #99 in ada/engine."),
    ("pull_request", "99", "There is no pull request #99 in ada/engine."),
    ("workflow_run", "99", "There is no workflow run 99 in ada/engine, or"),
    ("security_alert", "99", "There is no Dependabot alert 99 in ada/engine, or"),
    ("advisory", "GHSA-no", "There is no security advisory GHSA-no in ada/engine, or"),
    ("advisory", "../x", "must be an id such as GHSA-…"),
    ("issue", "../1", "must be a number"),
)


async def test_an_item_that_is_gone_is_explained(
    github: GitHub, service: ListsStub, root: Path
) -> None:
    for kind, item_id, said in GONE:
        with pytest.raises(SpinneyError, match=said):
            await github.fetch_text(root, kind, item_id)


# What can go wrong -----------------------------------------------------------------------------


def list_alerts(github: GitHub, root: Path) -> Awaitable[object]:
    return github.list_security_alerts(root, "open", 1)


def list_advisories(github: GitHub, root: Path) -> Awaitable[object]:
    return github.list_advisories(root, "open", 1)


def list_runs(github: GitHub, root: Path) -> Awaitable[object]:
    return github.list_workflow_runs(root, failed=True, branch="", page=1)


FAULTS: tuple[tuple[str, int, str, Ask, str], ...] = (
        ("alerts", 403, "Dependabot alerts are disabled for this repository.", list_alerts,
         "Dependabot alerts are disabled for this repository. Enable them"),
        ("alerts", 403, "Dependabot alerts are not available for archived repositories.",
         list_alerts, "The repository is archived"),
        ("alerts", 403, "You are not authorized to perform this operation.", list_alerts,
         "gh auth refresh --scopes security_events"),
        ("alerts", 404, "Not Found", list_alerts, "cannot see the Dependabot alerts"),
        ("security-advisories", 404, "Not Found", list_advisories,
         "cannot see the security advisories"),
        ("runs", 404, "Not Found", list_runs, "Actions are disabled in its settings"),
        ("runs", 403, "Resource not accessible by personal access token", list_runs,
         "does not have permission"),
        ("runs", 403, "API rate limit exceeded for user ID 1.", list_runs, "rate limit"),
        ("runs", 502, "Bad Gateway", list_runs, "GitHub has a problem at the moment"),
)  # fmt: skip


async def test_a_list_that_cannot_be_read_is_explained(
    github: GitHub, service: ListsStub, root: Path
) -> None:
    for name, status, message, ask, said in FAULTS:
        service.forbidden = {name: (status, message)}
        with pytest.raises(SpinneyError, match=said):
            await ask(github, root)


async def test_disabled_issues_are_not_an_empty_list(
    github: GitHub, service: ListsStub, root: Path
) -> None:
    service.has_issues = False
    with pytest.raises(SpinneyError, match="Issues are disabled for this repository"):
        await github.list_issues(root, ItemQuery())
    assert await github.list_pull_requests(root, ItemQuery()) == []


async def test_a_repository_without_a_remote_is_explained(
    github: GitHub, service: ListsStub, repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A person who is not signed in would be sent to do that first.
    monkeypatch.delenv("GH_TOKEN", raising=False)
    with pytest.raises(SpinneyError, match="has no remote on GitHub"):
        await github.list_issues(repository.root, ItemQuery())
