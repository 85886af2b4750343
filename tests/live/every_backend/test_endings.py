"""What ends in the middle, and many sessions at once, on every backend."""

import asyncio
import os
import signal
import uuid
from contextlib import suppress
from pathlib import Path

import pytest

from tests.contract.conftest import remote_call
from tests.live.every_backend.conftest import Begin, begun, client_of, connected, sleeping
from tests.live.every_backend.kinds import KINDS, Kind
from tests.live.every_backend.talk import Talk
from tests.model.backends.agents import becomes, children, lives
from tests.program import Serving

pytestmark = [
    pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys(), scope="module"),
    pytest.mark.timeout(300),
]


@pytest.mark.parametrize("ends", ["in good order", "killed"])
async def test_a_conversation_outlives_spinney(kind: Kind, place: Path, ends: str) -> None:
    own = place / uuid.uuid4().hex
    with kind.program(own / "spinney") as program:
        with program.serving("--demo") as served:
            async with client_of(served) as http:
                talk = await begun(kind, await connected(http, served), own / "code", "yolo")
                await talk.say("say: warp")
                tool = await sleeping(talk)
                if ends == "killed":
                    os.kill(served.pid, signal.SIGKILL)
                else:
                    await asyncio.to_thread(served.end)
        with program.serving("--demo") as served:
            async with client_of(served) as http:
                await becomes(lambda: not lives(tool))
                socket = await connected(http, served)
                again = Talk(kind, socket, remote_call(socket), talk.session, talk.worktree)
                session = await again.until("idle")
                assert session["last_run"]["status"] == "interrupted"
                await again.say("remember?")
                assert "warp" in await again.last_text()


async def test_a_killed_program_is_told_and_the_conversation_goes_on(
    begin: Begin, served: Serving
) -> None:
    talk = await begin()
    await talk.say("say: warp")
    await talk.send("slow")
    await talk.hears("content-delta")
    for pid in children(served.pid):
        with suppress(ProcessLookupError):  # others of the tests end by themselves
            os.kill(pid, signal.SIGKILL)
    session = await talk.until("failed")
    assert session["last_run"]["error_type"] == "backend_error"
    await talk.say("remember?")
    assert "warp" in await talk.last_text()


async def test_twenty_sessions_answer_at_once(begin: Begin) -> None:
    first = await begin()
    talks = [first]
    for _ in range(19):
        session = await first.call(
            "create_session",
            worktreeId=first.worktree["id"],
            backend=first.kind.backend,
            model=first.kind.model,
        )
        talks.append(Talk(first.kind, first.socket, first.call, session, first.worktree))
    for number, talk in enumerate(talks):
        await talk.send(f"say: thread {number}")
    for number, talk in enumerate(talks):
        await talk.until("idle", patience=200)
        assert await talk.last_text() == f"thread {number}"
