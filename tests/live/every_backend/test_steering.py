"""Messages sent into a running turn of every backend: read there once, or sent after it."""

import os
import signal
import uuid
from pathlib import Path

import pytest

from tests.contract.conftest import make_remote_call
from tests.live.every_backend.conftest import Begin, begin_talk, connect, open_client
from tests.live.every_backend.kinds import KINDS, Kind
from tests.live.every_backend.talk import Talk

pytestmark = [
    pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys(), scope="module"),
    pytest.mark.timeout(300),
]

HELD = "bash: while [ ! -e go ]; do sleep 0.1; done"


async def steer(talk: Talk, text: str) -> str:
    """Send a message into the turn; return its id."""
    sent = await talk.do("send_chat_message", message=talk.kind.words(text), steer=True)
    assert sent["status"] == "sent"
    return str(sent["message_id"])


async def wait_until_read(talk: Talk, message_id: str) -> None:
    """Wait until the message is in the conversation."""
    while True:
        body = await talk.wait_for_event("message-queued")
        if body["message"]["id"] == message_id and body["status"] == "processing":
            return


async def count_turns(talk: Talk) -> int:
    return len(await talk.do("list_turns"))


async def recall(talk: Talk) -> str:
    """What the model says that the user said before."""
    await talk.say("remember?")
    return await talk.last_text()


async def test_a_message_is_read_after_the_tool_that_runs(begin: Begin) -> None:
    talk = await begin("yolo")
    await talk.send(HELD)
    await talk.wait_for_event("tool-use")
    message_id = await steer(talk, "say: steered")
    (Path(talk.worktree["path"]) / "go").touch()
    await wait_until_read(talk, message_id)
    await talk.until("idle")
    assert "steered" in await talk.last_text()
    assert await count_turns(talk) == (1 if talk.kind.steers else 2)
    assert not await talk.do("list_queued_messages")
    recalled = await recall(talk)
    assert recalled.count("steered") == 1


async def test_a_message_is_answered_after_the_text_that_streams(begin: Begin) -> None:
    talk = await begin()
    await talk.send("slowly: " + "warp " * 8)
    await talk.wait_for_event("content-delta")
    first, second = await steer(talk, "say: one"), await steer(talk, "say: two")
    await wait_until_read(talk, first)
    await wait_until_read(talk, second)
    await talk.until("idle")
    assert "two" in await talk.last_text()
    users = [line for line in await talk.stored() if line.startswith("user")]
    assert len(users) == 3
    recalled = await recall(talk)
    assert (recalled.count("one"), recalled.count("two")) == (1, 1)


async def test_a_message_stays_queued_after_a_stop_and_is_answered_once(begin: Begin) -> None:
    talk = await begin()
    await talk.send("slow")
    await talk.wait_for_event("content-delta")
    await steer(talk, "say: steered")
    session = await talk.do("stop_generation")
    assert session["status"] == "idle"
    if await talk.do("list_queued_messages"):  # else the agent had read it already
        await talk.do("send_queued_messages")
        await talk.until("idle")
        assert "steered" in await talk.last_text()
    assert (await talk.stored()).count("user text") == 2
    assert (await recall(talk)).count("steered") == 1


async def test_the_next_message_is_answered_as_ever(begin: Begin) -> None:
    talk = await begin()
    await talk.send("slowly: " + "warp " * 4)
    await talk.wait_for_event("content-delta")
    await steer(talk, "say: one")
    await talk.until("idle")
    await talk.say("say: two")
    assert "two" in await talk.last_text()


async def test_a_message_outlives_a_kill_of_spinney_and_is_answered_once(
    kind: Kind, place: Path
) -> None:
    own = place / uuid.uuid4().hex
    with kind.program(own / "spinney") as program:
        with program.serving("--demo") as served:
            async with open_client(served) as http:
                talk = await begin_talk(kind, await connect(http, served), own / "code", "build")
                await talk.send("slow")
                await talk.wait_for_event("content-delta")
                await steer(talk, "say: steered")
                os.kill(served.pid, signal.SIGKILL)
        with program.serving("--demo") as served:
            async with open_client(served) as http:
                socket = await connect(http, served)
                again = Talk(kind, socket, make_remote_call(socket), talk.session, talk.worktree)
                await again.until("idle")
                if await again.do("list_queued_messages"):  # else the agent had read it already
                    await again.do("send_queued_messages")
                    await again.until("idle")
                    assert "steered" in await again.last_text()
                assert (await again.stored()).count("user text") == 2
                assert not await again.do("list_queued_messages")
