"""The WebSocket channel: commands, replies, events, and invalid frames."""

import asyncio
import json
import logging
import random
import struct
import time
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from model.api.command import COMMANDS
from model.backends import agent_events
from model.domain.requests import Question
from model.domain.sessions import Session
from model.runtime.workspace import Workspace
from server.app import Server
from server.limits import Limits
from tests.conftest import Eventually
from tests.extra_command import extra_command
from tests.fakes import FakeBackend, silence
from tests.patience import PATIENCE
from tests.server.conftest import Socket, StartServer, base_url, bearer, connect
from tests.tables import table


@pytest.fixture
async def socket(server: Server, http: aiohttp.ClientSession) -> Socket:
    return await connect(server, http)


async def test_a_command_gets_its_result_as_a_response(socket: Socket, session: Session) -> None:
    listed = await socket.call("list_sessions", worktreeId=session.worktree_id)
    assert [found["id"] for found in listed] == [session.id]
    assert set(socket.frames[-1]) == {"type", "id", "data"}


async def test_both_spellings_of_arguments_and_aliases_are_accepted(
    socket: Socket, session: Session
) -> None:
    for name in ("list_sessions", "get_sessions"):
        for key in ("worktreeId", "worktree_id"):
            assert len(await socket.call(name, **{key: session.worktree_id})) == 1


async def test_a_turn_is_streamed_in_order_and_the_reply_overtakes_none_of_its_events(
    socket: Socket, session: Session
) -> None:
    sent = await socket.call("send_chat_message", sessionId=session.id, message="one two three")
    assert sent["status"] == "processing"
    assert "message-queued" in [frame.get("event") for frame in socket.frames]
    await socket.event("message-completed")
    names = [frame["event"] for frame in socket.frames if "event" in frame]
    assert names.index("message-started") < names.index("content-delta")
    assert names.index("content-delta") < names.index("message-completed")
    deltas = [frame["data"] for frame in socket.frames if frame.get("event") == "content-delta"]
    assert "".join(delta["content"] for delta in deltas) == "one two three "


async def test_no_reply_overtakes_the_event_of_its_command(
    socket: Socket, session: Session
) -> None:
    for number in range(50):
        name = f"name {number}"
        await socket.call("update_session", sessionId=session.id, name=name)
        updates = [f for f in socket.frames[:-1] if f.get("event") == "session-updated"]
        assert updates[-1]["data"]["updates"]["name"] == name


async def test_a_slow_command_blocks_no_other(socket: Socket) -> None:
    gate = asyncio.Event()

    async def wait_long(workspace: Workspace) -> str:
        await gate.wait()
        return "done"

    with extra_command(wait_long):
        await socket.send({"id": "slow", "command": "wait_long"})
        assert await socket.call("list_projects") == []
        gate.set()
        assert (await socket.answer("slow"))["data"] == "done"


@table(
    ("frame", "request_id", "error"),
    [
        ("{", None, "Invalid request"),
        ("[1]", None, "Invalid request: it is not a JSON object"),
        ("5", None, "Invalid request: it is not a JSON object"),
        ("[" * 100_000, None, "Invalid request: it is nested too deeply"),
        ('{"id": NaN}', None, "Invalid request"),
        ('{"id": "a", "command": "list_projects", "args": {"x": 1e999}}', None, "Invalid request"),
        ('{"id": "a", "n": ' + "9" * 5000 + "}", None, "Invalid request"),
        ({"command": "list_projects"}, None, "Missing field: id"),
        ({"id": 5, "command": "list_projects"}, None, "Invalid field 'id'"),
        ({"id": "x" * 5000, "command": "list_projects"}, None, "Invalid field 'id'"),
        ({"id": "a"}, "a", "Missing field: command"),
        ({"id": "a", "command": 5}, "a", "Invalid field 'command'"),
        ({"id": "a", "command": "fly"}, "a", "Unknown command: fly"),
        ({"id": "\ud800", "command": "fly"}, "\ud800", "Unknown command: fly"),
        ({"id": "a", "command": "list_projects", "args": [1]}, "a", "Invalid field 'args'"),
        ({"id": "a", "command": "get_session"}, "a", "Missing field: sessionId"),
        (
            {"id": "a", "command": "get_session", "args": {"sessionId": 5}},
            "a",
            "Invalid field 'sessionId'",
        ),
        (
            {"id": "a", "command": "get_session", "args": {"sessionId": "nope"}},
            "a",
            "Session not found: nope",
        ),
        ({"id": "a", "command": "stop_http_server"}, "a", "'stop_http_server' can only"),
        ({"id": "a", "command": "get_http_server_token"}, "a", "'get_http_server_token' can only"),
        ({"type": "subscribe", "session_id": "nope"}, None, "Session not found: nope"),
        ({"type": "subscribe", "id": "a"}, "a", "Missing field: session_id"),
        ({"type": "send_message", "session_id": "nope", "message": "x"}, None, "Session not found"),
    ],
)
async def test_an_invalid_frame_is_an_error_and_the_connection_stays(
    socket: Socket, frame: Any, request_id: str | None, error: str
) -> None:
    await socket.send(frame)
    answer = await socket.answer(request_id)
    assert answer["type"] == "error"
    assert answer["error"].startswith(error)
    assert set(answer) == {"type", "id", "error", "error_type"}
    assert await socket.call("list_projects") == []


async def test_an_unexpected_error_is_reported_by_reference_only(
    socket: Socket, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def explode(workspace: Workspace) -> None:
        raise RuntimeError("password is hunter2")

    with extra_command(explode):
        await socket.send({"id": "a", "command": "explode"})
        answer = await socket.answer("a")
    assert answer["error_type"] == "internal_error"
    assert "hunter2" not in json.dumps(answer)
    assert answer["error"].rstrip(".").split()[-1] in caplog.text


async def test_a_result_that_is_not_unicode_is_escaped(socket: Socket) -> None:
    async def broken_text(workspace: Workspace) -> str:
        return "name\udcff"

    with extra_command(broken_text):
        assert await socket.call("broken_text") == "name<U+DCFF>"


async def test_chat_messages_answer_only_when_they_have_an_id(
    socket: Socket, session: Session
) -> None:
    await socket.send({"type": "subscribe", "session_id": session.id})
    await socket.send({"type": "send_message", "session_id": session.id, "message": "hi"})
    await socket.event("message-completed")
    await socket.send({"type": "unsubscribe", "session_id": session.id, "id": "u"})
    assert (await socket.answer("u"))["data"] is None
    assert not [f for f in socket.frames[:-1] if f.get("type") == "response"]
    message = {"type": "send_message", "session_id": session.id, "message": "hi", "id": "m"}
    await socket.send(message)
    assert (await socket.answer("m"))["data"]["status"] == "processing"


async def test_a_command_goes_on_when_its_client_leaves(
    socket: Socket,
    session: Session,
    backend: FakeBackend,
    workspace: Workspace,
    eventually: Eventually,
) -> None:
    backend.script = silence
    await socket.send(
        {
            "id": "1",
            "command": "send_chat_message",
            "args": {"sessionId": session.id, "message": "x"},
        }
    )
    await socket.socket.close()
    await eventually(lambda: bool(workspace.store.state.streaming))


async def test_a_question_stays_pending_when_its_client_leaves(
    socket: Socket,
    server: Server,
    http: aiohttp.ClientSession,
    session: Session,
    backend: FakeBackend,
) -> None:
    backend.script = lambda _: [
        agent_events.QuestionAsked("q", (Question(question="Which colour?"),))
    ]
    await socket.call("send_chat_message", sessionId=session.id, message="x")
    await socket.event("session-waiting")
    await socket.socket.close()
    other = await connect(server, http)
    found = await other.call("get_session", sessionId=session.id)
    assert (found["status"], found["request"]["questions"][0]["question"]) == (
        "waiting",
        "Which colour?",
    )
    await other.call("answer_question", sessionId=session.id, answer="blue")
    await other.event("message-completed")
    assert ("answer", "q", {"Which colour?": "blue"}) in backend.agents[session.id].calls


async def test_a_frame_that_is_too_large_closes_with_1009(
    start_server: StartServer, http: aiohttp.ClientSession
) -> None:
    server = await start_server(limits=Limits(frame_size=1024 * 1024))
    socket = await connect(server, http)
    other = await connect(server, http)
    await socket.send('{"id": "' + "x" * (2 * 1024 * 1024) + '"}')
    assert await socket.wait_closed() == 1009
    assert await other.call("list_projects") == []


async def test_nothing_is_compressed(server: Server, http: aiohttp.ClientSession) -> None:
    socket = await connect(server, http, compress=15)
    assert socket.socket.compress == 0


async def test_thousands_of_malformed_frames_get_one_error_each(
    socket: Socket, session: Session, caplog: pytest.LogCaptureFixture
) -> None:
    rng = random.Random(7)
    values: list[Any] = [None, True, 5, -1.5, "", "x", "\ud800", [], [1], {}, {"a": [{}]}, 2**70]
    tasks = len(asyncio.all_tasks())
    wrong = {f"r{number}" for number in range(3000)}
    names = [name for name, found in COMMANDS.items() if found.arguments and found.remote]
    for request_id in wrong:
        found = COMMANDS[rng.choice(names)]
        args = {a.wire: rng.choice(values) for a in found.arguments if rng.random() < 0.8}
        args["unheard of"] = rng.choice(values)
        valid = {"id": request_id, "command": found.name, "args": args}
        kind = rng.randrange(3)
        if kind == 1:
            valid["command"] = rng.choice(values)
        elif kind == 2:
            valid["args"] = rng.choice([5, "x", [1], True])
        await socket.send(valid)
    answered: dict[str, int] = {}
    await socket.send({"id": "end", "command": "list_projects"})
    while len(answered) <= len(wrong):
        frame = await socket.receive()
        if "id" in frame:
            answered[frame["id"]] = answered.get(frame["id"], 0) + 1
    assert set(answered) == wrong | {"end"}
    assert set(answered.values()) == {1}
    assert "internal error" not in caplog.text
    assert len(asyncio.all_tasks()) <= tasks + 3


@table(
    ("name", "data", "codes"),
    [
        ("text that is not UTF-8", b"\x81\x82\0\0\0\0\xff\xfe", {1007}),
        ("reserved bits", b"\xf1\x81\0\0\0\0x", {1002}),
        ("a reserved opcode", b"\x83\x81\0\0\0\0x", {1002, 1003}),
        ("a control frame in pieces", b"\x09\x81\0\0\0\0x", {1002}),
    ],
)
async def test_a_protocol_violation_closes_with_its_code(
    server: Server, http: aiohttp.ClientSession, name: str, data: bytes, codes: set[int]
) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.status()["port"])
    writer.write(
        b"GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        b"Authorization: " + bearer()["Authorization"].encode() + b"\r\n\r\n"
    )
    async with asyncio.timeout(PATIENCE):
        assert b" 101 " in await reader.readuntil(b"\r\n\r\n")
        writer.write(data)
        answer = await reader.read()
    writer.close()
    assert answer[0] == 0x88, name
    assert struct.unpack("!H", answer[2:4])[0] in codes
    assert (await http.get(base_url(server) + "/healthz")).status == 200


async def test_a_silent_client_is_pinged_and_then_closed(
    start_server: StartServer, http: aiohttp.ClientSession
) -> None:
    server = await start_server(limits=Limits(ping=0.1, silence=0.5))
    alive = await connect(server, http)
    # Receiving answers the pings of the client that is alive.
    listening = asyncio.create_task(alive.answer("later"))
    dead = await connect(server, http, autoping=False)
    assert (await dead.socket.receive(timeout=PATIENCE)).type is aiohttp.WSMsgType.PING
    await dead.wait_closed()
    await alive.send({"id": "later", "command": "list_projects"})
    assert (await listening)["data"] == []


async def test_a_client_that_pings_and_leaves_is_no_error(
    start_server: StartServer, http: aiohttp.ClientSession, caplog: pytest.LogCaptureFixture
) -> None:
    server = await start_server()

    async def refuse(*_: object) -> None:
        raise ConnectionResetError("Cannot write to closing transport")

    client = await connect(server, http)
    with pytest.MonkeyPatch.context() as gone:
        gone.setattr(web.WebSocketResponse, "pong", refuse)
        await client.socket.ping()
        await client.send({"id": "1", "command": "list_projects"})
        assert (await client.answer("1"))["type"] == "response"
    assert [each for each in caplog.records if each.levelno >= logging.WARNING] == []


async def test_a_blocked_event_loop_times_out_no_client(
    start_server: StartServer, http: aiohttp.ClientSession
) -> None:
    server = await start_server(limits=Limits(ping=0.1, silence=0.5))
    client = await connect(server, http, autoping=False)
    assert (await client.socket.receive(timeout=PATIENCE)).type is aiohttp.WSMsgType.PING
    time.sleep(1)
    assert (await client.socket.receive(timeout=PATIENCE)).type is aiohttp.WSMsgType.PING
