"""Sections 3 and 6 of the interface: every event with its envelope and fields."""

from typing import Any

import aiohttp

from tests.contract.conftest import Call, Chat, Target, open_socket, receive_data, receive_payload
from tests.contract.test_sessions import USAGE_FIELDS
from tests.model.git.repository import Repository
from tests.model.hosting.conftest import FakeGh
from tests.server.conftest import Socket


async def test_message_started_content_delta_tool_use_and_message_completed_arrive_in_order(
    call: Call, worktree: Any, listener: Socket
) -> None:
    made = await call("create_session", worktreeId=worktree["id"], executionMode="build")
    words = "/demo say one two\n/demo write a.txt: b"
    await call("send_chat_message", sessionId=made["id"], message=words)
    started = await receive_data(listener, "message-started")
    assert set(started) == {"message_id", "session_id"}
    assert started["session_id"] == made["id"]
    message_id = started["message_id"]
    about = {"message_id": message_id}
    first = await receive_data(listener, "content-delta")
    assert first == {**about, "content": first["content"], "content_index": 0}
    # Deltas in quick succession are merged.
    assert first["content"].startswith("one ")
    edit = {"file_path": "a.txt", "old_content": "", "new_content": "b\n"}
    assert await receive_data(listener, "tool-use") == {
        **about, "tool_name": "edit", "tool_input": edit,
    }  # fmt: skip
    completed = await receive_data(listener, "message-completed")
    assert set(completed) == {"message_id", "session_id", "stop_reason", "usage"}
    assert (completed["message_id"], completed["stop_reason"]) == (message_id, "end_turn")
    assert set(completed["usage"]) >= USAGE_FIELDS
    events = [
        f for f in listener.frames if f.get("data", {}).get("message_id") == about["message_id"]
    ]
    names = [frame["event"] for frame in events]
    assert (names[0], names[-1]) == ("message-started", "message-completed")
    assert set(names[1:-1]) == {"content-delta", "tool-use"}
    deltas = [frame["data"]["content"] for frame in events if frame["event"] == "content-delta"]
    assert "".join(deltas).strip() == "one two"
    assert not any("seq" in frame for frame in listener.frames), "plain frames have no number"


async def test_message_error_ends_a_started_message(
    call: Call, session: Any, chat: Chat, listener: Socket
) -> None:
    await call("send_chat_message", sessionId=session["id"], message="/demo fail rate_limit")
    started = await receive_data(listener, "message-started")
    assert await receive_data(listener, "message-error") == {
        "message_id": started["message_id"],
        "error": "The demo's rate limit is reached. The limit ends in 30 seconds.",
        "error_type": "rate_limit_error",
    }
    await chat.until(session, "paused")


async def test_session_created(call: Call, worktree: Any, listener: Socket) -> None:
    made = await call("create_session", worktreeId=worktree["id"])
    assert await receive_data(listener, "session-created") == {"session": made}


async def test_session_updated(call: Call, session: Any, listener: Socket) -> None:
    await call("update_session", sessionId=session["id"], name="New")
    data = await receive_data(listener, "session-updated")
    assert set(data) == {"session_id", "updates"}
    assert (data["session_id"], data["updates"]["name"]) == (session["id"], "New")


async def test_session_archived(call: Call, session: Any, listener: Socket) -> None:
    await call("archive_session", sessionId=session["id"])
    assert await receive_data(listener, "session-archived") == {"session_id": session["id"]}


async def test_session_deleted(call: Call, session: Any, listener: Socket) -> None:
    await call("delete_session", sessionId=session["id"])
    assert await receive_data(listener, "session-deleted") == {"session_id": session["id"]}


async def test_project_added(call: Call, repository_path: str, listener: Socket) -> None:
    made = await call("add_project", path=repository_path)
    assert await receive_payload(listener, "project:added") == made


async def test_project_updated(call: Call, project: Any, listener: Socket) -> None:
    changed = await call(
        "update_project_settings", projectId=project["id"], customSystemPrompt="Be brief."
    )
    assert await receive_payload(listener, "project:updated") == changed


async def test_project_removed(call: Call, project: Any, listener: Socket) -> None:
    await call("remove_project", projectId=project["id"])
    assert await receive_payload(listener, "project:removed") == {"project_id": project["id"]}


async def test_worktree_creating_and_worktree_created(
    call: Call, project: Any, listener: Socket
) -> None:
    made = await call("create_worktree", projectId=project["id"])
    fields = ("id", "project_id", "name", "path", "branch")
    assert await receive_payload(listener, "worktree:creating") == {
        key: made[key] for key in fields
    }
    created = await receive_payload(listener, "worktree:created")
    found = await call("get_worktree", worktreeId=made["id"])
    # Its git status may be known by now; it was not when the event was sent.
    without_status = dict.fromkeys(key for key in found if key.startswith("cached_"))
    assert created == {"worktree": {**found, **without_status}}


async def test_worktree_create_error(
    call: Call, project: Any, with_remote: Repository, listener: Socket
) -> None:
    # Git needs a directory here and finds a file.
    (with_remote.root / ".git" / "worktrees").write_text("")
    made = await call("create_worktree", projectId=project["id"])
    failed = await receive_payload(listener, "worktree:create_error")
    assert set(failed) == {"id", "project_id", "error"}
    assert (failed["id"], failed["project_id"]) == (made["id"], project["id"])
    assert failed["error"].startswith("Failed to create worktree: ")


async def test_worktree_status_updated(
    call: Call, worktree: Any, listener: Socket, fake_gh: FakeGh
) -> None:
    fake_gh.set_pull_request(state="OPEN", isDraft=True, statusCheckRollup=[{"state": "PENDING"}])
    url = "https://github.com/ada/loom/pull/7"
    await call("save_worktree_pr", worktreeId=worktree["id"], prNumber=7, prUrl=url)
    assert await receive_payload(listener, "worktree:status_updated") == {
        "worktree_id": worktree["id"],
        "cached_pr_status": "draft",
        "cached_check_status": "pending",
    }


async def test_git_status_update(call: Call, project: Any, worktree: Any, listener: Socket) -> None:
    await call("fetch_worktrees_status", projectId=project["id"])
    payload = await receive_payload(listener, "git:status-update")
    assert set(payload) == {
        "worktree_id", "ahead", "behind", "uncommitted_added", "uncommitted_removed",
        "branch_diff_added", "branch_diff_removed", "unpushed", "checked_at",
    }  # fmt: skip
    assert payload["worktree_id"] == worktree["id"]


async def test_background_task_completion(call: Call, worktree: Any, listener: Socket) -> None:
    await call("git_push", worktreePath=worktree["path"])
    payload = await receive_payload(listener, "task:completed")
    assert set(payload) == {"task", "ok", "detail", "worktree_id"}
    assert (payload["task"], payload["ok"], payload["worktree_id"]) == (
        "push",
        True,
        worktree["id"],
    )


async def test_events_beyond_the_interface_use_the_payload_envelope(
    call: Call, worktree: Any, listener: Socket
) -> None:
    about = {"worktreeId": worktree["id"]}
    await call("rename_worktree", newName="after", **about)
    assert (await receive_payload(listener, "worktree:renamed"))["worktree"]["name"] == "after"
    await call("update_worktree_label", label={"name": "now", "color": "#ff0000"}, **about)
    assert (await receive_payload(listener, "worktree:updated"))["worktree"]["label"][
        "name"
    ] == "now"
    await call("archive_worktree", **about)
    assert (await receive_payload(listener, "worktree:archived"))["worktree"]["archived_at"]
    await call("unarchive_worktree", **about)
    assert (await receive_payload(listener, "worktree:unarchived"))["worktree"][
        "archived_at"
    ] is None
    await call("remove_worktree", force=True, **about)
    assert (await receive_payload(listener, "worktree:deleted"))["worktree_id"] == worktree["id"]


async def test_every_event_goes_to_every_connected_client(
    call: Call, session: Any, target: Target, listener: Socket
) -> None:
    async with aiohttp.ClientSession(target.base_url) as http:
        other = await open_socket(http, target.token)
        await call("send_chat_message", sessionId=session["id"], message="/demo say hello")
        for client in (listener, other):
            assert (await receive_data(client, "message-started"))["session_id"] == session["id"]
            assert (await receive_data(client, "content-delta"))["content"].strip() == "hello"
            assert (await receive_data(client, "message-completed"))["session_id"] == session["id"]
