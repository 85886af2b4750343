"""Agents that die just as a turn begins."""

import asyncio
import threading

from model.backends import base
from model.errors import SpinneyError
from model.resources import Session
from tests.model.chat.stage import DONE, Stage
from tests.patience import PATIENCE
from tests.puppet import Puppet


async def asked_before(stage: Stage) -> Puppet:
    """An agent that rests after its first turn."""
    await stage.chats.send("s", "one")
    puppet = await stage.backend.newest()
    puppet.say(base.TextDelta("a", "first"), DONE)
    await stage.settled()
    return puppet


async def test_one_that_dies_before_it_is_asked_is_started_again_for_the_turn(
    stage: Stage,
) -> None:
    puppet = await asked_before(stage)
    found, look = threading.Event(), stage.directory_of

    def found_late(session: Session) -> tuple[int, int]:
        assert found.wait(PATIENCE)
        return look(session)

    stage.directory_of = found_late  # type: ignore[method-assign]
    await stage.chats.send("s", "two")
    puppet.die()
    await puppet.hears("close")
    found.set()
    again = await stage.backend.newest(2)
    assert await again.hears("send") == ("send", "two")
    assert stage.session.status == "running"
    again.say(base.TextDelta("b", "second"), DONE)
    answer = await stage.settled()
    assert (answer.text, answer.error, stage.session.status) == ("second", None, "idle")


async def test_one_that_dies_while_it_is_asked_fails_the_turn_once(stage: Stage) -> None:
    puppet = await asked_before(stage)

    async def send(prompt: base.Prompt) -> None:
        puppet.die()
        await puppet.hears("close")
        raise SpinneyError("Nobody listens.", "backend_error")

    puppet.send = send  # type: ignore[method-assign]
    await stage.chats.send("s", "two")
    await stage.settled()
    turn = stage.chats._conversation("s")._turn
    assert turn is not None
    await asyncio.wait([turn])
    failed = [message for message in await stage.messages() if message.error is not None]
    assert len(failed) == 1
    assert stage.session.status == "failed"
