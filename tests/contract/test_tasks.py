"""`start_task`: a worktree, a session and its first message in one step; all sessions as rows."""

import asyncio
import uuid
from typing import Any

import pytest

from tests.contract.conftest import Call, Chat, expect_error
from tests.contract.project_client import ProjectClient


async def test_a_task_has_a_worktree_a_session_and_a_message_that_runs(
    client: ProjectClient, chat: Chat
) -> None:
    started = await client.call(
        "start_task", projectId=client.project_id, prompt="/demo say done", name="calm-heron",
        sessionName="Say it", executionMode="build",
    )  # fmt: skip
    worktree, session = started["worktree"], started["session"]
    assert (worktree["name"], worktree["branch"]) == ("calm-heron", "calm-heron")
    assert client.git(worktree, "branch", "--show-current") == "calm-heron"
    assert (session["worktree_id"], session["name"]) == (worktree["id"], "Say it")
    assert session["execution_mode"] == "build"
    while not (now := await client.call("get_session", sessionId=session["id"]))["last_run"]:
        await chat.receive()
    assert now["messages"][0]["id"] == started["message_id"]
    assert await chat.last_text(session) == "done"


async def test_a_task_of_one_id_is_started_once(client: ProjectClient) -> None:
    args = {"projectId": client.project_id, "prompt": "Wait", "taskId": str(uuid.uuid4())}
    first, second = await asyncio.gather(
        client.call("start_task", **args), client.call("start_task", **args)
    )
    again = await client.call("start_task", **args)
    assert {one["session"]["id"] for one in (first, second, again)} == {args["taskId"]}
    assert {one["worktree"]["id"] for one in (first, second, again)} == {first["worktree"]["id"]}
    assert await client.list_names() == [first["worktree"]["name"]]


async def test_a_task_that_cannot_start_leaves_nothing(client: ProjectClient) -> None:
    async def refused(**args: Any) -> str:
        given = {"projectId": client.project_id, "prompt": "Go", **args}
        return await expect_error(client.call, "start_task", **given)

    assert "The message is empty." in await refused(prompt=" ")
    assert "'backend': must be one of" in await refused(backend="nobody")
    assert "Not a readable file" in await refused(files=["/no/such/file"])
    assert "no branch or commit 'nowhere'" in await refused(baseBranch="nowhere")
    assert "Give one of 'branch'" in await refused(baseBranch="main", branch="main")
    client.repository.write("refuse", "exit 1\n")
    hook = client.repository.root / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    hook.chmod(0o755)
    assert "Failed to create worktree" in await refused()
    hook.unlink()
    assert await client.list_names() == []
    assert (await client.call("list_all_sessions"))["sessions"] == []


async def test_all_sessions_are_listed_with_filters_and_in_pages(
    client: ProjectClient, worktree: Any
) -> None:
    call = client.call
    names = ("Parse rows", "Draw bars", "Sort rows")
    made = [await call("create_session", worktreeId=worktree["id"], name=name) for name in names]

    async def listed(**args: Any) -> list[str]:
        return [row["name"] for row in (await call("list_all_sessions", **args))["sessions"]]

    assert await listed() == [*reversed(names)]
    page = await call("list_all_sessions", limit=1, offset=1)
    assert (page["total"], [row["id"] for row in page["sessions"]]) == (3, [made[1]["id"]])
    row = page["sessions"][0]
    assert (row["worktree_name"], row["branch"]) == (worktree["name"], worktree["branch"])
    assert (row["project_id"], row["status"], row["queued"]) == (client.project_id, "idle", 0)
    assert await listed(search="ROWS parse") == ["Parse rows"]
    assert await listed(search=worktree["branch"]) == [*reversed(names)]
    assert await listed(status=["running", "waiting"]) == []
    assert await listed(backend="nobody") == []
    await call("archive_session", sessionId=made[0]["id"])
    assert await listed(projectId=client.project_id) == ["Sort rows", "Draw bars"]
    assert await listed(worktreeId=worktree["id"], archived="only") == ["Parse rows"]
    await call("archive_worktree", worktreeId=worktree["id"])
    assert await listed() == []
    assert len(await listed(archived="include")) == 3


@pytest.mark.parametrize("wrong", [{"limit": 0}, {"offset": -1}, {"search": "x" * 501}])
async def test_a_list_of_all_sessions_has_bounds(call: Call, wrong: dict[str, Any]) -> None:
    assert f"Invalid field '{next(iter(wrong))}'" in await expect_error(
        call, "list_all_sessions", **wrong
    )
