"""Guests: what a link shares, and that nothing else is ever sent."""

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from socket import SHUT_RDWR
from typing import Any

import aiohttp
import pytest

from model.api.reviews import EditRows
from model.backends import agent_events
from model.base.errors import SpinneyError
from model.base.paths import Directories
from model.commands import reviews
from model.commands.guests import create_guest_link, list_guest_links, revoke_guest_link
from model.commands.sessions import create_session
from model.domain.events.messages import (
    ContentDelta,
    MessageCompleted,
    MessageQueued,
    MessageStarted,
    ToolRunning,
    ToolUsed,
)
from model.domain.events.projects import ProjectAdded
from model.domain.events.sessions import SessionDeleted, SessionUpdated
from model.domain.events.worktrees import WorktreeCreated
from model.domain.messages import Message, TextBlock
from model.domain.projects import Project
from model.domain.sessions import Session
from model.domain.usage import Usage
from model.domain.worktrees import Worktree
from model.runtime.workspace import Workspace
from model.store.bus import CAPACITY
from server.app import Server
from server.guesses import MAX_WRONG
from server.guest_worlds import GuestWorlds
from tests.conftest import Eventually
from tests.fakes import FakeBackend
from tests.patience import PATIENCE
from tests.server.conftest import Socket, StartServer, bearer, connect
from tests.server.guest_client import GuestClient, invite, open_link

KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@dataclass
class Foreign:
    """What belongs to the owner only, each with a text that occurs nowhere else."""

    project: Project
    worktree: Worktree
    session: Session

    def traces(self) -> list[bytes]:
        """Texts of which a guest may not get a single one."""
        ids = (self.project.id, self.worktree.id, self.session.id)
        return [each.encode() for each in (*ids, "secret-otter", "/secret/place", "Secret talk")]


@pytest.fixture
async def foreign(workspace: Workspace) -> Foreign:
    """Another project, with a worktree and a session."""
    project = Project(
        id="foreign-project", name="secret-otter", path="/secret/place", added_at=1,
        default_branch="main",
    )  # fmt: skip
    worktree = Worktree(
        id="foreign-worktree", project_id=project.id, name="secret-otter-tree",
        path="/secret/place/tree", branch="secret-otter", created_at=1,
    )  # fmt: skip
    await workspace.store.accept(ProjectAdded(project=project))
    await workspace.store.accept(WorktreeCreated(worktree=worktree))
    return Foreign(project, worktree, await create_session(workspace, worktree.id, "Secret talk"))


@pytest.fixture
async def sibling(workspace: Workspace, worktree: Worktree) -> Session:
    """Another session of the same worktree."""
    return await create_session(workspace, worktree.id, "Sibling talk")


@pytest.fixture
async def viewer(
    workspace: Workspace, server: Server, http: aiohttp.ClientSession, session: Session
) -> AsyncIterator[GuestClient]:
    """A viewer of one session."""
    yield await invite(workspace, server, http, session_id=session.id, name="Ann")


def stream(workspace: Workspace, session: Session, *pieces: str, message_id: str = "m") -> None:
    """Stream a message of the agent, without ending it."""
    message = Message(id=message_id, role="assistant", timestamp=1, session_id=session.id,
                      status="processing")  # fmt: skip
    workspace.store.record(
        MessageStarted(message_id=message_id, session_id=session.id, message=message)
    )
    for piece in pieces:
        workspace.store.record(
            ContentDelta(
                message_id=message_id, content=piece, content_index=0, session_id=session.id
            )
        )
        workspace.bus.seal()


def complete(workspace: Workspace, session: Session, message_id: str = "m") -> None:
    """End the message."""
    workspace.store.record(
        MessageCompleted(
            message_id=message_id, session_id=session.id, stop_reason="end", usage=Usage()
        )
    )


async def call(socket: Socket, command: str, **args: Any) -> dict[str, Any]:
    """Send a command and return its reply."""
    request_id = f"{command}-{len(socket.frames)}"
    await socket.send({"id": request_id, "command": command, "args": args})
    return await socket.answer(request_id)


# Links ------------------------------------------------------------------------------------------


async def test_a_link_opens_what_it_shares_and_nothing_else(
    viewer: GuestClient, session: Session, sibling: Session, foreign: Foreign
) -> None:
    status, state = await viewer.request("GET", "/api/init")
    assert status == 200
    assert [each["name"] for each in state["projects"]] == ["repository"]
    assert state["projects"][0]["path"] == ""
    assert {each["path"] for each in state["worktreesByProject"]["project"]} == {""}
    assert [each["id"] for each in state["sessionsByWorktree"]["worktree"]] == [session.id]
    assert state["preferences"]["http_server_token"] is None
    assert state["guest"]["role"] == "viewer"
    assert "send_chat_message" not in state["guest"]["commands"]
    assert sibling.id not in json.dumps(state)
    assert not [each for each in foreign.traces() if each in json.dumps(state).encode()]


async def test_what_a_guest_reads_leaves_threads_to_the_owner_and_ends_with_the_connection(
    viewer: GuestClient,
    server: Server,
    http: aiohttp.ClientSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    may_end = threading.Event()
    begun: list[str] = []

    def compare(path: str, old: str, new: str) -> EditRows:
        begun.append(path)
        may_end.wait(PATIENCE)
        return EditRows(rows=[])

    monkeypatch.setattr(reviews, "_compare", compare)
    has_left, leave = asyncio.Event(), GuestWorlds.leave

    def note_leaving(worlds: GuestWorlds, client: str) -> None:
        leave(worlds, client)
        has_left.set()

    monkeypatch.setattr(GuestWorlds, "leave", note_leaving)
    socket = await viewer.connect()
    for number in range(16):
        texts = {"path": f"{number}", "old": "a", "new": "b"}
        await socket.send({"id": f"{number}", "command": "get_edit_rows", "args": texts})
    owner = await connect(server, http)
    try:
        for _ in range(20):
            assert (await call(owner, "list_directories", path=str(tmp_path)))["type"] == "response"
        assert begun == ["0", "1"]
        socket.socket.get_extra_info("socket").shutdown(SHUT_RDWR)
        async with asyncio.timeout(PATIENCE):
            await has_left.wait()
    finally:
        may_end.set()
    again = await viewer.connect()
    assert (await call(again, "get_edit_rows", path="again", old="", new=""))["type"] == "response"
    assert begun == ["0", "1", "again"]
    long = await call(again, "get_edit_rows", path="a", old="a" * 40_000, new="b" * 40_000)
    assert long["error_type"] == "forbidden"


async def test_the_devices_of_a_link_are_counted_also_at_the_same_time(
    workspace: Workspace, server: Server, http: aiohttp.ClientSession, session: Session
) -> None:
    made = await create_guest_link(workspace, session_id=session.id, max_devices=2)
    tries = await asyncio.gather(*(open_link(server, http, made.url) for _ in range(6)))
    assert sorted(status for status, _ in tries) == [201, 201, 401, 401, 401, 401]
    (link,) = await list_guest_links(workspace)
    assert link.devices == 2
    assert {each["guest"]["device"] for status, each in tries if status == 201} == {1, 2}


async def test_guesses_of_links_are_limited(server: Server, http: aiohttp.ClientSession) -> None:
    tries = [await open_link(server, http, f"#guest=sgl_{n}") for n in range(MAX_WRONG + 1)]
    assert [status for status, _ in tries] == [401] * MAX_WRONG + [429]


async def test_only_hashes_are_stored_and_they_survive_a_restart(
    workspace: Workspace, viewer: GuestClient, directories: Directories
) -> None:
    stored = (directories.access / "links.json").read_text()
    assert viewer.token not in stored
    assert "sgl_" not in stored
    await workspace.grants.load()
    assert workspace.grants.links.identify(viewer.token).link.name == "Ann"


@pytest.mark.parametrize("terms", [{}, {"session_id": "x", "project_id": "y"}])
async def test_a_link_shares_one_session_or_one_project(
    workspace: Workspace, server: Server, terms: dict[str, Any]
) -> None:
    with pytest.raises(SpinneyError, match="either a sessionId or a projectId"):
        await create_guest_link(workspace, **terms)


async def test_a_hostile_name_is_one_visible_line(
    workspace: Workspace, server: Server, session: Session
) -> None:
    made = await create_guest_link(workspace, session_id=session.id, name="\x1b[31m<b>\n‮" * 50)
    assert made.link.name.startswith("␛[31m<b> <U+202E>")
    assert len(made.link.name) == 100


async def test_guests_are_guests_also_where_no_token_is_required(
    workspace: Workspace, start_server: StartServer, http: aiohttp.ClientSession, session: Session,
    foreign: Foreign,
) -> None:  # fmt: skip
    server = await start_server(token_required=False)
    guest = await invite(workspace, server, http, session_id=session.id)
    _, state = await guest.request("GET", "/api/init")
    assert foreign.project.id not in json.dumps(state)
    await revoke_guest_link(workspace, guest.link_id)
    status, body = await guest.request("GET", "/api/init")
    assert (status, body["error_type"]) == (401, "authentication_error")


async def test_a_new_owner_token_keeps_the_guests(
    viewer: GuestClient, http: aiohttp.ClientSession, server: Server
) -> None:
    owner = await connect(server, http)
    socket = await viewer.connect()
    await owner.call("regenerate_http_token")
    await owner.wait_closed()
    assert (await call(socket, "list_projects"))["type"] == "response"


@pytest.mark.parametrize("path", ["/lite", "/lite/worktrees", "/api/projects/project/avatar"])
async def test_what_is_not_for_guests_is_refused(viewer: GuestClient, path: str) -> None:
    assert (await viewer.request("GET", path))[0] in (401, 403)


# The end ----------------------------------------------------------------------------------------


async def test_revoking_closes_connections_at_once_while_text_streams(
    workspace: Workspace, viewer: GuestClient, session: Session
) -> None:
    socket = await viewer.connect(since=0)
    stream(workspace, session, "One.\n")
    await socket.event("content-delta")
    await revoke_guest_link(workspace, viewer.link_id)
    stream(workspace, session, "Two.\n")
    assert await socket.wait_closed() == 1008
    assert "Two." not in json.dumps(socket.frames)
    status, body = await viewer.request("GET", "/api/init")
    assert (status, body["error"][:28]) == (401, "This guest access has ended:")


async def test_a_link_expires_during_a_turn(
    workspace: Workspace, server: Server, http: aiohttp.ClientSession, session: Session
) -> None:
    guest = await invite(workspace, server, http, session_id=session.id, hours=1 / 3600)
    socket = await guest.connect(since=0)
    stream(workspace, session, "One.\n")
    assert await socket.wait_closed() == 1008
    assert workspace.store.state.streaming


async def test_deleting_what_is_shared_ends_the_access(
    workspace: Workspace, viewer: GuestClient, session: Session
) -> None:
    socket = await viewer.connect()
    await workspace.store.accept(SessionDeleted(session_id=session.id))
    assert await socket.wait_closed() == 1008


# Events -----------------------------------------------------------------------------------------


async def test_events_of_others_leave_no_trace_not_even_in_numbers(
    workspace: Workspace, viewer: GuestClient, session: Session, sibling: Session, foreign: Foreign
) -> None:
    _, state = await viewer.request("GET", "/api/init")
    socket = await viewer.connect(since=state["seq"], blocks=True)
    await socket.event("hello")
    await socket.send({"type": "watch", "session_ids": [session.id, foreign.session.id]})
    for number in range(30):
        stream(workspace, foreign.session, "Secret talk\n", message_id=f"f{number}")
        stream(workspace, sibling, "Sibling talk\n", message_id=f"s{number}")
        stream(workspace, session, f"Shared {number}.\n", message_id=f"m{number}")
        complete(workspace, session, f"m{number}")
    await workspace.store.accept(
        SessionUpdated(session_id=foreign.session.id, updates={"name": "Secret talk 2"}),
        SessionUpdated(session_id=session.id, updates={"name": "Renamed"}),
    )
    while not any(frame.get("event") == "session-updated" for frame in socket.frames):
        await socket.receive()
    seen = json.dumps(socket.frames)
    assert "Sibling talk" not in seen
    assert not [each for each in foreign.traces() if each in seen.encode()]
    numbers = [frame["seq"] for frame in socket.frames if "seq" in frame]
    assert numbers == sorted(numbers)
    # Text comes as blocks; each of its deltas has a number of its own.
    assert numbers[-1] - state["seq"] <= 30 * 3 + 1


async def test_a_guest_resumes_without_a_loss(
    workspace: Workspace, viewer: GuestClient, session: Session, foreign: Foreign
) -> None:
    _, state = await viewer.request("GET", "/api/init")
    first = await viewer.connect(since=state["seq"])
    stream(workspace, session, "One.\n")
    seen = await first.event("content-delta")
    await first.socket.close()
    stream(workspace, foreign.session, "Secret talk\n", message_id="f")
    workspace.store.record(
        ContentDelta(message_id="m", content="Two.\n", content_index=0, session_id=session.id)
    )
    second = await viewer.connect(since=seen["seq"])
    resumed = await second.event("content-delta")
    assert resumed["data"]["content"] == "Two.\n"
    assert resumed["seq"] == seen["seq"] + 1


async def test_a_guest_whom_a_flood_has_overtaken_reloads(
    workspace: Workspace, viewer: GuestClient, session: Session, foreign: Foreign
) -> None:
    _, before = await viewer.request("GET", "/api/init")
    socket = await viewer.connect(since=before["seq"])
    for number in range(2 * CAPACITY):  # at once, without a chance to follow
        updates = {"name": f"Secret talk {number}"}
        workspace.store.record(SessionUpdated(session_id=foreign.session.id, updates=updates))
    assert await socket.wait_closed() == 1001
    _, after = await viewer.request("GET", "/api/init")
    assert after["run"] != before["run"]
    again = await viewer.connect(since=after["seq"])
    stream(workspace, session, "One.\n")
    assert (await again.event("content-delta"))["data"]["content"] == "One.\n"


async def test_a_secret_in_pieces_is_masked_in_events_blocks_and_pages(
    workspace: Workspace, viewer: GuestClient, session: Session
) -> None:
    _, state = await viewer.request("GET", "/api/init")
    plain = await viewer.connect(since=state["seq"])
    page = await viewer.connect(since=state["seq"], blocks=True)
    await page.send({"type": "show", "session_id": session.id})
    stream(workspace, session, "Before.\nkey: ", KEY[:7], KEY[7:20])
    _, during = await viewer.request("GET", "/api/init")
    workspace.store.record(
        *(
            ContentDelta(message_id="m", content=piece, content_index=0, session_id=session.id)
            for piece in (KEY[20:], " and after")
        )
    )
    complete(workspace, session)
    await plain.event("message-completed")
    await page.event("message-completed")
    await plain.send({"id": "p", "command": "get_messages", "args": {"sessionId": session.id}})
    answer = await plain.answer("p")
    text = "".join(
        frame["data"]["content"] for frame in plain.frames if frame.get("event") == "content-delta"
    )
    assert text == "Before.\nkey: [GitHub token] and after"
    assert "[GitHub token]" in json.dumps(answer)
    for seen in (plain.frames, page.frames, during, answer):
        assert KEY[:20] not in json.dumps(seen)


async def test_tools_requests_and_paths_of_files_are_masked(
    workspace: Workspace, viewer: GuestClient, session: Session
) -> None:
    socket = await viewer.connect(since=0)
    stream(workspace, session)
    workspace.store.record(
        ToolUsed(
            message_id="m", tool_name="Bash", tool_input={"id": KEY, "command": f"curl {KEY}"},
            session_id=session.id, content_index=0, tool_use_id="t",
        ),
        ToolRunning(
            session_id=session.id, message_id="m", content_index=0, seconds=1,
            output=f"cut\nok\n{KEY}\n{KEY[:12]}",
        ),
    )  # fmt: skip
    message = Message(
        id="u", role="user", timestamp=1, session_id=session.id, files=["/home/me/notes.txt"],
        content=[TextBlock(text=f"use {KEY}")], context="/home/me/context.md",
    )  # fmt: skip
    workspace.store.record(MessageQueued(session_id=session.id, message=message, status="sent"))
    queued = await socket.event("message-queued")
    assert queued["payload"]["message"]["files"] == ["notes.txt"]
    assert queued["payload"]["message"]["context"] is None
    running = next(f for f in socket.frames if f.get("event") == "tool-running")
    assert running["payload"]["output"] == "ok\n[GitHub token]\n"
    assert KEY[:12] not in json.dumps(socket.frames)


# Commands ---------------------------------------------------------------------------------------


async def test_an_id_that_is_not_shared_is_unknown(
    viewer: GuestClient, sibling: Session, foreign: Foreign
) -> None:
    socket = await viewer.connect()
    for hidden in (sibling.id, foreign.session.id):
        refused = await call(socket, "get_session", sessionId=hidden)
        unknown = await call(socket, "get_session", sessionId="nothing")
        assert refused["error"].replace(hidden, "nothing") == unknown["error"]
        assert refused["error_type"] == "not_found"
        status, body = await viewer.request("GET", f"/api/sessions/{hidden}/messages")
        assert (status, body["error_type"]) == (404, "not_found")
        status, _ = await viewer.request("GET", f"/api/sessions/{hidden}/attachments/x.png")
        assert status == 404
    await socket.send({"type": "subscribe", "session_id": sibling.id, "id": "s"})
    assert (await socket.answer("s"))["error_type"] == "not_found"


async def test_an_approver_decides_and_the_owner_sees_it(
    workspace: Workspace, server: Server, http: aiohttp.ClientSession, session: Session,
    backend: FakeBackend, eventually: Eventually,
) -> None:  # fmt: skip
    guest = await invite(workspace, server, http, session_id=session.id, role="approver", name="Bo")
    owner, socket = await connect(server, http), await guest.connect()
    backend.script = lambda _: [agent_events.PlanProposed("plan", f"1. Use {KEY}")]
    await owner.call("send_chat_message", sessionId=session.id, message="go")
    await eventually(lambda: workspace.store.state.sessions[session.id].status == "waiting")
    shown = (await call(socket, "get_session", sessionId=session.id))["data"]
    assert shown["request"]["plan"] == "1. Use [GitHub token]"
    refused = await call(socket, "send_chat_message", sessionId=session.id, message="hi")
    assert refused["error_type"] == "forbidden"
    for more in (
        {"mode": "yolo"},
        {"mode": "build", "fresh": True},
        {"mode": "build", "plan": "x"},
    ):
        answer = await call(socket, "approve_plan", sessionId=session.id, **more)
        assert answer["error_type"] == "forbidden"
    approved = await call(
        socket, "approve_plan", sessionId=session.id, mode="build", requestId="plan"
    )
    assert approved["data"]["id"] == session.id
    assert await backend.agents[session.id].wait_for_call("approve")
    entry = (await owner.event("guest:acted"))["payload"]["action"]
    assert (entry["name"], entry["action"]) == ("Bo", "approved the plan in build mode")
    log = await owner.call("list_guest_actions", linkId=guest.link_id)
    assert [each["action"] for each in log] == [
        "approved the plan in build mode",
        "opened the link on a new device",
    ]
    assert not [frame for frame in socket.frames if frame.get("event") == "guest:acted"]


async def test_a_driver_sends_uploads_stops_and_sets_the_mode_within_limits(
    workspace: Workspace, server: Server, http: aiohttp.ClientSession, session: Session,
    backend: FakeBackend,
) -> None:  # fmt: skip
    guest = await invite(workspace, server, http, session_id=session.id, role="driver")
    socket = await guest.connect()
    upload = f"/api/sessions/{session.id}/attachments?name=a.txt"
    status, added = await _upload(guest, upload)
    assert status == 201
    assert added["path"].startswith(f"/pictures/{session.id}/")
    for foreign_path in ("/etc/passwd", f"/pictures/{session.id}/../x", "/pictures/other/x"):
        answer = await call(
            socket, "send_chat_message", sessionId=session.id, message="x", files=[foreign_path]
        )
        assert answer["error_type"] == "forbidden"
    sent = await call(
        socket, "send_chat_message", sessionId=session.id, message="x", files=[added["path"]]
    )
    assert sent["data"]["status"] == "processing"
    messages = (await call(socket, "get_messages", sessionId=session.id))["data"]["messages"]
    assert messages[0]["files"] == [added["path"]]
    real = workspace.directories.pictures / session.id
    assert (await workspace.store.messages(session.id)).messages[0].files[0].startswith(str(real))
    for settings in ({"executionMode": "yolo"}, {"model": "x"}, {"name": "x"}, {"backend": "x"}):
        answer = await call(socket, "update_session", sessionId=session.id, **settings)
        assert answer["error_type"] == "forbidden"
    changed = await call(socket, "update_session", sessionId=session.id, executionMode="plan")
    assert changed["data"]["execution_mode"] == "plan"


async def _upload(guest: GuestClient, path: str) -> tuple[int, Any]:
    headers = {**bearer(guest.token), "Content-Type": "application/octet-stream"}
    url = f"{guest.server.status()['base_url']}{path}"
    async with guest.http.post(url, data=b"text", headers=headers) as response:
        return response.status, await response.json()


NONSENSE: list[Any] = [
    "", "null", "[]", "{", "{}", '"x"', "1e999", "[" * 5000, '{"type":"show","session_id":7}',
    {"type": "subscribe"}, {"type": "subscribe", "session_id": ["x"]}, {"type": "unsubscribe"},
    {"type": "watch", "session_ids": "x"}, {"type": "watch", "session_ids": [None, {}, "x"]},
    {"type": "show", "session_id": "foreign"}, {"type": "send_message", "session_id": "foreign"},
    {"id": "a", "command": None}, {"id": "a", "command": 7}, {"id": "a", "command": "nothing"},
    {"id": "a", "command": "get_session", "args": []},
    {"id": "a", "command": "get_session", "args": {"sessionId": {"$ne": 1}}},
    {"id": "a", "command": "get_session", "args": {"sessionId": "x", "session_id": "foreign"}},
    {"id": "a", "command": "cancel_chat_message", "args": {"sessionId": "foreign"}},
    {"id": "a", "command": "get_sessions", "args": {"worktreeId": "foreign-worktree"}},
    {"id": "a" * 2000, "command": "list_projects"}, {"id": {}, "command": "list_projects"},
    {"command": "regenerate_http_token"}, {"id": "a", "command": "stop_spinney"},
]  # fmt: skip


async def test_nonsense_is_refused_and_reveals_nothing(
    workspace: Workspace, server: Server, http: aiohttp.ClientSession, session: Session,
    foreign: Foreign,
) -> None:  # fmt: skip
    guest = await invite(workspace, server, http, session_id=session.id, role="driver")
    socket = await guest.connect(since=0, blocks=True)
    frames = json.loads(json.dumps(NONSENSE).replace('"foreign"', f'"{foreign.session.id}"'))
    for frame in frames:
        await socket.send(frame)
    listed = await call(socket, "list_projects")
    assert [each["name"] for each in listed["data"]] == ["repository"]
    errors = [frame for frame in socket.frames if frame.get("type") == "error"]
    assert len(errors) > len(NONSENSE) // 2
    assert "internal_error" not in {each["error_type"] for each in errors}
    # Ids that the guest has sent may come back in errors, but no name or path.
    assert not [t for t in foreign.traces()[3:] if t in json.dumps(socket.frames).encode()]


async def test_a_project_link_shows_new_sessions_of_the_project_only(
    workspace: Workspace, server: Server, http: aiohttp.ClientSession, project: Project,
    worktree: Worktree, foreign: Foreign,
) -> None:  # fmt: skip
    guest = await invite(workspace, server, http, project_id=project.id)
    socket = await guest.connect()
    await create_session(workspace, foreign.worktree.id, "Secret talk 2")
    made = await create_session(workspace, worktree.id, "Shared talk")
    created = await socket.event("session-created")
    assert created["data"]["session"]["id"] == made.id
    listed = await call(socket, "list_sessions", worktreeId=worktree.id)
    assert made.id in [each["id"] for each in listed["data"]]
    hidden = await call(socket, "list_sessions", worktreeId=foreign.worktree.id)
    assert hidden["error_type"] == "not_found"
    socket.frames.remove(hidden)
    seen = json.dumps(socket.frames).encode()
    assert not [each for each in foreign.traces() if each in seen]
