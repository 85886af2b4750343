"""Messages sent during a turn wait, and run or are removed."""

import pytest

from model.backends import agent_events
from model.base.errors import SpinneyError
from tests.model.chat.harness import DONE, Harness


async def test_a_message_during_a_run_waits_and_then_runs(harness: Harness) -> None:
    puppet = await harness.start_turn("first")
    await puppet.wait_for_call("send")
    second = await harness.chats.send("s", "second")
    assert second.status == "sent"
    assert [(m.text, m.status) for m in harness.store.state.queued["s"]] == [("second", "sent")]
    puppet.say(agent_events.TextDelta("a", "one"), DONE)
    assert await puppet.wait_for_call("send") == ("send", "second")
    assert harness.store.state.queued == {}
    puppet.say(agent_events.TextDelta("b", "two"), DONE)
    await harness.wait_for_turn()
    messages = await harness.messages()
    assert [m.text for m in messages] == ["first", "one", "second", "two"]
    assert {m.status for m in messages} == {"completed"}


async def test_a_queued_message_can_be_removed(harness: Harness) -> None:
    await harness.chats.send("s", "first")
    waiting = await harness.chats.send("s", "second")
    await harness.queues.remove_queued("s", waiting.message_id)
    assert harness.store.state.queued == {}
    with pytest.raises(SpinneyError, match="no longer queued"):
        await harness.queues.remove_queued("s", waiting.message_id)


async def test_a_message_runs_if_the_turn_ends_while_it_is_being_saved(
    harness: Harness,
) -> None:
    puppet = await harness.start_turn("first")
    await puppet.wait_for_call("send")
    async with harness.slow_disk(harness.chats.send("s", "second")) as sending:
        puppet.say(agent_events.TextDelta("a", "one"), DONE)
        await harness.wait_until(lambda: harness.session.status == "idle")
    assert (await sending).status == "sent"
    assert await puppet.wait_for_call("send") == ("send", "second")
    assert harness.store.state.queued == {}


async def test_a_message_that_is_being_removed_is_not_run_when_the_turn_ends(
    harness: Harness,
) -> None:
    puppet = await harness.start_turn("first")
    await puppet.wait_for_call("send")
    removed = await harness.chats.send("s", "second")
    await harness.chats.send("s", "third")
    async with harness.slow_disk(harness.queues.remove_queued("s", removed.message_id)):
        puppet.say(agent_events.TextDelta("a", "one"), DONE)
        await harness.wait_until(lambda: harness.session.last_run is not None)
    assert await puppet.wait_for_call("send") == ("send", "third")
    assert harness.store.state.queued == {}


async def test_queued_messages_are_sent_after_a_stop_on_request(harness: Harness) -> None:
    await harness.start_turn("one")
    await harness.chats.send("s", "two")
    await harness.chats.stop("s")
    assert harness.session.status == "idle"
    session = await harness.queues.send_queued("s")
    assert session.status == "running"
    assert "two" in [message.text for message in await harness.messages()]
    assert not harness.store.state.queued.get("s")
