"""Landing: checks, the desk, and what brings a worktree's branch into its base."""

import asyncio
import json
from typing import Any

from tests.contract.conftest import RefusedError, expect_error
from tests.contract.project_client import ProjectClient


async def _branch(client: ProjectClient, name: str, text: str = "changed\n") -> Any:
    """Return a worktree with a commit."""
    made = await client.create(customName=name)
    client.write(made, f"{name}.txt", text)
    client.git(made, "add", "--all")
    client.git(made, "commit", "--quiet", "--message", f"Add {name}")
    await client.call("fetch_worktrees_status", projectId=client.project_id)
    return made


async def test_the_desk_shows_the_result_of_the_check(client: ProjectClient) -> None:
    made = await _branch(client, "checked")
    client.write(made, "spinney.json", json.dumps({"scripts": {"check": "echo fine"}}))
    await client.call("trust_project_scripts", projectId=client.project_id)
    result = await client.call("get_check_result", worktreeId=made["id"])
    assert (result["status"], result["has_script"]) == ("none", True)
    await client.call("run_worktree_script", worktreeId=made["id"], script="check")
    while result["status"] in ("none", "running"):
        await client.listener.event("landing:updated")
        desk = await client.call("get_landing_desk", projectId=client.project_id)
        (result,) = [row["check"] for row in desk["rows"] if row["worktree_id"] == made["id"]] or [
            result
        ]
    assert (result["status"], result["is_stale"], result["exit_code"]) == ("passed", False, 0)
    output = await client.call("get_script_output", worktreeId=made["id"], script="check")
    assert (output["output"], output["tree"]) == ("fine\n", result["tree"])


async def test_a_worktree_lands_and_is_taken_back(client: ProjectClient) -> None:
    made = await _branch(client, "landing")
    preview = await client.call("preview_landing", worktreeId=made["id"], method="squash")
    assert (preview["problem"], preview["commits"], preview["message"]) == ("", 1, "Add landing")
    landed = await client.call(
        "land_worktree", worktreeId=made["id"], baseCommit=preview["base_commit"], method="squash"
    )
    main = client.repository.git("rev-parse", "main")
    assert (landed["before"], landed["after"]) == (preview["base_commit"], main)
    error = await expect_error(
        client.call, "land_worktree", worktreeId=made["id"], baseCommit=preview["base_commit"]
    )
    assert error.startswith("'main' has moved since you looked at it.")
    listed = await client.call("list_landings", projectId=client.project_id)
    assert [one["id"] for one in listed][:1] == [landed["id"]]
    await client.call("undo_landing", landingId=landed["id"])
    assert client.repository.git("rev-parse", "main") == preview["base_commit"]


async def test_a_landed_base_is_pushed_and_stays(client: ProjectClient) -> None:
    made = await _branch(client, "pushed")
    preview = await client.call("preview_landing", worktreeId=made["id"])
    landed = await client.call(
        "land_worktree", worktreeId=made["id"], baseCommit=preview["base_commit"]
    )
    await client.call("push_base", projectId=client.project_id)
    assert client.repository.git("rev-parse", "origin/main") == landed["after"]
    error = await expect_error(client.call, "undo_landing", landingId=landed["id"])
    assert error.startswith("This was pushed: origin/main has it")


async def test_a_session_gets_a_message_about_a_conflict(client: ProjectClient) -> None:
    made = await _branch(client, "clash")
    refused = await expect_error(client.call, "write_landing_message", worktreeId=made["id"])
    assert "Neither a conflict with 'main' nor a red check" in refused
    client.repository.commit("clash.txt", "other\n")
    written = await client.call("write_landing_message", worktreeId=made["id"])
    assert "git merge --no-edit -- main" in written["message"]
    assert "clash.txt" in written["message"]
    sent = await client.call("send_landing_message", worktreeId=made["id"])
    session = await client.call("get_session", sessionId=sent["session_id"])
    assert session["messages"][0]["content"][0]["text"] == written["message"]
    text = await client.call("write_landing_text", worktreeId=made["id"])
    assert text["message"]


async def test_a_train_brings_several_in_and_lands(client: ProjectClient) -> None:
    made = [await _branch(client, name) for name in ("first", "second")]
    project = client.project_id
    train = await client.call(
        "start_train", projectId=project, worktreeIds=[one["id"] for one in made]
    )
    while train["status"] == "running":
        event = await client.listener.event("train:updated")
        train = event["payload"]["train"]
    assert (train["status"], [car["status"] for car in train["cars"]]) == ("ready", ["ready"] * 2)
    assert (await client.call("get_train", projectId=project))["id"] == train["id"]
    output = await client.call("get_train_output", trainId=train["id"], worktreeId=made[0]["id"])
    assert output == {"message": ""}
    stopped = await client.call("stop_train", trainId=train["id"])
    assert stopped["status"] == "ready", "it had ended"
    landed = await client.call("land_train", trainId=train["id"])
    assert landed["worktree_ids"] == [one["id"] for one in made]
    assert client.repository.git("rev-parse", "main") == landed["after"]
    await client.call("discard_train", trainId=train["id"])
    assert await client.call("get_train", projectId=project) is None


async def test_a_pushed_branch_is_swept_with_its_remote_branch(client: ProjectClient) -> None:
    made = await _branch(client, "swept")
    client.git(made, "push", "--quiet", "--set-upstream", "origin", "swept")
    listed = await client.call("list_sweep", projectId=client.project_id)
    (row,) = [one for one in listed["rows"] if one["worktree_id"] == made["id"]]
    assert (row["unpushed"], row["uncommitted"], row["merged"]) == (0, 0, None)
    assert row["size"] > 0
    (swept,) = await client.call(
        "sweep_worktrees", worktreeIds=[made["id"]], action="delete", deleteRemoteBranch=True
    )
    assert (swept["ok"], swept["message"]) == (True, "Deleted.")
    assert client.repository.git("ls-remote", "origin", "swept") == ""
    assert client.repository.git("branch", "--all", "--list", "*swept") == ""


# Two people at once ------------------------------------------------------------------------------


async def _both(client: ProjectClient, *wanted: tuple[str, dict[str, Any]]) -> list[Any]:
    """Let two clients call at once; returns what both got: a result, or a sentence."""

    async def one() -> Any:
        try:
            return await client.call(wanted[0][0], **wanted[0][1])
        except RefusedError as error:
            return error.error

    async def other() -> Any:
        await client.listener.send({"id": "other", "command": wanted[1][0], "args": wanted[1][1]})
        answer = await client.listener.answer("other")
        return answer["data"] if answer["type"] == "response" else answer["error"]

    return await asyncio.gather(one(), other())


async def _check_one_state(client: ProjectClient) -> None:
    """Check that both see the same landings, that the base is at the newest, and what is left."""
    git, project = client.repository.git, {"projectId": client.project_id}
    landings = await client.call("list_landings", **project)
    assert await client.listener.call("list_landings", **project) == landings
    standing = [one for one in landings if one["undone_at"] is None]
    assert git("rev-parse", "main") == (
        standing[0]["after"] if standing else landings[-1]["before"]
    )
    assert git("status", "--porcelain") == ""
    shown = await client.call("list_worktrees", **project)
    assert git("worktree", "list", "--porcelain").count("worktree ") == 1 + len(shown)
    git("fsck", "--strict", "--no-dangling")


async def _offer(client: ProjectClient, worktree: Any, **args: Any) -> tuple[str, dict[str, Any]]:
    preview = await client.call("preview_landing", worktreeId=worktree["id"])
    about = {"worktreeId": worktree["id"], "baseCommit": preview["base_commit"]}
    return "land_worktree", {**about, **args}


MOVED = "'main' has moved since you looked at it. Look at it again, then land."


async def test_of_two_who_land_at_once_one_is_refused_as_the_base_has_moved(
    client: ProjectClient,
) -> None:
    one, other = [await _branch(client, name) for name in ("heron", "otter")]
    got = await _both(client, await _offer(client, one), await _offer(client, one))
    assert [each for each in got if isinstance(each, str)] == [MOVED]
    await _check_one_state(client)
    third = await _branch(client, "stork")
    got = await _both(client, await _offer(client, other), await _offer(client, third))
    assert [each for each in got if isinstance(each, str)] == [MOVED]
    await _check_one_state(client)


async def test_a_train_and_a_worktree_that_land_at_once_do_not_both_land(
    client: ProjectClient,
) -> None:
    project = {"projectId": client.project_id}
    one, other = [await _branch(client, name) for name in ("heron", "otter")]
    train = await client.call("start_train", **project, worktreeIds=[one["id"], other["id"]])
    while train["status"] == "running":
        train = (await client.listener.event("train:updated"))["payload"]["train"]
    landing = ("land_train", {"trainId": train["id"], "after": "delete"})
    got = await _both(client, landing, await _offer(client, other, after="delete"))
    [refused] = [each for each in got if isinstance(each, str)]
    assert refused in (
        MOVED,
        "'main' or one of the branches has moved since the train started. Start it again.",
    )
    await _check_one_state(client)
    got = await _both(client, landing, ("discard_train", {"trainId": train["id"]}))
    assert isinstance(got[0], str)
    assert client.repository.git("for-each-ref", "refs/spinney/trains") == ""


async def test_what_is_taken_back_while_another_lands_stays_one_history(
    client: ProjectClient,
) -> None:
    one, other = [await _branch(client, name) for name in ("heron", "otter")]
    command, args = await _offer(client, one)
    landed = await client.call(command, **args)
    undo = ("undo_landing", {"landingId": landed["id"]})
    got = await _both(client, undo, await _offer(client, other))
    [refused] = [each for each in got if isinstance(each, str)]
    assert refused == MOVED or refused.startswith("Something came after this in 'main'")
    await _check_one_state(client)


async def test_a_worktree_is_swept_by_one_while_another_lands_it(client: ProjectClient) -> None:
    made = await _branch(client, "heron")
    sweep = {"worktreeIds": [made["id"]], "action": "delete", "force": True}
    landing = await _offer(client, made, after="delete")
    landed, swept = await _both(client, landing, ("sweep_worktrees", sweep))
    assert [(one["ok"], one["message"]) for one in swept] == [(True, "Deleted.")]
    if not isinstance(landed, str):
        assert landed["notes"] == []
        assert (client.repository.root / "heron.txt").exists()
    await _check_one_state(client)
    point = {"recoveryId": swept[0]["recovery_id"]}
    restored = await client.call("restore_worktree", **point)
    assert client.git(restored, "log", "-1", "--format=%s") == "Add heron"
