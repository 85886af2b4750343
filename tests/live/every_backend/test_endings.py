"""Spinney or a program ending during a turn, and many sessions at once, on every backend."""

import asyncio
import os
import signal
import uuid
from contextlib import suppress
from pathlib import Path

import pytest

from tests.contract.conftest import make_remote_call
from tests.live.every_backend.conftest import (
    Begin,
    begin_talk,
    connect,
    open_client,
    start_endless_tool,
)
from tests.live.every_backend.kinds import KINDS, Kind
from tests.live.every_backend.talk import Talk
from tests.model.backends.agents import children, is_running, wait_until
from tests.program import Serving

pytestmark = [
    pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys(), scope="module"),
    pytest.mark.timeout(300),
]


@pytest.mark.parametrize("ends", ["shut down", "killed"])
async def test_a_conversation_outlives_spinney(kind: Kind, place: Path, ends: str) -> None:
    own = place / uuid.uuid4().hex
    with kind.program(own / "spinney") as program:
        with program.serving("--demo") as served:
            async with open_client(served) as http:
                talk = await begin_talk(kind, await connect(http, served), own / "code", "yolo")
                await talk.say("say: warp")
                tool = await start_endless_tool(talk)
                if ends == "killed":
                    os.kill(served.pid, signal.SIGKILL)
                else:
                    await asyncio.to_thread(served.end)
        with program.serving("--demo") as served:
            async with open_client(served) as http:
                await wait_until(lambda: not is_running(tool))
                socket = await connect(http, served)
                again = Talk(kind, socket, make_remote_call(socket), talk.session, talk.worktree)
                session = await again.until("idle")
                assert session["last_run"]["status"] == "interrupted"
                await again.say("remember?")
                assert "warp" in await again.last_text()


async def test_a_killed_program_fails_the_run_and_the_conversation_resumes(
    begin: Begin, served: Serving
) -> None:
    talk = await begin()
    await talk.say("say: warp")
    await talk.send("slow")
    await talk.wait_for_event("content-delta")
    for pid in children(served.pid):
        with suppress(ProcessLookupError):  # processes of other tests end by themselves
            os.kill(pid, signal.SIGKILL)
    session = await talk.until("failed")
    assert session["last_run"]["error_type"] == "backend_error"
    await talk.say("remember?")
    assert "warp" in await talk.last_text()


async def test_eight_sessions_answer_at_once(begin: Begin) -> None:
    first = await begin()
    talks = [first]
    for _ in range(7):
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
