"""The limit on running agents: sessions beyond it wait in order, and idle agents give way."""

import asyncio

from model.chat.agent_pool import AgentPool
from model.domain.events.program import PreferencesUpdated
from model.preferences.schema import Preferences
from tests.model.chat.harness import DONE, Harness


async def limit_to(harness: Harness, limit: int) -> None:
    await harness.store.accept(PreferencesUpdated(changes={"agent_limit": limit}))
    harness.conversations.agent_pool.schedule()


async def test_a_message_beyond_the_limit_waits_until_an_agent_is_idle(
    harness: Harness,
) -> None:
    await limit_to(harness, 1)
    await harness.add_session("other")
    first = await harness.start_turn("first")
    await first.wait_for_call("send")
    await harness.chats.send("other", "second")
    await harness.wait_for_notice("Waiting for a free agent (1 of 1 running).")
    assert harness.status("other") == "running"
    assert len(harness.backend.puppets) == 1
    first.say(DONE)
    second = await harness.backend.newest(2)
    assert await second.wait_for_call("send") == ("send", "second")
    assert first.closed, "an idle agent frees its slot"
    assert harness.status("s") == "idle"


async def test_waiting_sessions_start_in_order(harness: Harness) -> None:
    await limit_to(harness, 1)
    for key in ("a", "b"):
        await harness.add_session(key)
    await harness.start_turn("first")
    for key in ("a", "b"):
        await harness.chats.send(key, f"from {key}")
        await harness.wait_for_notice("Waiting for a free agent")
    for number, words in ((2, "from a"), (3, "from b")):
        harness.backend.puppets[-1].say(DONE)
        puppet = await harness.backend.newest(number)
        assert await puppet.wait_for_call("send") == ("send", words)


async def test_a_waiting_session_can_be_stopped_without_delaying_the_next(harness: Harness) -> None:
    await limit_to(harness, 1)
    for key in ("a", "b"):
        await harness.add_session(key)
    first = await harness.start_turn("first")
    for key in ("a", "b"):
        await harness.chats.send(key, f"from {key}")
        await harness.wait_for_notice("Waiting for a free agent")
    await harness.chats.stop("a")
    assert harness.status("a") == "idle"
    first.say(DONE)
    assert await (await harness.backend.newest(2)).wait_for_call("send") == ("send", "from b")


async def test_a_raised_limit_starts_a_waiting_session_at_once(harness: Harness) -> None:
    await limit_to(harness, 1)
    await harness.add_session("other")
    await harness.start_turn("first")
    await harness.chats.send("other", "second")
    await harness.wait_for_notice("Waiting for a free agent")
    await limit_to(harness, 2)
    assert await (await harness.backend.newest(2)).wait_for_call("send") == ("send", "second")
    assert harness.status("s") == "running"


async def test_an_idle_agent_is_replaced_without_a_notice(harness: Harness) -> None:
    await limit_to(harness, 1)
    await harness.add_session("other")
    (await harness.start_turn("first")).say(DONE)
    await harness.wait_for_turn()
    harness.take_notices()
    await harness.chats.send("other", "second")
    await (await harness.backend.newest(2)).wait_for_call("send")
    assert harness.take_notices() == []
    await harness.chats.send("s", "again")
    harness.backend.puppets[1].say(DONE)
    again = await harness.backend.newest(3)
    assert again.launch.session_id == "s", "the ended agent starts again with the next message"


async def test_an_agent_that_fails_to_start_frees_its_slot(harness: Harness) -> None:
    await limit_to(harness, 1)
    harness.backend.missing = True
    await harness.chats.send("s", "first")
    await harness.wait_for_turn()
    harness.backend.missing = False
    assert await (await harness.start_turn("second")).wait_for_call("send") == ("send", "second")


async def test_the_longest_idle_agent_is_ended_first() -> None:
    evicted: list[str] = []
    pool = AgentPool(lambda: 2)
    one = await pool.acquire(lambda: evicted.append("one"), evicted.append)
    two = await pool.acquire(lambda: evicted.append("two"), evicted.append)
    pool.mark_idle(two)
    pool.mark_idle(one)
    waiting = asyncio.ensure_future(pool.acquire(lambda: None, evicted.append))
    await asyncio.sleep(0)
    assert evicted == ["two"]
    pool.release(two)
    await waiting
    assert evicted == ["two"]


def test_the_limit_is_a_preference() -> None:
    assert Preferences().agent_limit == 20
