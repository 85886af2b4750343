"""The server that OpenCode's sessions share: its calls, events and exit."""

import asyncio
import json
import os
import shutil
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from model.backends.opencode.event_stream import ServerEvent
from model.backends.opencode.server import OpenCodeServer
from model.backends.opencode.server_pool import ServerPool
from model.backends.process import InvalidLine
from model.backends.traffic import NULL_RECORDER
from model.base.errors import SpinneyError
from tests.model.backends.agents import TURN_LIMIT, wait_until

FAKE = Path(__file__).with_name("fake_opencode.py")
HERE = Path("/")

Start = Callable[..., Awaitable[OpenCodeServer]]


def event(session: str, number: int, kind: str = "numbered", **more: Any) -> str:
    properties = {"sessionID": session, "number": number, **more}
    return json.dumps({"payload": {"type": kind, "properties": properties}})


class RecordingListener:
    """Records everything that a conversation receives."""

    def __init__(self) -> None:
        self.record = NULL_RECORDER
        self.received: list[Any] = []
        self._changed = asyncio.Event()

    def on_event(self, event: ServerEvent | InvalidLine) -> None:
        self._note(event.properties["number"] if isinstance(event, ServerEvent) else event.reason)

    def on_events_missed(self) -> None:
        self._note("missed")

    def on_exit(self, reason: str) -> None:
        self._note(reason)

    async def until(self, what: object) -> None:
        """Wait until `what` has been received."""
        async with asyncio.timeout(TURN_LIMIT):
            while what not in self.received:
                self._changed.clear()
                await self._changed.wait()

    @property
    def events(self) -> list[Any]:
        """Everything received except notifications of missed events."""
        return [each for each in self.received if each != "missed"]

    def _note(self, what: object) -> None:
        self.received.append(what)
        self._changed.set()


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A stub for `opencode`."""
    shutil.copy(FAKE, tmp_path / "fake.py")
    program = tmp_path / "opencode"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I "{tmp_path}/fake.py" "$@"\n')
    program.chmod(0o755)
    write_script(program)
    return program


def write_script(program: Path, *connections: list[str], **more: Any) -> None:
    whole = {"connections": connections, "answers": {}, "stderr": "", **more}
    program.with_name("script.json").write_text(json.dumps(whole))


@pytest.fixture
async def start(program: Path) -> AsyncIterator[Start]:
    started: list[OpenCodeServer] = []

    async def start(*connections: list[str], **more: Any) -> OpenCodeServer:
        write_script(program, *connections, **more)
        started.append(await OpenCodeServer.start(str(program), dict(os.environ)))
        return started[-1]

    yield start
    await asyncio.gather(*(server.close() for server in started))


async def test_after_a_disconnect_the_stream_reopens_and_every_listener_is_notified(
    start: Start,
) -> None:
    # The first connection ends before a listener is attached.
    server = await start([event("a", 0)], [event("a", 1), event("b", 2)], [event("a", 3)])
    first, second = RecordingListener(), RecordingListener()
    server.attach("a", first)
    server.attach("b", second)
    await first.until(3)
    assert (first.events, second.events) == ([1, 3], [2])
    assert "missed" in first.received
    assert "missed" in second.received


async def test_a_conversation_receives_the_events_of_its_sub_agents(start: Start) -> None:
    born = {"info": {"id": "child", "parentID": "a"}}
    grandchild = {"info": {"id": "grandchild", "parentID": "child"}}
    server = await start(
        [event("x", 0)],
        [
            event("child", 1, "session.created", **born),
            event("grandchild", 2, "session.created", **grandchild),
            event("grandchild", 3),
            event("unrelated", 4, "session.created", info={"id": "unrelated"}),
            event("unrelated", 5),
            event("a", 6),
        ],
    )
    listener = RecordingListener()
    server.attach("a", listener)
    await listener.until(6)
    assert listener.events == [1, 2, 3, 6]


async def test_invalid_events_are_reported_to_every_listener(start: Start) -> None:
    server = await start([event("x", 0)], ["{nonsense", "7", event("a", 1)])
    listener = RecordingListener()
    server.attach("a", listener)
    await listener.until(1)
    assert listener.events == ["not JSON", "not an event", 1]


async def test_a_request_without_the_password_is_rejected(start: Start) -> None:
    server = await start(answers={"/path": (200, {"a": 1})})
    assert await server.call("GET", "/path", HERE) == {"a": 1}
    async with aiohttp.ClientSession() as unauthenticated:
        answer = await unauthenticated.get(f"{server.address}/path")
        assert answer.status == 401


async def test_a_refused_call_raises_the_servers_message(start: Start) -> None:
    refusal = {"name": "BadRequest", "data": {"message": "No such variant"}}
    server = await start(answers={"/path": (400, refusal), "/broken": (500, None)})
    with pytest.raises(SpinneyError, match="No such variant") as refused:
        await server.call("GET", "/path", HERE)
    assert refused.value.error_type == "invalid_request"
    with pytest.raises(SpinneyError) as broken:
        await server.call("GET", "/broken", HERE)
    assert broken.value.error_type == "backend_error"
    with pytest.raises(SpinneyError) as unknown:
        await server.call("GET", "/unknown", HERE)
    assert unknown.value.error_type == "not_found"


async def test_the_last_output_of_a_dead_server_is_reported(start: Start) -> None:
    server = await start(stderr="the loom is broken")
    listener = RecordingListener()
    server.attach("a", listener)
    with pytest.raises(SpinneyError) as raised:
        await server.call("GET", "/die", HERE)
    assert raised.value.error_type == "backend_error"
    await wait_until(lambda: not server.is_running)
    await wait_until(lambda: bool(listener.received))
    (reason,) = listener.received
    assert "exit code 7" in reason
    assert "the loom is broken" in reason


async def test_equal_environments_share_a_server_and_a_dead_one_is_replaced(program: Path) -> None:
    servers = ServerPool()
    try:
        environment = dict(os.environ)
        one, same = await asyncio.gather(
            *(servers.acquire(str(program), environment) for _ in range(2))
        )
        other = await servers.acquire(str(program), {**environment, "COLOUR": "blue"})
        assert one is same
        assert other is not one
        await one.process.kill()
        await wait_until(lambda: not one.is_running)
        new = await servers.acquire(str(program), environment)
        assert new.is_running
        assert new is not one
    finally:
        await servers.close()
    assert not other.is_running
    assert not new.is_running


async def test_an_idle_server_ends(program: Path) -> None:
    servers = ServerPool(idle_timeout=0.05)
    server = await servers.acquire(str(program), dict(os.environ))
    again = await servers.acquire(str(program), dict(os.environ))
    servers.release(server)
    assert server.is_running  # still in use once
    servers.release(again)
    await wait_until(lambda: server.process.returncode is not None)
    await servers.close()


async def test_a_failed_start_is_retried_the_next_time(program: Path) -> None:
    servers = ServerPool()
    works = program.read_text()
    program.write_text("#!/bin/sh\necho 'no loom here' >&2; exit 1\n")
    with pytest.raises(SpinneyError, match="no loom here"):
        await servers.acquire(str(program), dict(os.environ))
    program.write_text(works)
    assert (await servers.acquire(str(program), dict(os.environ))).is_running
    await servers.close()
