"""How many agents may run at once: who finds no place waits in order, and who rests gives way."""

import asyncio

from model.chat.agent_pool import AgentPool
from model.domain.events import PreferencesUpdated
from model.preferences.schema import Preferences
from tests.model.chat.stage import DONE, Stage


async def limit_to(stage: Stage, limit: int) -> None:
    await stage.store.accept(PreferencesUpdated(changes={"agent_limit": limit}))
    stage.chats.agent_pool.schedule()


async def test_a_message_beyond_the_limit_waits_says_so_and_runs_when_one_has_finished(
    stage: Stage,
) -> None:
    await limit_to(stage, 1)
    await stage.add_session("other")
    await stage.chats.send("s", "first")
    first = await stage.backend.newest()
    await first.hears("send")
    await stage.chats.send("other", "second")
    await stage.until_told("Waiting for a free agent (1 of 1 running).")
    assert stage.status("other") == "running"
    assert len(stage.backend.puppets) == 1
    first.say(DONE)
    second = await stage.backend.newest(2)
    assert await second.hears("send") == ("send", "second")
    assert first.closed, "a resting program gives its place away"
    assert stage.status("s") == "idle"


async def test_those_who_wait_are_let_in_in_the_order_in_which_they_came(stage: Stage) -> None:
    await limit_to(stage, 1)
    for key in ("a", "b"):
        await stage.add_session(key)
    await stage.chats.send("s", "first")
    await stage.backend.newest()
    for key in ("a", "b"):
        await stage.chats.send(key, f"from {key}")
        await stage.until_told("Waiting for a free agent")
    for number, words in ((2, "from a"), (3, "from b")):
        stage.backend.puppets[-1].say(DONE)
        puppet = await stage.backend.newest(number)
        assert await puppet.hears("send") == ("send", words)


async def test_one_that_waits_can_be_stopped_and_takes_nobodys_turn(stage: Stage) -> None:
    await limit_to(stage, 1)
    for key in ("a", "b"):
        await stage.add_session(key)
    await stage.chats.send("s", "first")
    first = await stage.backend.newest()
    for key in ("a", "b"):
        await stage.chats.send(key, f"from {key}")
        await stage.until_told("Waiting for a free agent")
    await stage.chats.stop("a")
    assert stage.status("a") == "idle"
    first.say(DONE)
    assert await (await stage.backend.newest(2)).hears("send") == ("send", "from b")


async def test_a_raised_limit_lets_in_at_once(stage: Stage) -> None:
    await limit_to(stage, 1)
    await stage.add_session("other")
    await stage.chats.send("s", "first")
    await stage.backend.newest()
    await stage.chats.send("other", "second")
    await stage.until_told("Waiting for a free agent")
    await limit_to(stage, 2)
    assert await (await stage.backend.newest(2)).hears("send") == ("send", "second")
    assert stage.status("s") == "running"


async def test_a_resting_program_goes_without_a_word_about_waiting(stage: Stage) -> None:
    await limit_to(stage, 1)
    await stage.add_session("other")
    await stage.chats.send("s", "first")
    (await stage.backend.newest()).say(DONE)
    await stage.settled()
    stage.notices()
    await stage.chats.send("other", "second")
    await (await stage.backend.newest(2)).hears("send")
    assert stage.notices() == []
    await stage.chats.send("s", "again")
    stage.backend.puppets[1].say(DONE)
    again = await stage.backend.newest(3)
    assert again.launch.session_id == "s", "the one that gave way comes back when spoken to"


async def test_a_program_that_cannot_be_started_leaves_its_place(stage: Stage) -> None:
    await limit_to(stage, 1)
    stage.backend.missing = True
    await stage.chats.send("s", "first")
    await stage.settled()
    stage.backend.missing = False
    await stage.chats.send("s", "second")
    assert await (await stage.backend.newest()).hears("send") == ("send", "second")


async def test_the_one_that_has_rested_longest_goes_first() -> None:
    gone: list[str] = []
    room = AgentPool(lambda: 2)
    one = await room.acquire(lambda: gone.append("one"), gone.append)
    two = await room.acquire(lambda: gone.append("two"), gone.append)
    room.mark_idle(two)
    room.mark_idle(one)
    waiting = asyncio.ensure_future(room.acquire(lambda: None, gone.append))
    await asyncio.sleep(0)
    assert gone == ["two"]
    room.release(two)
    await waiting
    assert gone == ["two"]


def test_the_limit_is_a_preference() -> None:
    assert Preferences().agent_limit == 20
