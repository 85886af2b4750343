"""Merge requests at GitLab as pull requests: opened, found, read and changed."""

from pathlib import Path

import pytest

from model.base.errors import SpinneyError
from model.hosting.forge import PullRequestHead, PullRequestLink, PullRequestState
from model.hosting.gitlab import merging
from model.hosting.gitlab.forge import GitLab
from model.hosting.gitlab.merge_requests import mark_draft, parse_state
from tests.live.gitlab_stub import HEAD, GitLabStub, merge_request, user
from tests.model.git.repository import Repository

URL = "https://gitlab.com/group/sub/engine/-/merge_requests/7"
LINK = PullRequestLink(7, URL)
ONE = ":p/merge_requests/7"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (URL, True),
        ("https://git.corp.example:8443/group/engine/merge_requests/7", True),
        ("https://gitlab.com/group/sub/engine/-/merge_requests/7/diffs", False),
        ("https://gitlab.com/engine/-/merge_requests/7", False),
        ("https://github.com/ada/engine/pull/7", False),
        (f"{URL}\n", False),
        ("https://gitlab.com" + "/a" * 5_000 + "/-/merge_requests/7", False),
    ],
)
def test_the_urls_of_merge_requests_are_recognized(url: str, expected: bool) -> None:
    assert GitLab().is_pull_request_url(url) is expected


async def test_a_merge_request_is_opened_for_the_branch(
    service: GitLabStub, root: Path, forge: GitLab
) -> None:
    service.answers["POST :p/merge_requests"] = (201, merge_request())
    text = "- one\n/merge\n/usr/bin\n```\n😀 'two'\n"
    assert await forge.open_pull_request(root, "main", "--Otters", text, draft=True) == LINK
    assert service.sent("POST", ":p/merge_requests") == [
        {
            "source_branch": "otter",
            "target_branch": "main",
            "title": "Draft: --Otters",
            # A line that is a command to GitLab must not act.
            "description": text.replace("/merge", "\\/merge"),
        }
    ]


async def test_the_open_merge_request_of_the_branch_is_returned(
    service: GitLabStub, root: Path, forge: GitLab
) -> None:
    said = ["Another open merge request already exists for this source branch: !7"]
    service.answers["POST :p/merge_requests"] = (409, {"message": said})
    service.answers["GET :p/merge_requests"] = [
        merge_request(9, source_project_id=2),
        merge_request(),
    ]
    service.answers["GET projects/2"] = {"path": "engine", "namespace": {"full_path": "bob"}}
    assert await forge.open_pull_request(root, "main", "Otters", "", draft=False) == LINK


async def test_a_missing_base_is_explained(service: GitLabStub, root: Path, forge: GitLab) -> None:
    refusal = {"message": {"target_branch": ["does not exist"]}}
    service.answers["POST :p/merge_requests"] = (400, refusal)
    with pytest.raises(SpinneyError, match="'main' is not a branch on GitLab"):
        await forge.open_pull_request(root, "main", "Otters", "", draft=False)
    service.answers["GET :p/repository/branches/main"] = {"name": "main"}
    with pytest.raises(SpinneyError, match=r"GitLab refused \(HTTP 400\)"):
        await forge.open_pull_request(root, "main", "Otters", "", draft=False)


async def test_the_merge_request_of_a_fork_is_opened_in_the_upstream_project(
    service: GitLabStub, root: Path, forge: GitLab
) -> None:
    repository = Repository(root)
    repository.git("remote", "rename", "origin", "upstream")
    repository.git("remote", "add", "origin", "https://gitlab.com/bob/engine.git")
    repository.git("update-ref", "refs/remotes/origin/otter", "HEAD")
    fork = "projects/bob%2Fengine/merge_requests"
    service.answers[f"POST {fork}"] = (201, merge_request())
    assert await forge.open_pull_request(root, "main", "Otters", "", draft=False) == LINK
    assert service.sent("POST", fork)[0]["target_project_id"] == 1


async def test_an_open_merge_request_is_found_by_branch_and_owner(
    service: GitLabStub, root: Path, forge: GitLab
) -> None:
    elsewhere = merge_request(9, source_project_id=2)
    service.answers["GET :p/merge_requests"] = [elsewhere, merge_request()]
    service.answers["GET projects/2"] = {"path": "engine", "namespace": {"full_path": "bob"}}
    assert await forge.find_open_pull_request(root, "otter", {"Group/Sub"}) == LINK
    found = await forge.find_open_pull_request(root, "otter", {"bob"})
    assert found is not None and found.number == 9
    assert await forge.find_open_pull_request(root, "otter", {"sub"}) is None
    asked = service.asked[0].query
    assert (asked["source_branch"], asked["state"]) == ("otter", "opened")


async def test_the_head_is_a_branch_of_the_project_a_fork_or_nothing(
    service: GitLabStub, root: Path, forge: GitLab
) -> None:
    service.set_merge_request()
    assert await forge.fetch_head(root, 7) == PullRequestHead(
        "otter", "group/sub", "engine", is_from_fork=False
    )
    service.set_merge_request(source_project_id=2)
    assert (await forge.fetch_head(root, 7)).repository == ""
    service.answers["GET projects/2"] = {"path": "loom", "namespace": {"full_path": "bob"}}
    assert await forge.fetch_head(root, 7) == PullRequestHead(
        "otter", "bob", "loom", is_from_fork=True
    )
    assert await forge.fetch_link(root, 7) == LINK


async def test_an_unchanged_state_is_not_sent_again(
    service: GitLabStub, root: Path, forge: GitLab
) -> None:
    service.set_merge_request(head_pipeline={"status": "running"})
    state, version = await forge.fetch_state(root, URL)
    assert state == PullRequestState("open", "pending")
    assert version
    assert await forge.fetch_state(root, 7, version) == (None, version)
    service.set_merge_request(head_pipeline={"status": "failed"})
    state, newer = await forge.fetch_state(root, 7, version)
    assert state == PullRequestState("open", "failure")
    assert newer != version


@pytest.mark.parametrize(
    ("fields", "status", "checks"),
    [
        ({}, "open", None),
        ({"draft": True, "reviewers": [user("bob")]}, "draft", None),
        ({"reviewers": [user("bob")]}, "review", None),
        ({"detailed_merge_status": "requested_changes"}, "review", None),
        ({"state": "merged", "draft": True}, "merged", None),
        ({"state": "closed"}, "closed", None),
        ({"head_pipeline": {"status": "success"}}, "open", "success"),
        ({"head_pipeline": {"status": "canceled"}}, "open", "failure"),
        ({"head_pipeline": {"status": "waiting_for_resource"}}, "open", "pending"),
        ({"head_pipeline": "?", "reviewers": 3, "state": ["x"]}, "open", None),
    ],
)
def test_states_are_recognized(fields: dict[str, object], status: str, checks: str | None) -> None:
    found = parse_state(merge_request(**fields))
    assert (found.status, found.checks) == (status, checks)


@pytest.mark.parametrize(
    ("title", "ready"),
    [
        ("Draft: Otters", "Otters"),
        ("[Draft] draft:(draft) WIP: Otters", "Otters"),
        ("Drafts: Otters", "Drafts: Otters"),
    ],
)
def test_a_draft_is_marked_in_the_title(title: str, ready: str) -> None:
    assert mark_draft(title, draft=False) == ready
    assert mark_draft(title, draft=True) == f"Draft: {ready}"


async def test_title_description_and_draft_are_changed(
    service: GitLabStub, root: Path, forge: GitLab
) -> None:
    service.set_merge_request()
    await forge.edit(root, 7, "Otters", None)
    await forge.edit(root, URL, None, "/close")
    await forge.set_draft(root, 7, draft=True)
    await forge.edit(root, 7, None, None)
    assert service.sent("PUT", ONE) == [
        {"title": "Otters"},
        {"description": "\\/close"},
        {"title": "Draft: Otters"},
    ]


async def test_reviews_are_requested_by_name(
    service: GitLabStub, root: Path, forge: GitLab
) -> None:
    members = [{**user("bob", 3), "access_level": 30}, {**user("eve", 4), "access_level": 10}]
    service.answers["GET :p/members/all"] = members
    service.answers["GET users"] = [user("bob", 3)]
    service.set_merge_request()
    assert await forge.list_possible_reviewers(root) == ["bob"]
    await forge.request_review(root, 7, ["bob"])
    assert service.sent("PUT", ONE) == [{"reviewer_ids": [3]}]
    # Once more: asked again instead of added again.
    service.graphql = lambda query, variables: {"data": {}}
    await forge.request_review(root, 7, ["Bob"])
    assert service.sent("POST", "graphql")[0]["variables"] == {
        "project": "group/sub/engine",
        "number": "7",
        "user": "gid://gitlab/User/3",
    }
    service.answers["GET users"] = []
    with pytest.raises(SpinneyError, match=r"There is no user 'mallory' at gitlab\.com"):
        await forge.request_review(root, 7, ["mallory"])


async def test_a_reviewer_that_is_not_accepted_is_named(
    service: GitLabStub, root: Path, forge: GitLab
) -> None:
    service.answers["GET users"] = [user("zoe", 5)]
    service.set_merge_request()
    with pytest.raises(SpinneyError, match="GitLab did not accept zoe as reviewer"):
        await forge.request_review(root, 7, ["zoe"])


async def test_it_is_merged_with_the_method_that_was_chosen(
    service: GitLabStub, root: Path, forge: GitLab
) -> None:
    service.set_merge_request()
    service.answers[f"PUT {ONE}/merge"] = merge_request(state="merged")
    await forge.merge(root, 7, "squash", auto=False, head_commit=HEAD)
    await forge.merge(root, 7, "merge", auto=True, head_commit=None)
    once, later = service.sent("PUT", f"{ONE}/merge")
    assert (once["squash"], once["sha"], once["auto_merge"]) == (True, HEAD, False)
    assert (later["squash"], later["auto_merge"]) == (False, True)
    assert later["merge_when_pipeline_succeeds"] is True and "sha" not in later
    with pytest.raises(SpinneyError, match="Choose merge or squash"):
        await forge.merge(root, 7, "rebase", auto=False, head_commit=None)


async def test_with_merge_trains_it_is_added_to_the_train(
    service: GitLabStub, root: Path, forge: GitLab
) -> None:
    settings = {"id": 1, "merge_method": "ff", "squash_option": "never"}
    service.answers["GET :p"] = {**settings, "merge_trains_enabled": True}
    train = ":p/merge_trains/merge_requests/7"
    service.answers[f"POST {train}"] = (201, [])
    await forge.merge(root, 7, "rebase", auto=False, head_commit=HEAD)
    assert service.sent("POST", train)[0]["sha"] == HEAD


@pytest.mark.parametrize(
    ("status", "fields", "message", "kind"),
    [
        (409, {}, "There are new commits on the branch", "conflict"),
        (405, {"detailed_merge_status": "draft_status"}, "It is a draft", "conflict"),
        (422, {"detailed_merge_status": "conflict"}, "It conflicts with its base", "conflict"),
        (405, {"detailed_merge_status": "new_thing"}, "GitLab says: new thing", "conflict"),
        (405, {"state": "merged"}, "It is merged already", "conflict"),
        (405, {"state": "closed"}, "It is closed. Open it again", "conflict"),
        (405, {"state": "locked"}, "It is not open", "conflict"),
        (405, {}, "GitLab refused: no", "conflict"),
        (401, {"user": {"can_merge": False}}, "may not merge into 'main'", "forbidden"),
        (401, {}, r"glab is not signed in to gitlab\.com", "backend_unavailable"),
    ],
)
async def test_why_it_was_not_merged_is_explained(
    service: GitLabStub, root: Path, forge: GitLab, status: int, fields: dict[str, object],
    message: str, kind: str,
) -> None:  # fmt: skip
    service.set_merge_request(**fields)
    service.answers[f"PUT {ONE}/merge"] = (status, {"message": "no"})
    with pytest.raises(SpinneyError, match=message) as refused:
        await forge.merge(root, 7, "merge", auto=False, head_commit=HEAD)
    assert refused.value.error_type == kind


async def test_automatic_merging_is_switched_off(
    service: GitLabStub, root: Path, forge: GitLab
) -> None:
    endpoint = f"POST {ONE}/cancel_merge_when_pipeline_succeeds"
    service.answers[endpoint] = (201, merge_request())
    await forge.cancel_auto_merge(root, 7)
    service.answers[endpoint] = (406, {"message": "406 Not Acceptable"})
    with pytest.raises(SpinneyError, match="Automatic merging is not switched on"):
        await forge.cancel_auto_merge(root, 7)


async def test_the_branch_is_rebased_at_the_service(
    service: GitLabStub, root: Path, forge: GitLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merging, "_REBASE_INTERVAL", 0)
    service.answers[f"PUT {ONE}/rebase"] = (202, {"rebase_in_progress": True})
    service.set_merge_request(rebase_in_progress=False, merge_error=None)
    await forge.update_branch(root, 7, rebase=True)
    service.set_merge_request(merge_error="Rebase failed: Please rebase locally.")
    with pytest.raises(SpinneyError, match="Rebase it in the worktree and push"):
        await forge.update_branch(root, 7, rebase=True)
    service.answers[f"PUT {ONE}/rebase"] = (403, {"message": "Source branch is protected"})
    with pytest.raises(SpinneyError, match=r"may not push .* Source branch is protected"):
        await forge.update_branch(root, 7, rebase=True)
    with pytest.raises(SpinneyError, match="only by a rebase"):
        await forge.update_branch(root, 7, rebase=False)


async def test_a_branch_is_deleted_once(service: GitLabStub, root: Path, forge: GitLab) -> None:
    service.answers["DELETE :p/repository/branches/feature%2F%3Aid%3F"] = {}
    await forge.delete_branch(root, "feature/:id?")
    await forge.delete_branch(root, "gone")
    assert [each.path for each in service.asked] == [
        ":p/repository/branches/feature%2F%3Aid%3F",
        ":p/repository/branches/gone",
    ]
