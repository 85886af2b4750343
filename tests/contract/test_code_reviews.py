"""Reviews of a worktree's changes, by a person and by an agent, as a client uses them."""

from typing import Any

from tests.contract.conftest import expect_error
from tests.contract.project_client import ProjectClient


async def test_hunks_are_accepted_rejected_taken_back_and_sent(client: ProjectClient) -> None:
    made = await client.create()
    of_it = {"worktreeId": made["id"]}
    for name in ("read.me", "new"):
        client.write(made, name)
    for name, verdict in (("read.me", "accepted"), ("new", "rejected")):
        shown = await client.call("get_file_diff", path=name, **of_it)
        decided = {"path": name, "hunk": shown["hunks"][0], "seen": shown["digest"]}
        await client.call("decide_hunk", verdict=verdict, reason="Not so.", **decided, **of_it)
        event = await client.listener.event("review:updated")
        assert event["payload"] == {"worktree_id": made["id"]}
    await client.call("mark_viewed", path="read.me", side="staged", **of_it)
    review = await client.call("get_review", **of_it)
    progress = review["progress"]
    assert (progress["accepted"], progress["rejected"], progress["hunks"]) == (1, 1, 2)
    assert [one["path"] for one in review["verdicts"]] == ["new", "read.me"]
    assert review["viewed"] == [{"path": "read.me", "side": "staged"}]
    sent = await client.call("send_verdicts", **of_it)
    page = await client.call("get_messages", sessionId=sent["session_id"])
    assert "`new`" in page["messages"][0]["content"][0]["text"]
    error = await expect_error(client.call, "send_verdicts", **of_it)
    assert error == "There are no rejected hunks to send."
    undone = await client.call("undo_verdict", **of_it)
    assert (undone["path"], undone["verdict"], undone["is_sent"]) == ("new", "rejected", True)
    assert client.git(made, "status", "--porcelain") == "M  read.me\n?? new"


async def test_the_demo_agent_reviews_a_worktree_and_its_findings_are_handled(
    client: ProjectClient,
) -> None:
    made = await client.create()
    of_it = {"worktreeId": made["id"]}
    client.write(made, "new", "woven\nTODO: cut\n")
    none = await client.call("get_code_review", **of_it)
    assert (none["status"], none["findings"]) == ("none", [])
    started = await client.call("run_code_review", **of_it)
    assert (started["status"], started["agent"]) == ("running", "Demo agent")
    done = await wait_for_review(client, of_it)
    assert (done["status"], done["error"]) == ("completed", "")
    todo, note = done["findings"]
    assert (todo["path"], todo["first_line"], todo["severity"]) == ("new", 2, "major")
    key = {"findingId": note["id"]}
    changed = await client.call("update_finding", dismissed=True, severity="minor", **key, **of_it)
    assert (changed["state"], changed["severity"]) == ("dismissed", "minor")
    sent = await client.call("send_findings", findingIds=[todo["id"]], **of_it)
    page = await client.call("get_messages", sessionId=sent["session_id"])
    assert "`new:2` major" in page["messages"][0]["content"][0]["text"]
    now = await client.call("get_code_review", **of_it)
    assert [one["state"] for one in now["findings"]] == ["sent", "dismissed"]
    error = await expect_error(client.call, "stop_code_review", **of_it)
    assert error == "No review of this worktree is running."


async def wait_for_review(client: ProjectClient, of_it: dict[str, str]) -> Any:
    while True:
        await client.listener.event("review:updated")
        review = await client.call("get_code_review", **of_it)
        if review["status"] != "running":
            return review


async def test_two_worktrees_are_compared(client: ProjectClient) -> None:
    one, other = await client.create(), await client.create()
    client.write(one, "read.me", "one\n")
    client.write(other, "read.me", "other\n")
    of_it = {"projectId": client.project_id}
    found = await client.call("compare_branches", left=one["id"], right=other["id"], **of_it)
    assert (found["left"], found["right"]) == (one["name"], other["name"])
    assert [file["path"] for file in found["files"]] == ["read.me"]
    sides = {"left": found["left_commit"], "right": found["right_commit"], "path": "read.me"}
    diff = await client.call("get_compared_diff", **sides, **of_it)
    assert "-one\n+other\n" in diff["text"]
    rows = await client.call("get_compared_rows", **sides, **of_it)
    assert [row["sign"] for row in rows["rows"]] == ["@", "-", "+"]


async def test_the_demo_agent_writes_release_notes(client: ProjectClient) -> None:
    client.repository.git("tag", "v1.0")
    client.repository.commit("heddle", "1\n")
    notes = await client.call("write_release_notes", projectId=client.project_id)
    assert notes["since"] == "v1.0" and notes["text"]
