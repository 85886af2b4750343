"""What is read of a worktree's pull request, what changes it, and what a session gets of it."""

from typing import Any

import pytest

from tests.contract.conftest import expect_error, receive_payload
from tests.contract.project_client import ProjectClient
from tests.live.hosting_pull_requests import Check, Comment, PullRequest, Thread
from tests.model.hosting.conftest import FakeGh

URL = "https://github.com/ada/loom/pull/7"
LOG = "repos/ada/loom/actions/jobs/1000"


@pytest.fixture
async def linked(client: ProjectClient, fake_gh: FakeGh) -> Any:
    """A worktree with a pull request, with a failed check and a comment."""
    fake_gh.set_details(
        PullRequest(
            title="Mend the loom", checks=[Check("FAILURE")], threads=[Thread()], behind=1,
            conversation=[Comment("Please rename this.", "eve", "NONE")],
        )
    )  # fmt: skip
    fake_gh.set_answer(f"api {LOG}", {"steps": []})
    fake_gh.set_result(f"api {LOG}/logs", "2026-01-01T00:00:00.0000000Z expected 3\n")
    made = await client.create()
    saved = {"worktreeId": made["id"], "prNumber": 7, "prUrl": URL}
    await client.call("save_worktree_pr", **saved)
    return made


async def test_get_pull_request_and_get_check_log(client: ProjectClient, linked: Any) -> None:
    found = await client.call("get_pull_request", worktreeId=linked["id"])
    assert (found["number"], found["title"], found["phase"]) == (7, "Mend the loom", "open")
    (check,) = found["checks"]
    assert (check["name"], check["state"], check["has_log"]) == ("CI / check 0", "failed", True)
    log = await client.call("get_check_log", worktreeId=linked["id"], checkId=check["id"])
    assert (log["text"], log["left_out"], log["name"]) == ("expected 3", 0, "CI / check 0")
    error = await expect_error(
        client.call, "get_check_log", worktreeId=linked["id"], checkId="job:1"
    )
    assert error.startswith("The newest commit of the pull request has no such check.")


async def test_a_run_that_a_newer_one_of_its_check_replaced_is_not_listed(
    client: ProjectClient, linked: Any, fake_gh: FakeGh
) -> None:
    runs = [Check("FAILURE", name="test"), Check("SUCCESS", name="test"), Check("FAILURE")]
    fake_gh.set_details(PullRequest(checks=runs))
    found = await client.call("get_pull_request", worktreeId=linked["id"], refresh=True)
    shown = [(check["name"], check["state"]) for check in found["checks"]]
    assert shown == [("CI / test", "passed"), ("CI / check 2", "failed")]


async def test_a_worktree_without_a_pull_request_says_what_to_do(client: ProjectClient) -> None:
    made = await client.create()
    error = await expect_error(client.call, "get_pull_request", worktreeId=made["id"])
    assert error == f"'{made['name']}' has no pull request. Open one, or link one that exists."


CHANGES: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    (
        "merge_pull_request",
        {"method": "squash", "headCommit": "a" * 40},
        {"method": "SQUASH", "head": "a" * 40},
    ),
    ("merge_pull_request", {"auto": True}, {"method": "MERGE"}),
    ("update_pull_request_branch", {"rebase": True}, {"method": "REBASE", "head": "a" * 40}),
    ("set_pull_request_draft", {"draft": True}, {}),
    ("edit_pull_request", {"title": "Otters"}, {"title": "Otters"}),
    (
        "reply_to_thread",
        {"threadId": "T_7_0", "text": "Done."},
        {"thread": "T_7_0", "body": "Done."},
    ),
    ("reply_to_thread", {"threadId": "T_7_0", "resolve": True}, {"thread": "T_7_0"}),
]
"""Commands, their arguments, and the variables of what they send."""


async def test_what_changes_a_pull_request_returns_how_it_is_then(
    client: ProjectClient, linked: Any, fake_gh: FakeGh
) -> None:
    for number, (command, args, variables) in enumerate(CHANGES):
        found = await client.call(command, worktreeId=linked["id"], **args)
        assert found["number"] == 7, command
        (sent,) = fake_gh.changes[number:]
        assert {key: sent[key] for key in sent if key != "id"} == variables, command
        done = await receive_payload(client.listener, "task:completed")
        assert (done["task"], done["ok"], done["worktree_id"]) == (command, True, linked["id"])


async def test_cancel_auto_merge(client: ProjectClient, linked: Any, fake_gh: FakeGh) -> None:
    error = await expect_error(client.call, "cancel_auto_merge", worktreeId=linked["id"])
    assert error == "The pull request is neither merged automatically nor in the merge queue."
    fake_gh.set_details(PullRequest(auto_merge="SQUASH"))
    found = await client.call("cancel_auto_merge", worktreeId=linked["id"])
    assert (found["auto_merge"], len(fake_gh.changes)) == ("squash", 1)


async def test_request_review_and_list_possible_reviewers(
    client: ProjectClient, linked: Any, fake_gh: FakeGh
) -> None:
    users = {"nodes": [{"login": "ada"}, {"login": "bob"}]}
    people = {"viewer": {"login": "ada"}, "repository": {"assignableUsers": users}}
    fake_gh.set_answer("PossibleReviewers", {"data": people})
    assert await client.call("list_possible_reviewers", worktreeId=linked["id"]) == ["bob"]
    fake_gh.set_answer("api repos/ada/loom/pulls/7/requested_reviewers", {})
    asked = {"worktreeId": linked["id"], "reviewers": ["@bob", "bob", "looms/weavers"]}
    assert (await client.call("request_review", **asked))["number"] == 7
    (sent,) = [one["input"] for one in fake_gh.calls if "requested" in str(one["args"])]
    assert sent == '{"reviewers": ["bob"], "team_reviewers": ["weavers"]}'


REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("edit_pull_request", {}, "Give a new 'title' or a new 'body'."),
    ("edit_pull_request", {"title": "a\nb"}, "Invalid field 'title': must be one line of 1"),
    ("edit_pull_request", {"body": "x" * 65_537}, "Invalid field 'body': must have at most"),
    ("request_review", {"reviewers": []}, "Invalid field 'reviewers': must name 1 to 50"),
    ("reply_to_thread", {"threadId": "T"}, "Give a 'text' to reply with, or resolve the"),
    (
        "reply_to_thread",
        {"threadId": "comment:IC_0", "text": "Done.", "resolve": True},
        "A comment of the conversation cannot be resolved.",
    ),
    ("merge_pull_request", {"method": "fast"}, "Invalid field 'method'"),
    ("merge_pull_request", {"headCommit": "b" * 40}, "The branch of the pull request has"),
]
"""Commands, their arguments, and how their errors begin."""


async def test_what_cannot_be_done_changes_nothing(
    client: ProjectClient, linked: Any, fake_gh: FakeGh
) -> None:
    for command, args, error in REFUSED:
        refused = await expect_error(client.call, command, worktreeId=linked["id"], **args)
        assert refused.startswith(error), (command, args)
        assert fake_gh.changes == [], (command, args)


async def test_fix_checks_and_answer_comments_write_to_a_session(
    client: ProjectClient, linked: Any, fake_gh: FakeGh
) -> None:
    for command, text in (("fix_checks", "expected 3"), ("answer_comments", "# swim.py:3")):
        session = await client.call("create_session", worktreeId=linked["id"])
        sent = await client.call(command, worktreeId=linked["id"], sessionId=session["id"])
        assert (sent["session_id"], set(sent)) == (
            session["id"],
            {"session_id", "message_id", "status"},
        )
        read = await read_messages(client, session)
        assert text in read
    assert "# On the whole pull request" in read and "eve wrote:\\nPlease rename this." in read
    fake_gh.set_details(PullRequest())
    error = await expect_error(client.call, "fix_checks", worktreeId=linked["id"])
    assert error == "No check of #7 has failed."
    error = await expect_error(client.call, "answer_comments", worktreeId=linked["id"])
    assert error == "All comments of #7 are resolved or answered."


async def test_set_pull_request_loop_sends_by_itself(client: ProjectClient, linked: Any) -> None:
    other = await client.call("create_session", worktreeId=linked["id"])
    session = await client.call("create_session", worktreeId=linked["id"])
    switch = {"sessionId": session["id"], "enabled": True}
    error = await expect_error(client.call, "set_pull_request_loop", **switch, limit=21)
    assert error == "Invalid field 'limit': must be between 1 and 20"
    await client.call("set_pull_request_loop", sessionId=other["id"], enabled=True, limit=5)
    found = await client.call("set_pull_request_loop", **switch)
    assert found["pull_request_loop"]["limit"] == 3
    while "expected 3" not in await read_messages(client, session):
        await client.listener.receive()
    found = await client.call("get_session", sessionId=session["id"])
    assert found["pull_request_loop"]["used"] == 1
    found = await client.call("get_session", sessionId=other["id"])
    assert found["pull_request_loop"] is None, "one session of a worktree"
    found = await client.call("set_pull_request_loop", **{**switch, "enabled": False})
    assert found["pull_request_loop"] is None


async def read_messages(client: ProjectClient, session: Any) -> str:
    return str(await client.call("get_messages", sessionId=session["id"]))
