"""Events over WebSockets: envelopes, numbered frames, resuming, slow readers, subscriptions."""

import asyncio
import json
import socket as sockets
from typing import Any

import aiohttp
import pytest

import model
from model.domain.events.base import Event
from model.domain.events.messages import (
    ContentDelta,
    MessageCompleted,
    MessageFailed,
    MessageQueued,
    MessageStarted,
    RunNoticed,
    ToolUsed,
)
from model.domain.events.program import PreferencesUpdated, TaskCompleted
from model.domain.events.projects import ProjectAdded, ProjectRemoved, ProjectUpdated
from model.domain.events.sessions import (
    SessionArchived,
    SessionCreated,
    SessionDeleted,
    SessionUpdated,
)
from model.domain.events.worktrees import (
    WorktreeCreated,
    WorktreeCreateFailed,
    WorktreeCreating,
    WorktreeStatusUpdated,
)
from model.domain.messages import Message, TextBlock
from model.domain.projects import Project
from model.domain.sessions import Session
from model.domain.usage import Usage
from model.domain.worktrees import Worktree
from model.runtime.workspace import Workspace
from model.store.bus import MAX_DELTA
from server.app import Server
from server.limits import Limits
from tests.patience import PATIENCE
from tests.server.conftest import Socket, StartServer, bearer, connect
from tests.tables import table

PROJECT = Project(
    id="p", name="p", path="/p", default_branch="main", added_at=1, tracker_api_key="k"
)
WORKTREE = Worktree(id="w", project_id="p", name="w", path="/w", branch="w", created_at=1)
SESSION = Session(id="s", worktree_id="w", name="s", created_at=1)
MESSAGE = Message(id="m", role="assistant", timestamp=1, session_id="s")

_PROJECT_FIELDS = {name for name, field in Project.model_fields.items() if field.exclude_if is None}
"""Those with a value that is left out are sent only of a project that has its own."""

INTERFACE: list[tuple[Event, str, set[str]]] = [
    (
        MessageStarted(message_id="m", session_id="s", message=MESSAGE),
        "data",
        {"message_id", "session_id"},
    ),
    (
        ContentDelta(message_id="m", content="x", content_index=0, session_id="s"),
        "data",
        {"message_id", "content", "content_index"},
    ),
    (
        ToolUsed(
            message_id="m",
            tool_name="edit",
            tool_input={},
            session_id="s",
            content_index=1,
            tool_use_id="t",
        ),
        "data",
        {"message_id", "tool_name", "tool_input"},
    ),
    (
        MessageCompleted(message_id="m", session_id="s", stop_reason="end", usage=Usage()),
        "data",
        {"message_id", "session_id", "stop_reason", "usage"},
    ),
    (
        MessageFailed(message_id="m", error="x", error_type="timeout", session_id="s"),
        "data",
        {"message_id", "error", "error_type"},
    ),
    (SessionCreated(session=SESSION), "data", {"session"}),
    (SessionUpdated(session_id="s", updates={"name": "x"}), "data", {"session_id", "updates"}),
    (SessionArchived(session_id="s", archived_at=1), "data", {"session_id"}),
    (SessionDeleted(session_id="s"), "data", {"session_id"}),
    (
        WorktreeCreating(worktree=WORKTREE),
        "payload",
        {"id", "project_id", "name", "path", "branch"},
    ),
    (WorktreeCreated(worktree=WORKTREE), "payload", {"worktree"}),
    (
        WorktreeCreateFailed(id="w", project_id="p", error="x"),
        "payload",
        {"id", "project_id", "error"},
    ),
    (
        WorktreeStatusUpdated(worktree_id="w", cached_pr_status="open", cached_check_status=None),
        "payload",
        {"worktree_id", "cached_pr_status", "cached_check_status"},
    ),
    (ProjectAdded(project=PROJECT), "payload", _PROJECT_FIELDS),
    (ProjectUpdated(project=PROJECT), "payload", _PROJECT_FIELDS),
    (ProjectRemoved(project_id="p"), "payload", {"project_id"}),
]


def make_event(number: int, session_id: str = "s", size: int = 1) -> Event:
    """An event that is never merged with adjacent ones."""
    return TaskCompleted(task=f"{session_id}:{number}", ok=True, detail="x" * size)


def make_delta(session_id: str, number: int) -> Event:
    return ContentDelta(
        message_id=session_id, content=f"{number}", content_index=number, session_id=session_id
    )


async def drain_events(socket: Socket) -> list[dict[str, Any]]:
    """All events until now: those that arrive before the reply to a command sent now."""
    socket.frames.clear()
    await socket.call("list_projects")
    return [frame for frame in socket.frames if "event" in frame]


async def test_a_plain_client_gets_exactly_the_fields_of_the_interface(
    server: Server, http: aiohttp.ClientSession, workspace: Workspace
) -> None:
    socket = await connect(server, http)
    subscribed = await connect(server, http)
    subscribed_to = await _create_session(workspace)
    await subscribed.send({"type": "subscribe", "session_id": subscribed_to, "id": "1"})
    await subscribed.answer("1")
    await drain_events(socket)
    await drain_events(subscribed)
    for event, _, _ in INTERFACE:
        workspace.bus.publish(event)
    for one in (socket, subscribed):
        frames = await drain_events(one)
        assert [frame["event"] for frame in frames] == [event.name for event, _, _ in INTERFACE]
        for frame, (_, envelope, fields) in zip(frames, INTERFACE, strict=True):
            head = {"event", "data"} if envelope == "data" else {"type", "event", "payload"}
            assert set(frame) == head
            assert set(frame[envelope]) == fields
            assert frame.get("type", "event") == "event"


async def _create_session(workspace: Workspace) -> str:
    # Already `missing`, as it has no directory; otherwise a poll would publish one more event.
    await workspace.store.accept(
        ProjectAdded(project=PROJECT),
        WorktreeCreated(worktree=WORKTREE.model_copy(update={"status": "missing"})),
        SessionCreated(session=SESSION),
    )
    return SESSION.id


async def test_events_for_mirrors_and_their_fields_reach_numbered_clients_only(
    server: Server, http: aiohttp.ClientSession, workspace: Workspace
) -> None:
    plain, numbered = await connect(server, http), await connect(server, http, since=0)
    workspace.bus.publish(RunNoticed(session_id="s", text="retrying"))
    workspace.bus.publish(make_delta("s", 1))
    assert [f["event"] for f in await drain_events(plain)] == ["content-delta"]
    notice, last = (await drain_events(numbered))[-2:]
    assert (notice["event"], notice["seq"]) == ("session-notice", workspace.bus.seq - 1)
    assert (last["data"]["session_id"], last["seq"]) == ("s", workspace.bus.seq)


async def test_secrets_are_in_no_frame(
    server: Server, http: aiohttp.ClientSession, workspace: Workspace
) -> None:
    socket = await connect(server, http)
    workspace.bus.publish(ProjectAdded(project=PROJECT))
    workspace.bus.publish(PreferencesUpdated(changes={"tracker_api_key": "k", "theme": "dark"}))
    project, preferences = await drain_events(socket)
    assert project["payload"]["tracker_api_key"] is None
    assert preferences["payload"] == {"changes": {"theme": "dark"}}


async def test_a_numbered_client_is_greeted_with_the_newest_number(
    server: Server, http: aiohttp.ClientSession, workspace: Workspace
) -> None:
    workspace.bus.publish(make_event(1))
    socket = await connect(server, http, since=0)
    hello = await socket.receive()
    assert hello["event"] == "hello"
    assert hello["payload"]["seq"] == workspace.bus.seq
    assert hello["payload"]["version"] == model.__version__
    workspace.bus.publish(make_event(2))
    assert [frame["payload"]["task"] for frame in await drain_events(socket)] == ["s:2"]


async def test_a_client_resumes_where_it_was(
    server: Server, http: aiohttp.ClientSession, workspace: Workspace
) -> None:
    for number in range(10):
        workspace.bus.publish(make_event(number))
    seq = workspace.bus.seq
    socket = await connect(server, http, since=seq - 3)
    frames = await drain_events(socket)
    assert [frame["seq"] for frame in frames[1:]] == [seq - 2, seq - 1, seq]


async def test_a_client_gets_only_the_events_that_it_asks_for(
    server: Server, http: aiohttp.ClientSession, workspace: Workspace
) -> None:
    everything = await connect(server, http, since=0)
    names = {"only": "content-delta,session-notice"}
    named = await connect(server, http, since=0, query=names)
    of_one = await connect(server, http, since=0, query={"session": "s", "only": "session-notice"})
    for session in ("s", "t"):
        workspace.bus.publish(make_delta(session, 1))
        workspace.bus.publish(RunNoticed(session_id=session, text="retrying"))
    workspace.bus.publish(make_event(1))
    assert len(await drain_events(everything)) == 6
    assert len(await drain_events(named)) == 5
    _, notice = await drain_events(of_one)
    assert (notice["payload"]["session_id"], notice["seq"]) == ("s", workspace.bus.seq - 3)
    for wrong in ({"only": "sesion-notice"}, {"session": ",".join(map(str, range(101)))}):
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            await connect(server, http, query=wrong)
        assert refused.value.status == 400


async def test_a_client_that_resumes_too_late_gets_the_missed_range(
    server: Server, http: aiohttp.ClientSession, workspace: Workspace
) -> None:
    for number in range(1500):
        workspace.bus.publish(make_event(number))
    seq = workspace.bus.seq
    hello, missed, *rest = await drain_events(await connect(server, http, since=5))
    assert hello["payload"]["seq"] == seq
    assert missed["event"] == "events-missed"
    assert missed["payload"] == {"from": 6, "to": seq - 1000}
    assert [frame["seq"] for frame in rest] == list(range(seq - 999, seq + 1))


async def test_a_sequence_number_of_another_run_counts_as_missed(
    server: Server, http: aiohttp.ClientSession, workspace: Workspace
) -> None:
    frames = await drain_events(await connect(server, http, since=workspace.bus.seq + 50))
    assert [frame["event"] for frame in frames] == ["hello", "events-missed"]


@table("since", ["-1", "x", "1.5", "٣", "9" * 40])
async def test_an_invalid_sequence_number_is_refused(
    server: Server, http: aiohttp.ClientSession, since: str
) -> None:
    url = f"{server.status()['base_url']}/ws"
    with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
        await http.ws_connect(url, params={"since": since}, headers=bearer())
    assert refused.value.status == 400


class LateReader:
    """A numbered client on a socket with a small buffer that reads only on demand."""

    def __init__(self, server: Server, since: str = "?since=0") -> None:
        self._socket = sockets.socket()
        self._socket.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, 4096)
        self._socket.setblocking(False)
        self._server = server
        self._since = since
        self._buffer = b""

    async def open(self) -> None:
        loop = asyncio.get_running_loop()
        await loop.sock_connect(self._socket, ("127.0.0.1", self._server.status()["port"]))
        await loop.sock_sendall(
            self._socket,
            f"GET /ws{self._since} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
            "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
            f"Authorization: {bearer()['Authorization']}\r\n\r\n".encode(),
        )
        while b"\r\n\r\n" not in self._buffer:
            await self._receive()
        self._buffer = self._buffer.partition(b"\r\n\r\n")[2]

    async def _receive(self) -> None:
        async with asyncio.timeout(PATIENCE):
            found = await asyncio.get_running_loop().sock_recv(self._socket, 1 << 20)
        if not found:
            raise ConnectionError
        self._buffer += found

    async def frame(self) -> dict[str, Any]:
        while True:
            while len(self._buffer) < 2:
                await self._receive()
            size, head = self._buffer[1], 2
            if size >= 126:
                head = 4 if size == 126 else 10
                while len(self._buffer) < head:
                    await self._receive()
                size = int.from_bytes(self._buffer[2:head], "big")
            while len(self._buffer) < head + size:
                await self._receive()
            opcode, payload = self._buffer[0], self._buffer[head : head + size]
            self._buffer = self._buffer[head + size :]
            if opcode == 0x81:
                return dict(json.loads(payload))

    async def wait_ended(self) -> None:
        with pytest.raises((ConnectionError, OSError)):
            while True:
                await self._receive()

    def close(self) -> None:
        self._socket.close()


async def test_a_client_that_never_reads_blocks_no_other_and_is_disconnected(
    start_server: StartServer, http: aiohttp.ClientSession, workspace: Workspace
) -> None:
    server = await start_server(limits=Limits(stuck=0.5))
    stuck = LateReader(server)
    await stuck.open()
    good = [await connect(server, http) for _ in range(10)]
    for number in range(3000):
        workspace.bus.publish(make_event(number, size=4096))
        if number % 100 == 99:
            workspace.bus.seal()
            await asyncio.gather(*(drain_events(socket) for socket in good))
    async with asyncio.timeout(PATIENCE):
        while server.status()["clients"] > 10:
            await asyncio.sleep(0.05)
    await stuck.wait_ended()
    stuck.close()


async def test_a_burst_is_not_buffered_whole_for_a_client_that_does_not_read(
    server: Server, http: aiohttp.ClientSession, workspace: Workspace
) -> None:
    late = LateReader(server)
    await late.open()
    good = await connect(server, http, since=0)
    sent = 60 * MAX_DELTA
    for number in range(60):
        content = "x" * MAX_DELTA
        workspace.bus.publish(
            ContentDelta(message_id="m", content=content, content_index=number, session_id="s")
        )
    workspace.bus.seal()
    assert server._running is not None
    for connection in server._running.sockets._open:
        assert connection.transport.get_write_buffer_size() <= 2 * Limits().buffer
    got = 0
    while got < sent:
        got += len((await good.event("content-delta"))["data"]["content"])
    late.close()


async def test_a_late_reader_gets_the_newest_thousand_in_order_and_the_missed_ranges(
    server: Server, http: aiohttp.ClientSession, workspace: Workspace
) -> None:
    late = LateReader(server)
    await late.open()
    witness = await connect(server, http)
    for number in range(4000):
        workspace.bus.publish(make_event(number, size=4096))
        if number % 100 == 99:
            await drain_events(witness)
    newest = workspace.bus.seq
    frames = [await late.frame()]
    while frames[-1].get("seq") != newest:
        frames.append(await late.frame())
    late.close()
    gaps = [i for i, frame in enumerate(frames) if frame["event"] == "events-missed"]
    assert len(gaps) >= 1
    seqs = [frame["seq"] for frame in frames if "seq" in frame]
    assert seqs == sorted(set(seqs))
    missed = {
        number
        for i in gaps
        for number in range(frames[i]["payload"]["from"], frames[i]["payload"]["to"] + 1)
    }
    assert missed | set(seqs) == set(range(seqs[0], newest + 1))
    assert not missed & set(seqs)
    assert set(range(newest - 999, newest + 1)) <= set(seqs)


async def test_a_subscription_keeps_a_sessions_events_under_a_flood(
    server: Server, http: aiohttp.ClientSession, workspace: Workspace
) -> None:
    session_id = await _create_session(workspace)
    late, witness = LateReader(server), await connect(server, http)
    await late.open()
    await drain_events(witness)
    connection = next(c for c in server._running.sockets._open if c.numbered)
    connection.reader.subscribe(session_id)
    for number in range(3000):
        workspace.bus.publish(
            make_delta(session_id, number) if number % 100 == 0 else make_event(number, size=4096)
        )
        if number % 50 == 49:
            await drain_events(witness)
    newest = workspace.bus.seq
    seen, frame = [], await late.frame()
    while frame.get("seq") != newest:
        if frame["event"] == "content-delta":
            seen.append(frame["data"]["content_index"])
        frame = await late.frame()
    late.close()
    assert seen == list(range(0, 3000, 100))


async def test_hundreds_of_clients_receive_every_event_in_order(
    server: Server, http: aiohttp.ClientSession, workspace: Workspace
) -> None:
    clients = [await connect(server, http) for _ in range(320)]
    for number in range(30):
        workspace.bus.publish(make_event(number))
        if number % 5 == 0:
            workspace.bus.seal()
    for client in clients:
        for number in range(30):
            assert (await client.receive())["payload"]["task"] == f"s:{number}"


async def test_an_event_that_cannot_be_serialized_counts_as_missed(
    server: Server, http: aiohttp.ClientSession, workspace: Workspace
) -> None:
    plain, numbered = await connect(server, http), await connect(server, http, since=0)
    broken = Message(id="m", role="user", timestamp=1, content=[TextBlock(text="\ud800")])
    workspace.bus.publish(MessageQueued(session_id="s", message=broken, status="sent"))
    workspace.bus.publish(make_event(2))
    assert [f["event"] for f in await drain_events(plain)] == ["task:completed"]
    names = [f["event"] for f in await drain_events(numbered)]
    assert names[-2:] == ["events-missed", "task:completed"]
