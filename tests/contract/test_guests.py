"""Guest links: a session or a project shared with others, while the program serves."""

import json
from typing import Any

import aiohttp
import pytest

from tests.contract.conftest import open_socket
from tests.program import Program, Serving
from tests.server.conftest import Socket


@pytest.fixture
async def shared(program: Program, socket: Socket) -> dict[str, Any]:
    """A session of the demo agent in a worktree of a repository."""
    project = await socket.call("add_project", path=str(program.make_repository()))
    worktree = await socket.call("create_worktree", projectId=project["id"])
    await socket.event("worktree:created")
    made = await socket.call("create_session", worktreeId=worktree["id"], executionMode="build")
    return {**made, "project_id": project["id"]}


async def open_link(http: aiohttp.ClientSession, url: str) -> tuple[int, dict[str, Any]]:
    """Open a link as a new device; returns status and reply."""
    async with http.post("/api/guest", json={"link": url.partition("#guest=")[2]}) as response:
        return response.status, await response.json()


async def test_two_guests_and_the_owner_share_a_session(
    served: Serving, socket: Socket, http: aiohttp.ClientSession, shared: dict[str, Any]
) -> None:
    ids = {"sessionId": shared["id"]}
    viewing = await socket.call("create_guest_link", **ids, name="Ann", hours=1)
    assert viewing["url"].startswith(f"{served.base_url}/#guest=")
    assert "this machine only" in viewing["hint"]
    deciding = await socket.call("create_guest_link", **ids, role="approver", name="Bo")
    devices = [(await open_link(http, made["url"]))[1] for made in (viewing, deciding)]
    ann, bo = [await open_socket(http, device["token"]) for device in devices]

    await socket.call("send_chat_message", **ids, message="/demo permission touch allowed")
    for guest in (ann, bo):
        asked = (await guest.event("session-waiting"))["payload"]
        assert asked["request"]["kind"] == "permission"
    decided = {**ids, "requestId": asked["request"]["id"], "decision": "allow"}
    await ann.send({"id": "x", "command": "answer_permission", "args": decided})
    assert (await ann.answer("x"))["error_type"] == "forbidden"
    await bo.call("answer_permission", **decided)
    for client in (socket, ann, bo):
        assert (await client.event("message-completed"))["data"]["session_id"] == shared["id"]

    actions = await socket.call("list_guest_actions", linkId=deciding["link"]["id"])
    assert actions[0]["action"] == "allowed a request once"
    await socket.call("revoke_guest_link", linkId=deciding["link"]["id"])
    assert await bo.wait_closed() == 1008
    left = await socket.call("list_guest_links")
    assert viewing["link"]["id"] in [link["id"] for link in left]
    assert deciding["link"]["id"] not in [link["id"] for link in left]
    assert "sg" + "l_" not in json.dumps(left)
    assert (await open_link(http, deciding["url"]))[0] == 401


async def test_a_driver_of_a_project_works_in_its_sessions_only(
    program: Program, socket: Socket, http: aiohttp.ClientSession, shared: dict[str, Any]
) -> None:
    other = await socket.call("add_project", path=str(program.make_repository("other")))
    made = await socket.call(
        "create_guest_link", projectId=shared["project_id"], role="driver", maxMode="build"
    )
    _, device = await open_link(http, made["url"])
    guest = await open_socket(http, device["token"])
    assert [each["id"] for each in await guest.call("list_projects")] == [shared["project_id"]]
    sent = await guest.call("send_chat_message", sessionId=shared["id"], message="/demo say hello")
    assert sent["status"] == "processing"
    await guest.event("message-completed")
    await guest.send({"id": "x", "command": "list_worktrees", "args": {"projectId": other["id"]}})
    assert (await guest.answer("x"))["error"] == f"Project not found: {other['id']}"
    await socket.call("remove_project", projectId=shared["project_id"])
    assert await guest.wait_closed() == 1008
