"""The server that OpenCode's sessions share: calls to it, its events, and its end."""

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
from model.backends.process import Unreadable
from model.backends.traffic import UNRECORDED
from model.base.errors import SpinneyError
from tests.model.backends.agents import TURN_LIMIT, becomes

FAKE = Path(__file__).with_name("fake_opencode.py")
HERE = Path("/")

Start = Callable[..., Awaitable[OpenCodeServer]]


def event(session: str, number: int, kind: str = "numbered", **more: Any) -> str:
    told = {"sessionID": session, "number": number, **more}
    return json.dumps({"payload": {"type": kind, "properties": told}})


class Listening:
    """A conversation that keeps what it hears."""

    def __init__(self) -> None:
        self.record = UNRECORDED
        self.heard: list[Any] = []
        self._some = asyncio.Event()

    def on_event(self, event: ServerEvent | Unreadable) -> None:
        self._note(event.properties["number"] if isinstance(event, ServerEvent) else event.reason)

    def on_events_missed(self) -> None:
        self._note("missed")

    def on_exit(self, reason: str) -> None:
        self._note(reason)

    async def until(self, what: object) -> None:
        """Wait until it has heard this."""
        async with asyncio.timeout(TURN_LIMIT):
            while what not in self.heard:
                self._some.clear()
                await self._some.wait()

    @property
    def events(self) -> list[Any]:
        """What it heard of the conversation itself."""
        return [each for each in self.heard if each != "missed"]

    def _note(self, what: object) -> None:
        self.heard.append(what)
        self._some.set()


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A prepared `opencode`."""
    shutil.copy(FAKE, tmp_path / "fake.py")
    program = tmp_path / "opencode"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I "{tmp_path}/fake.py" "$@"\n')
    program.chmod(0o755)
    script(program)
    return program


def script(program: Path, *connections: list[str], **more: Any) -> None:
    whole = {"connections": connections, "answers": {}, "last words": "", **more}
    program.with_name("script.json").write_text(json.dumps(whole))


@pytest.fixture
async def start(program: Path) -> AsyncIterator[Start]:
    started: list[OpenCodeServer] = []

    async def start(*connections: list[str], **more: Any) -> OpenCodeServer:
        script(program, *connections, **more)
        started.append(await OpenCodeServer.start(str(program), dict(os.environ)))
        return started[-1]

    yield start
    await asyncio.gather(*(server.close() for server in started))


async def test_after_a_cut_the_stream_is_opened_again_and_all_are_told(start: Start) -> None:
    # The first connection is over before anybody listens to a conversation.
    server = await start([event("a", 0)], [event("a", 1), event("b", 2)], [event("a", 3)])
    first, second = Listening(), Listening()
    server.attach("a", first)
    server.attach("b", second)
    await first.until(3)
    assert (first.events, second.events) == ([1, 3], [2])
    assert "missed" in first.heard
    assert "missed" in second.heard


async def test_a_conversation_hears_of_its_sub_agents(start: Start) -> None:
    born = {"info": {"id": "child", "parentID": "a"}}
    grandchild = {"info": {"id": "grandchild", "parentID": "child"}}
    server = await start(
        [event("x", 0)],
        [
            event("child", 1, "session.created", **born),
            event("grandchild", 2, "session.created", **grandchild),
            event("grandchild", 3),
            event("stranger", 4, "session.created", info={"id": "stranger"}),
            event("stranger", 5),
            event("a", 6),
        ],
    )
    listening = Listening()
    server.attach("a", listening)
    await listening.until(6)
    assert listening.events == [1, 2, 3, 6]


async def test_what_cannot_be_read_is_told_to_all(start: Start) -> None:
    server = await start([event("x", 0)], ["{nonsense", "7", event("a", 1)])
    listening = Listening()
    server.attach("a", listening)
    await listening.until(1)
    assert listening.events == ["not JSON", "not an event", 1]


async def test_who_does_not_know_the_password_is_turned_away(start: Start) -> None:
    server = await start(answers={"/path": (200, {"a": 1})})
    assert await server.call("GET", "/path", HERE) == {"a": 1}
    async with aiohttp.ClientSession() as nobody:
        answer = await nobody.get(f"{server.address}/path")
        assert answer.status == 401


async def test_a_refused_call_says_what_the_server_said(start: Start) -> None:
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


async def test_a_server_that_dies_tells_its_last_words(start: Start) -> None:
    server = await start(**{"last words": "the loom is broken"})
    listening = Listening()
    server.attach("a", listening)
    with pytest.raises(SpinneyError) as unanswered:
        await server.call("GET", "/die", HERE)
    assert unanswered.value.error_type == "backend_error"
    await becomes(lambda: not server.is_running)
    await becomes(lambda: bool(listening.heard))
    (reason,) = listening.heard
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
        await becomes(lambda: not one.is_running)
        new = await servers.acquire(str(program), environment)
        assert new.is_running
        assert new is not one
    finally:
        await servers.close()
    assert not other.is_running
    assert not new.is_running


async def test_a_server_ends_when_nobody_has_used_it_for_a_while(program: Path) -> None:
    servers = ServerPool(idle_timeout=0.05)
    server = await servers.acquire(str(program), dict(os.environ))
    again = await servers.acquire(str(program), dict(os.environ))
    servers.release(server)
    assert server.is_running  # somebody still uses it
    servers.release(again)
    await becomes(lambda: server.process.returncode is not None)
    await servers.close()


async def test_a_start_that_fails_is_tried_again_the_next_time(program: Path) -> None:
    servers = ServerPool()
    works = program.read_text()
    program.write_text("#!/bin/sh\necho 'no loom here' >&2; exit 1\n")
    with pytest.raises(SpinneyError, match="no loom here"):
        await servers.acquire(str(program), dict(os.environ))
    program.write_text(works)
    assert (await servers.acquire(str(program), dict(os.environ))).is_running
    await servers.close()
