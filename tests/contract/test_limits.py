"""Section 8 of the interface: every limit, of the served program."""

import json
from typing import Any

import aiohttp
import pytest

from tests.contract.conftest import bearer, expect_error, make_remote_call, open_socket
from tests.contract.test_fuzz_bytes import open_raw_socket
from tests.program import Program, Serving
from tests.server.conftest import Socket, next_frame


async def open_numbered_socket(http: aiohttp.ClientSession, served: Serving, since: int) -> Socket:
    params = {"token": served.token, "since": str(since)}
    return Socket(await http.ws_connect("/ws", params=params, max_msg_size=0))


async def create_session(program: Program, socket: Socket) -> Any:
    project = await socket.call("add_project", path=str(program.make_repository()))
    worktree = await socket.call("open_base_worktree", projectId=project["id"])
    ids = {"worktreeId": worktree["id"]}
    return await socket.call("create_session", **ids, executionMode="yolo")


async def test_a_thousand_events_are_kept_and_missed_ones_are_reported(
    served: Serving, http: aiohttp.ClientSession, socket: Socket
) -> None:
    listener = await open_numbered_socket(http, served, 0)
    first = (await listener.event("hello"))["payload"]["seq"]
    folder = await socket.call("create_folder", name="0")
    for number in range(1, 1100):
        await socket.call("rename_folder", folderId=folder["id"], name=str(number))
        # Read each one now: a client that reads nothing answers no pings, and is disconnected.
        frame = await listener.event("project:updated")
        assert frame["payload"]["name"] == str(number)
    last = frame["seq"]
    back = await open_numbered_socket(http, served, last - 500)
    assert (await back.event("hello"))["payload"]["seq"] == last
    resumed = [await back.event("project:updated") for _ in range(500)]
    assert [frame["seq"] for frame in resumed] == list(range(last - 499, last + 1))
    late = await open_numbered_socket(http, served, first or 1)
    missed = (await late.event("events-missed"))["payload"]
    assert missed == {"from": (first or 1) + 1, "to": last - 1000}
    kept = [await late.event("project:updated") for _ in range(1000)]
    assert kept[-1]["seq"] == last
    async with http.get("/api/init", headers=bearer(served)) as response:
        assert (await response.json())["seq"] == last


async def test_a_page_has_a_hundred_messages_and_none_at_a_large_offset(
    program: Program, served: Serving, http: aiohttp.ClientSession, socket: Socket
) -> None:
    session = await create_session(program, socket)
    for number in range(51):
        message = f"/demo say {number}"
        await socket.call("send_chat_message", sessionId=session["id"], message=message)
    done = [frame for frame in socket.frames if frame.get("event") == "message-completed"]
    for _ in range(51 - len(done)):
        await socket.event("message-completed")
    path = f"/api/sessions/{session['id']}/messages"
    for query, count in (("", 100), ("?offset=100", 2), ("?limit=7&offset=3", 7),
                         (f"?offset={2**64}", 0)):  # fmt: skip
        async with http.get(path + query, headers=bearer(served)) as response:
            assert (response.status, len((await response.json())["messages"])) == (200, count)
    call = make_remote_call(socket)
    for limit in (0, -1, 1001):
        error = await expect_error(call, "get_messages", sessionId=session["id"], limit=limit)
        assert "'limit'" in error


async def test_folders_nest_three_deep_at_most(served: Serving, socket: Socket) -> None:
    call = make_remote_call(socket)
    parent = None
    for name in ("a", "b", "c"):
        parent = (await call("create_folder", name=name, parentId=parent))["id"]
    error = await expect_error(call, "create_folder", name="d", parentId=parent)
    assert error == "Would exceed max nesting depth"


async def test_paths_too_long_for_the_system_are_refused_with_a_reason(
    program: Program, served: Serving, socket: Socket
) -> None:
    call = make_remote_call(socket)
    project = await call("add_project", path=str(program.make_repository()))
    long = "/" + "x/" * 3000
    for name, field in (("add_project", "path"), ("get_git_remotes", "repoPath")):
        error = await expect_error(call, name, **{field: long})
        assert error.startswith("Path is not a git repository: ")
    for place in (long, "x" * 300, "~no-such-user/x"):
        ids = {"projectId": project["id"]}
        error = await expect_error(call, "update_project_settings", **ids, worktreesDir=place)
        assert "'worktreesDir'" in error


async def test_a_frame_of_16_mib_is_accepted_and_a_larger_one_closes_with_1009(
    served: Serving, socket: Socket
) -> None:
    frame = {"id": "a", "command": "list_projects", "args": {"x": ""}}
    room = 16 * 1024 * 1024 - len(json.dumps(frame))
    frame["args"] = {"x": "x" * (room - 1)}
    await socket.send(frame)
    assert (await socket.answer("a"))["data"] == []
    reader, writer = await open_raw_socket(served)
    writer.write(b"\x81\xff" + (16 * 1024 * 1024 + 1).to_bytes(8, "big") + bytes(4) + b"x" * 1000)
    opcode, payload = await next_frame(reader)
    assert (opcode, int.from_bytes(payload[:2], "big")) == (8, 1009)
    writer.close()
    assert await socket.call("list_projects") == []


async def test_the_longest_message_fits_in_a_body_however_it_is_escaped(
    program: Program, served: Serving, socket: Socket, http: aiohttp.ClientSession
) -> None:
    session = await create_session(program, socket)
    path = f"/api/sessions/{session['id']}/messages"
    for count, status in ((1024 * 1024, 200), (1024 * 1024 + 1, 413)):
        body = {"message": "\N{SPOOL OF THREAD}" * count}
        async with http.post(path, json=body, headers=bearer(served)) as response:
            assert response.status == status


async def test_a_body_over_16_mib_is_too_large(
    served: Serving, http: aiohttp.ClientSession
) -> None:
    body = {"message": "x" * (16 * 1024 * 1024)}
    async with http.post(
        "/api/sessions/no/messages", json=body, headers=bearer(served)
    ) as response:
        assert (response.status, await response.json()) == (
            413,
            {
                "error": "The body is larger than the limit of 16 MiB.",
                "error_type": "too_large",
            },
        )


async def test_a_backends_own_limit_is_reported(
    program: Program, served: Serving, socket: Socket
) -> None:
    session = await create_session(program, socket)
    message = "/demo fail rate_limit"
    await socket.call("send_chat_message", sessionId=session["id"], message=message)
    failed = [frame for frame in socket.frames if frame.get("event") == "message-error"]
    data = (failed[0] if failed else await socket.event("message-error"))["data"]
    assert data["error_type"] == "rate_limit_error"
    assert "30 seconds" in data["error"]


@pytest.mark.parametrize("kind", ["plain", "numbered"])
async def test_a_client_that_reads_nothing_blocks_no_other_client(
    program: Program, served: Serving, http: aiohttp.ClientSession, socket: Socket, kind: str
) -> None:
    silent = await (
        open_socket(http, served.token)
        if kind == "plain"
        else open_numbered_socket(http, served, 0)
    )
    session = await create_session(program, socket)
    ids = {"sessionId": session["id"]}
    await socket.call("send_chat_message", **ids, message="/demo markdown 2000")
    assert (await socket.call("list_projects"))[0]["is_folder"] is False
    if not any(frame.get("event") == "message-completed" for frame in socket.frames):
        await socket.event("message-completed")
    await silent.send({"id": "late", "command": "get_http_server_status"})
    assert (await silent.answer("late"))["type"] == "response"
