"""Messages sent into a running turn: read by the agent there, or sent after it; never lost."""

import pytest

from model.backends import agent_events
from model.base.errors import SpinneyError
from model.domain.messages import Message, ToolResultBlock
from tests.model.chat.harness import DONE, Harness
from tests.puppet import Puppet


def queued(harness: Harness) -> list[tuple[str, bool]]:
    return [(each.text, each.steered) for each in harness.store.state.queued.get("s", ())]


async def texts(harness: Harness) -> list[str]:
    return [message.text for message in await harness.messages()]


async def steer(harness: Harness, puppet: Puppet, text: str) -> str:
    """Send a message into the turn, and wait until the agent has it; return its id."""
    sent = await harness.chats.send("s", text, steer=True)
    assert sent.status == "sent"
    assert await puppet.wait_for_call("steer") == ("steer", sent.message_id, text)
    return sent.message_id


async def test_a_message_is_in_the_conversation_where_the_agent_reads_it(harness: Harness) -> None:
    puppet = await harness.start_turn("first")
    puppet.say(
        agent_events.TextDelta("a", "one"), agent_events.ToolUse("t", "bash", {"command": "make"})
    )
    message_id = await steer(harness, puppet, "use ninja")
    assert queued(harness) == [("use ninja", True)]
    puppet.say(agent_events.SteerTaken(message_id), agent_events.ToolResult("t", "made"))
    puppet.say(agent_events.TextDelta("b", "two"), DONE)
    await harness.wait_for_turn()
    messages = await harness.messages()
    assert [(each.role, each.text) for each in messages] == [
        ("user", "first"), ("assistant", "one"), ("user", "use ninja"), ("assistant", "two"),
    ]  # fmt: skip
    assert [each.steered for each in messages] == [False, False, True, False]
    result = messages[1].content[-1]
    assert isinstance(result, ToolResultBlock) and result.content == "made"
    assert not queued(harness)
    assert [call[0] for call in puppet.calls] == ["send"]  # it was not sent again


async def test_a_message_that_was_not_read_is_the_first_after_the_turn(harness: Harness) -> None:
    puppet = await harness.start_turn("first")
    await puppet.wait_for_call("send")
    await harness.chats.send("s", "later")
    await steer(harness, puppet, "now")
    puppet.say(agent_events.TextDelta("a", "one"), DONE)
    assert await puppet.wait_for_call("send") == ("send", "now")
    puppet.say(agent_events.TextDelta("b", "two"), DONE)
    assert await puppet.wait_for_call("send") == ("send", "later")
    assert await texts(harness) == ["first", "one", "now", "two", "later", ""]
    assert not any(message.steered for message in await harness.messages())


async def test_an_agent_that_reads_nothing_in_its_turn_gets_it_afterwards(harness: Harness) -> None:
    puppet = await harness.start_turn("first")
    await puppet.wait_for_call("send")
    puppet.can_steer = False
    await steer(harness, puppet, "now")
    await harness.wait_for_notice("cannot read a message during this turn")
    assert queued(harness) == [("now", False)]
    puppet.say(DONE)
    assert await puppet.wait_for_call("send") == ("send", "now")


async def test_a_message_waits_until_the_agent_has_its_prompt(harness: Harness) -> None:
    await harness.chats.send("s", "first")
    await harness.chats.send("s", "second", steer=True)
    puppet = await harness.backend.newest()
    assert (await puppet.wait_for_call("steer"))[2] == "second"
    assert [call[0] for call in puppet.calls if call[0] in ("send", "steer")] == ["send"]


@pytest.mark.parametrize("end", ["stop", "die", "fail"])
async def test_a_message_stays_queued_after_a_turn_that_was_cut_off(
    harness: Harness, end: str
) -> None:
    puppet = await harness.start_turn("first")
    await steer(harness, puppet, "now")
    match end:
        case "stop":
            await harness.chats.stop("s")
        case "die":
            puppet.die()
        case "fail":
            puppet.say(agent_events.TurnFailed("It broke.", "backend_error"))
    await harness.wait_until(lambda: harness.session.last_run is not None)
    assert [text for text, _ in queued(harness)] == ["now"]
    await harness.queues.send_queued("s")
    puppet = await harness.backend.newest(2 if end == "die" else 1)
    assert (await puppet.wait_for_call("send"))[1] in ("first", "now")
    assert (await texts(harness)).count("now") == 1


async def test_a_queued_message_can_be_sent_into_the_turn(harness: Harness) -> None:
    puppet = await harness.start_turn("first")
    await harness.chats.send("s", "second")
    third = await harness.chats.send("s", "third")
    await harness.queues.steer_queued("s", third.message_id)
    assert queued(harness) == [("second", False), ("third", True)]
    assert (await puppet.wait_for_call("steer"))[2] == "third"
    puppet.say(agent_events.SteerTaken(third.message_id), DONE)
    await harness.wait_until(lambda: not queued(harness))
    with pytest.raises(SpinneyError, match="no longer queued"):
        await harness.queues.steer_queued("s", third.message_id)


async def test_without_a_turn_a_queued_message_cannot_be_sent_into_one(harness: Harness) -> None:
    await harness.start_turn("first")
    second = await harness.chats.send("s", "second")
    await harness.chats.stop("s")
    with pytest.raises(SpinneyError, match="No turn is running"):
        await harness.queues.steer_queued("s", second.message_id)


async def test_a_message_that_is_being_read_cannot_be_removed(harness: Harness) -> None:
    puppet = await harness.start_turn("first")
    message_id = await steer(harness, puppet, "now")
    puppet.can_steer = False
    with pytest.raises(SpinneyError, match="has this message already"):
        await harness.queues.remove_queued("s", message_id)
    puppet.can_steer = True
    await harness.queues.remove_queued("s", message_id)
    assert not queued(harness)


async def test_an_answer_given_after_a_message_is_shown_where_it_was_asked(
    harness: Harness,
) -> None:
    puppet = await harness.start_turn("first")
    use = agent_events.ToolUse("t", "bash", {"command": "rm x"})
    puppet.say(
        use, agent_events.PermissionRequested("r", "bash", {"command": "rm x"}, tool_use_id="t")
    )
    await harness.wait_until(lambda: harness.session.waiting_for == "permission")
    message_id = await steer(harness, puppet, "and y")
    puppet.say(agent_events.SteerTaken(message_id))
    await harness.wait_until(lambda: not queued(harness))
    await harness.decisions.permit("s", "r", "deny", "keep it")
    puppet.say(DONE)
    await harness.wait_for_turn()
    asked: Message = (await harness.messages())[1]
    assert isinstance(asked.content[-1], ToolResultBlock)
    assert asked.content[-1].denied == "keep it"
