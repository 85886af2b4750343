"""Sections 3, 4.2, 4.3 and 6 of the interface: what a plain client is sent, to the last field."""
# ruff: noqa: F811 - fixtures

from typing import Any

import pytest

from model.backends import base
from model.resources import Worktree
from tests.contract.conftest import Call
from tests.contract.puppets import call, http, server, socket, start_server  # noqa: F401 - fixtures
from tests.fakes import DONE, FakeBackend
from tests.model.git.made_repository import Repository
from tests.model.hosting.conftest import FakeGh
from tests.server.conftest import Socket

USAGE = {
    "input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens",
}  # fmt: skip


@pytest.fixture
async def session_id(call: Call, worktree: Worktree, socket: Socket) -> str:
    """A session whose client was there when it was made."""
    return str((await call("create_session", worktreeId=worktree.id))["id"])


async def data_of(socket: Socket, name: str) -> Any:
    """The data of a chat or session event."""
    frame = await socket.event(name)
    assert set(frame) == {"event", "data"}
    return frame["data"]


async def payload_of(socket: Socket, name: str) -> Any:
    """The payload of a project or worktree event."""
    frame = await socket.event(name)
    assert set(frame) == {"type", "event", "payload"}
    assert frame["type"] == "event"
    return frame["payload"]


async def test_a_response_streams_in_the_order_of_the_interface(
    call: Call, session_id: str, socket: Socket, backend: FakeBackend
) -> None:
    edit = {"file_path": "a.txt", "old_content": "a", "new_content": "b"}
    backend.script = lambda _: [
        base.TextDelta("answer", "I will. "),
        base.ToolUse("use", "edit", edit),
        DONE,
    ]
    await call("send_chat_message", sessionId=session_id, message="edit it")
    started = await data_of(socket, "message-started")
    assert set(started) == {"message_id", "session_id"}
    assert started["session_id"] == session_id
    delta = await data_of(socket, "content-delta")
    assert delta == {
        "message_id": started["message_id"],
        "content": "I will. ",
        "content_index": 0,
    }
    assert await data_of(socket, "tool-use") == {
        "message_id": started["message_id"],
        "tool_name": "edit",
        "tool_input": edit,
    }
    completed = await data_of(socket, "message-completed")
    assert set(completed) == {"message_id", "session_id", "stop_reason", "usage"}
    assert completed["stop_reason"] == "end_turn"
    assert set(completed["usage"]) >= USAGE


async def test_message_error(
    call: Call, session_id: str, socket: Socket, backend: FakeBackend
) -> None:
    backend.script = lambda _: [base.TurnFailed("No more today.", "rate_limit_error")]
    await call("send_chat_message", sessionId=session_id, message="hello")
    failed = await data_of(socket, "message-error")
    assert set(failed) == {"message_id", "error", "error_type"}
    assert (failed["error"], failed["error_type"]) == ("No more today.", "rate_limit_error")


async def test_session_created_updated_archived_deleted(
    call: Call, session_id: str, socket: Socket
) -> None:
    created = await data_of(socket, "session-created")
    assert set(created) == {"session"}
    assert created["session"]["id"] == session_id
    await call("update_session", sessionId=session_id, name="New")
    updated = await data_of(socket, "session-updated")
    assert set(updated) == {"session_id", "updates"}
    assert (updated["session_id"], updated["updates"]["name"]) == (session_id, "New")
    await call("archive_session", sessionId=session_id)
    assert await data_of(socket, "session-archived") == {"session_id": session_id}
    await call("delete_session", sessionId=session_id)
    assert await data_of(socket, "session-deleted") == {"session_id": session_id}


async def test_project_added_updated_removed(call: Call, alpha: str, socket: Socket) -> None:
    made = await call("add_project", path=alpha)
    assert await payload_of(socket, "project:added") == made
    changed = await call(
        "update_project_settings", projectId=made["id"], customSystemPrompt="Be brief."
    )
    assert await payload_of(socket, "project:updated") == changed
    await call("remove_project", projectId=made["id"])
    assert await payload_of(socket, "project:removed") == {"project_id": made["id"]}


async def test_worktree_status_updated(
    call: Call, with_remote: Repository, socket: Socket, fake_gh: FakeGh
) -> None:
    fake_gh.shows(state="OPEN", isDraft=True, statusCheckRollup=[{"state": "PENDING"}])
    made = await call("add_project", path=str(with_remote.root))
    worktree = await call("create_worktree", projectId=made["id"])
    await payload_of(socket, "worktree:created")
    url = "https://github.com/ada/loom/pull/7"
    await call("save_worktree_pr", worktreeId=worktree["id"], prNumber=7, prUrl=url)
    assert await payload_of(socket, "worktree:status_updated") == {
        "worktree_id": worktree["id"],
        "cached_pr_status": "draft",
        "cached_check_status": "pending",
    }


async def test_git_status_update(call: Call, with_remote: Repository, socket: Socket) -> None:
    made = await call("add_project", path=str(with_remote.root))
    worktree = await call("create_worktree", projectId=made["id"])
    await payload_of(socket, "worktree:created")
    await call("fetch_worktrees_status", projectId=made["id"])
    told = await payload_of(socket, "git:status-update")
    assert set(told) == {
        "worktree_id", "ahead", "behind", "uncommitted_added", "uncommitted_removed",
        "branch_diff_added", "branch_diff_removed", "unpushed", "checked_at",
    }  # fmt: skip
    assert told["worktree_id"] == worktree["id"]


async def test_events_beyond_the_interface_come_in_the_payload_envelope(
    call: Call, with_remote: Repository, socket: Socket, fake_gh: FakeGh
) -> None:
    project = await call("add_project", path=str(with_remote.root))
    made = await call("create_worktree", projectId=project["id"], customName="before")
    await payload_of(socket, "worktree:created")
    about = {"worktreeId": made["id"]}
    await call("git_push", worktreePath=made["path"])
    told = await payload_of(socket, "task:completed")
    assert set(told) == {"task", "ok", "detail", "worktree_id"}
    assert (told["task"], told["ok"], told["worktree_id"]) == ("push", True, made["id"])
    await call("rename_worktree", newName="after", **about)
    assert (await payload_of(socket, "worktree:renamed"))["worktree"]["name"] == "after"
    await call("update_worktree_label", label={"name": "now", "color": "#ff0000"}, **about)
    assert (await payload_of(socket, "worktree:updated"))["worktree"]["label"]["name"] == "now"
    await call("archive_worktree", **about)
    assert (await payload_of(socket, "worktree:archived"))["worktree"]["archived_at"]
    await call("unarchive_worktree", **about)
    assert (await payload_of(socket, "worktree:unarchived"))["worktree"]["archived_at"] is None
    await call("remove_worktree", force=True, **about)
    assert (await payload_of(socket, "worktree:deleted"))["worktree_id"] == made["id"]


async def test_send_message_subscribe_and_unsubscribe(session_id: str, socket: Socket) -> None:
    about = {"session_id": session_id}
    await socket.send({"type": "subscribe", "id": "1", **about})
    assert (await socket.answer("1"))["type"] == "response"
    await socket.send({"type": "send_message", "id": "2", "message": "hello", "files": [], **about})
    assert set((await socket.answer("2"))["data"]) == {"message_id", "status"}
    await data_of(socket, "message-completed")
    started = [f for f in socket.frames if f.get("event") == "message-started"]
    assert len(started) == 1, "a subscriber hears an event once"
    await socket.send({"type": "unsubscribe", "id": "3", **about})
    assert (await socket.answer("3"))["type"] == "response"


@pytest.mark.parametrize(
    ("frame", "error"),
    [
        ({"id": "1", "command": "nonsense"}, "Unknown command: nonsense"),
        ({"id": "1", "command": "get_session"}, "Missing field: sessionId"),
        ({"id": "1", "command": "get_session", "args": {"sessionId": 1}}, "Invalid field 'sess"),
        ({"id": "1", "command": "list_projects", "args": []}, "Invalid "),
    ],
)
async def test_a_failed_command_is_an_error_frame(socket: Socket, frame: Any, error: str) -> None:
    await socket.send(frame)
    told = await socket.answer("1")
    assert set(told) == {"type", "id", "error", "error_type"}
    assert told["error"].startswith(error)


@pytest.mark.parametrize("frame", ["no json", "[]", "1", '"text"', "null"])
async def test_a_frame_that_is_no_object_is_told_and_the_connection_stays(
    socket: Socket, frame: str
) -> None:
    await socket.send(frame)
    told = await socket.answer(None)
    assert told["type"] == "error"
    assert told["error"].startswith("Invalid request: ")
    assert await socket.call("list_projects") == []
