"""A turn that ends at a limit goes on at its time, with the queue in order, also after a kill."""

import asyncio
import os
import signal
import time
import uuid
from pathlib import Path

import pytest

from tests.contract.conftest import make_remote_call
from tests.live.every_backend.conftest import begin_talk, connect, open_client
from tests.live.every_backend.kinds import KINDS, PROGRAMS, Kind
from tests.live.every_backend.talk import Talk

pytestmark = [
    pytest.mark.parametrize("kind", [KINDS["demo"], *PROGRAMS.values()], ids=["demo", *PROGRAMS]),
    pytest.mark.timeout(300),
]

SOON = 4.0
"""Seconds until the session goes on."""


@pytest.mark.parametrize("ends", ["goes on", "killed"])
async def test_a_paused_turn_goes_on_at_its_time_before_the_queue(
    kind: Kind, place: Path, ends: str
) -> None:
    own = place / uuid.uuid4().hex
    with kind.program(own / "spinney") as program:
        with program.serving("--demo") as served:
            async with open_client(served) as http:
                talk = await begin_talk(kind, await connect(http, served), own / "code", "build")
                paused = await talk.say("error 429", until="paused")
                assert paused["pause"]["kind"] == "usage_limit"
                for text in ("say: second", "remember?"):
                    assert (await talk.send(text))["status"] == "sent"
                await talk.do("set_resume_time", at=time.time() + SOON)
                if ends == "goes on":
                    await _expect_all(talk)
                    return
                os.kill(served.pid, signal.SIGKILL)
        with program.serving("--demo") as served:
            async with open_client(served) as http:
                socket = await connect(http, served)
                await _expect_all(
                    Talk(kind, socket, make_remote_call(socket), talk.session, talk.worktree)
                )


async def _expect_all(talk: Talk) -> None:
    """Expect that the turn went on, and then the queued messages, each once."""
    sent = [talk.kind.words(text) for text in ("error 429", "say: second", "remember?")]
    async with asyncio.timeout(120):
        while await _is_unfinished(talk):
            await talk.socket.receive()
    messages = (await talk.do("get_messages"))["messages"]
    assert [_text(one) for one in messages if one["role"] == "user"] == sent
    assert "second" in _text(messages[-3])
    assert "second" in _text(messages[-1]), "the agent remembers what was said"


async def _is_unfinished(talk: Talk) -> bool:
    status = (await talk.do("get_session"))["status"]
    return status in ("paused", "running") or bool(await talk.do("list_queued_messages"))


def _text(message: dict[str, object]) -> str:
    blocks = message["content"]
    assert isinstance(blocks, list)
    return "".join(block["text"] for block in blocks if block["type"] == "text").strip()
