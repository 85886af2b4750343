"""Issues, merge requests, pipelines and vulnerabilities at GitLab, and their texts."""

from pathlib import Path
from typing import Any

import pytest

from model.base.errors import SpinneyError
from model.domain.hosting import ItemLabel
from model.hosting.forge import ItemQuery
from model.hosting.gitlab.forge import GitLab
from tests.live.gitlab_stub import GitLabStub, job, merge_request, note, user


def issue(number: int, **fields: Any) -> dict[str, Any]:
    return {
        "iid": number,
        "title": f"Issue {number}",
        "description": "Long ago",
        "state": "opened",
        "labels": [{"name": "bug", "color": "#ff0000"}, {"name": "x", "color": "url(evil)"}],
        "assignees": [user("bob")],
        "author": user("ada"),
        "user_notes_count": 2,
        "created_at": "2026-01-02T03:04:05Z",
        "updated_at": "2026-01-02T03:04:05Z",
        "web_url": f"https://gitlab.com/group/sub/engine/-/issues/{number}",
        **fields,
    }


async def test_issues_are_listed_in_pages_and_by_what_was_asked(
    service: GitLabStub, root: Path, forge: GitLab
) -> None:
    service.answers["GET :p/issues"] = [issue(number) for number in range(1, 131)]
    assert len(await forge.list_issues(root, ItemQuery())) == 100
    wanted = ItemQuery("swim & dive", "all", ("bug", "ui"), "@me", page=2)
    found = await forge.list_issues(root, wanted)
    assert [each.number for each in found] == list(range(101, 131))
    assert found[0].labels == [ItemLabel(name="bug", color="#ff0000"), ItemLabel(name="x")]
    assert (found[0].id, found[0].assignees, found[0].comment_count) == ("101", ["bob"], 2)
    asked = service.asked[-1].query
    assert (asked["search"], asked["state"], asked["labels"]) == ("swim & dive", "all", "bug,ui")
    assert (asked["scope"], asked["page"]) == ("assigned_to_me", "2")
    await forge.list_issues(root, ItemQuery("#12", assignee="bob"))
    asked = service.asked[-1].query
    assert (asked["iids[]"], asked["assignee_username[]"]) == ("12", "bob")


async def test_issues_with_very_long_descriptions_are_all_listed(
    service: GitLabStub, root: Path, forge: GitLab
) -> None:
    service.answers["GET :p/issues"] = [
        issue(number, description="long " * 10_000) for number in range(1, 101)
    ]
    found = await forge.list_issues(root, ItemQuery())
    assert sorted(each.number for each in found) == list(range(1, 101))
    assert max(len(each.body) for each in found) < 33_000


async def test_merge_requests_are_listed_those_merged_among_the_closed(
    service: GitLabStub, root: Path, forge: GitLab
) -> None:
    service.answers["GET :p/merge_requests"] = [merge_request(3, draft=True, labels=["bug", 5])]
    (found,) = await forge.list_pull_requests(root, ItemQuery("!3"))
    assert (found.head_ref_name, found.base_ref_name, found.draft) == ("otter", "main", True)
    assert found.labels == [ItemLabel(name="bug")]
    await forge.list_pull_requests(root, ItemQuery(state="closed"))
    assert [each.query["state"] for each in service.asked] == ["opened", "closed", "merged"]


async def test_pipelines_are_workflow_runs(service: GitLabStub, root: Path, forge: GitLab) -> None:
    service.answers["GET :p/pipelines"] = [
        {"id": 50, "iid": 4, "status": "failed", "source": "merge_request_event", "ref": "otter",
         "sha": "abc", "updated_at": "2026-01-02T03:04:05Z", "web_url": "https://x/50"},
        {"id": 49, "name": "Nightly"},
    ]  # fmt: skip
    first, second = await forge.list_workflow_runs(root, failed=True, branch="otter", page=1)
    assert (first.id, first.title, first.workflow) == ("50", "Pipeline 50", "merge request event")
    assert (first.branch, first.commit, first.number) == ("otter", "abc", 4)
    assert second.title == "Nightly"
    asked = service.asked[0].query
    assert (asked["status"], asked["ref"]) == ("failed", "otter")


VULNERABILITY = {
    "id": "gid://gitlab/Vulnerability/12",
    "title": "Regular expression denial of service",
    "severity": "HIGH",
    "state": "DETECTED",
    "webUrl": "https://gitlab.com/group/sub/engine/-/security/vulnerabilities/12",
    "updatedAt": "2026-01-02T03:04:05Z",
    "solution": "Upgrade to versions 2.0.1, 3.0.2 or above.",
    "description": "Slow.",
    "identifiers": [{"externalType": "cve", "externalId": "CVE-2026-1", "name": "CVE-2026-1"}],
    "location": {
        "file": "yarn.lock", "dependency": {"version": "1.0", "package": {"name": "dot"}},
    },
}  # fmt: skip


async def test_vulnerable_dependencies_are_security_alerts(
    service: GitLabStub, root: Path, forge: GitLab
) -> None:
    def answer(query: str, variables: dict[str, Any]) -> dict[str, Any]:
        if "vulnerability(" in query:
            return {"data": {"vulnerability": VULNERABILITY}}
        pages = {"hasNextPage": variables["after"] is None, "endCursor": "next"}
        listed = {"nodes": [VULNERABILITY], "pageInfo": pages}
        return {"data": {"project": {"vulnerabilities": listed}}}

    service.graphql = answer
    (alert,) = await forge.list_security_alerts(root, "open", 2)
    assert (alert.id, alert.package, alert.severity) == ("12", "dot", "high")
    assert (alert.manifest, alert.vulnerable, alert.patched) == ("yarn.lock", "1.0", "2.0.1")
    assert (alert.advisory, alert.state) == ("CVE-2026-1", "detected")
    asked = [each.body["variables"] for each in service.asked]
    assert [each["after"] for each in asked] == [None, "next"]
    assert asked[0]["states"] == ["DETECTED", "CONFIRMED"]
    assert await forge.list_security_alerts(root, "open", 3) == []
    text = await forge.fetch_text(root, "security_alert", "12")
    assert (text.body, ("package", "dot") in text.facts) == ("Slow.", True)


@pytest.mark.parametrize(
    "answer",
    [
        {"data": {"project": None}},
        {"errors": [{"message": "Field 'vulnerabilities' doesn't exist on type 'Project'"}]},
    ],
)
async def test_without_the_edition_that_has_them_alerts_are_explained(
    service: GitLabStub, root: Path, forge: GitLab, answer: dict[str, Any]
) -> None:
    service.graphql = lambda query, variables: answer
    with pytest.raises(SpinneyError, match="only for projects with GitLab Ultimate"):
        await forge.list_security_alerts(root, "open", 1)


async def test_what_gitlab_does_not_have_is_known_beforehand(forge: GitLab, root: Path) -> None:
    assert forge.unsupported.kinds == {"advisory"}
    with pytest.raises(SpinneyError, match="GitLab has no security advisories"):
        await forge.list_advisories(root, "open", 1)
    with pytest.raises(SpinneyError, match="GitLab has no such item"):
        await forge.fetch_text(root, "advisory", "1")


async def test_the_text_of_an_issue_has_its_newest_comments_the_oldest_first(
    service: GitLabStub, root: Path, forge: GitLab
) -> None:
    service.answers["GET :p/issues/3"] = issue(3, milestone={"title": "v2"})
    notes = [note(number, "bob", f"comment {number}") for number in range(40, 0, -1)]
    service.answers["GET :p/issues/3/notes"] = [note(41, "bob", "closed", system=True), *notes]
    text = await forge.fetch_text(root, "issue", "3")
    assert (text.title, text.author, text.body) == ("Issue 3", "ada", "Long ago")
    assert ("milestone", "v2") in text.facts
    assert [said for _, said in text.comments] == [f"comment {n}" for n in range(11, 41)]
    service.answers["GET :p/merge_requests/7"] = merge_request()
    service.answers["GET :p/merge_requests/7/notes"] = []
    proposed = await forge.fetch_text(root, "pull_request", "7")
    assert ("head", "otter") in proposed.facts
    with pytest.raises(SpinneyError, match="The issue 4 does not exist"):
        await forge.fetch_text(root, "issue", "4")
    with pytest.raises(SpinneyError, match=r"GitLab has no such item: '\.\./1'"):
        await forge.fetch_text(root, "issue", "../1")


async def test_the_text_of_a_pipeline_has_the_logs_of_what_failed(
    service: GitLabStub, root: Path, forge: GitLab
) -> None:
    service.answers["GET :p/pipelines/50"] = {"id": 50, "status": "failed", "ref": "otter"}
    service.answers["GET :p/pipelines/50/jobs"] = [
        job(1, "lint", "failed", allow_failure=True),
        job(2, "unit", "failed"),
    ]
    service.answers["GET :p/jobs/2/trace"] = b"1 failed\n"
    text = await forge.fetch_text(root, "workflow_run", "50")
    assert text.log.startswith("== test / unit\n1 failed\n\n== test / lint\nThe log no longer")
    assert ("checks", "unit, lint") in text.facts
