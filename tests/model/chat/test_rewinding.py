"""Taking back the end of a conversation, bringing it back, and copying a conversation."""

from typing import Any

import pytest

from model.backends import agent_events
from model.base.errors import SpinneyError
from model.chat.rewinding import ConversationPoint, RewoundConversation
from model.domain.events.messages import MessageQueued
from model.domain.events.sessions import SessionDeleted, SessionUpdated
from model.domain.messages import Message, TextBlock
from model.domain.sessions import AgentMemory
from tests.model.chat.harness import DONE, Harness
from tests.puppet import Puppet


async def talk(harness: Harness, *turns: str, token: str = "T") -> Puppet:
    """Run turns with the session's agent, each marked with its text; return the agent."""
    for text in turns:
        puppet = await harness.start_turn(text)
        puppet.say(
            agent_events.ConversationIdentified(token),
            agent_events.TextDelta(text, f"Done: {text}."),
            agent_events.TurnMarked(text),
            DONE,
        )
        await harness.wait_for_turn()
    return puppet


async def point_before(harness: Harness, text: str, mark: str | None, **given: Any) -> Any:
    """The point before the user's message with this text."""
    message = next(m for m in await harness.messages() if m.text == text)
    fields = {"backend": "demo", "resume_token": "T", "mark": mark, **given}
    return ConversationPoint(message_id=message.id, **fields)


async def rewind_to_one(harness: Harness) -> RewoundConversation:
    """Take back the turns "two" and "three"."""
    return await harness.chats.rewind("s", keep=await point_before(harness, "two", "one"))


def texts(messages: list[Message], *, rewound: bool = False) -> list[str]:
    return [message.text for message in messages if message.rewound == rewound]


async def test_the_next_message_continues_in_a_copy_that_ends_with_the_turn_that_stays(
    harness: Harness,
) -> None:
    old = await talk(harness, "one", "two", "three")
    await rewind_to_one(harness)
    assert old.closed
    assert texts(await harness.messages()) == ["one", "Done: one."]
    assert (harness.session.resume_token, harness.session.fork_at) == ("T", "one")
    new = await talk(harness, "four", token="F")
    assert (new.launch.resume_token, new.launch.fork_at) == ("T", "one")
    assert (harness.session.resume_token, harness.session.fork_at) == ("F", None)
    assert harness.session.turn_mark == "four"
    assert texts(await harness.messages()) == ["one", "Done: one.", "four", "Done: four."]
    assert texts(await harness.messages(), rewound=True)[0] == "two"


async def test_what_was_taken_back_is_brought_back_if_nothing_was_said_since(
    harness: Harness,
) -> None:
    await talk(harness, "one", "two", "three")
    before = harness.session
    rewound = await rewind_to_one(harness)
    stored = RewoundConversation.model_validate_json(rewound.model_dump_json())
    await harness.chats.restore("s", stored)
    assert harness.session == before.model_copy(update={"updated_at": harness.session.updated_at})
    assert texts(await harness.messages(), rewound=True) == []
    rewound = await rewind_to_one(harness)
    await talk(harness, "four")
    with pytest.raises(SpinneyError, match="has continued since"):
        await harness.chats.restore("s", rewound)
    assert "two" in texts(await harness.messages(), rewound=True)


async def test_two_steps_back_are_brought_back_from_the_last_one_on(harness: Harness) -> None:
    await talk(harness, "one", "two", "three")
    first = await harness.chats.rewind("s", keep=await point_before(harness, "three", "two"))
    second = await rewind_to_one(harness)
    with pytest.raises(SpinneyError, match="has continued since"):
        await harness.chats.restore("s", first)
    await harness.chats.restore("s", second)
    await harness.chats.restore("s", first)
    assert texts(await harness.messages())[-2:] == ["three", "Done: three."]


async def test_without_a_mark_the_agent_starts_over_with_a_summary_of_what_stays(
    harness: Harness,
) -> None:
    await talk(harness, "one", "two")
    await harness.chats.rewind("s", keep=await point_before(harness, "two", None))
    new = await harness.start_turn("three")
    _, sent = await new.wait_for_call("send")
    assert new.launch.resume_token is None
    assert "one" in harness.writer.material["conversation"]
    assert "two" not in harness.writer.material["conversation"]
    assert str(sent).startswith("This continues an earlier conversation with the user.")
    note = (await harness.messages())[-2].text
    assert note.startswith("**Demo agent starts over in a new conversation.** It received")


async def test_a_mark_of_another_agent_is_not_used(harness: Harness) -> None:
    await talk(harness, "one", "two")
    await harness.chats.change_agent("s", "backend_b", {})
    await talk(harness, "three", token="B")
    await rewind_to_one(harness)
    assert harness.session.resume_token is harness.session.fork_at is None
    assert harness.session.handover is not None
    assert harness.session.memories == {}, "the first agent knows what was taken back"


async def test_before_the_first_message_there_is_nothing_to_summarize(harness: Harness) -> None:
    await talk(harness, "one")
    await harness.store.accept(SessionUpdated(session_id="s", updates={"has_context": True}))
    await harness.chats.rewind("s", keep=await point_before(harness, "one", None))
    assert harness.session.handover is None
    assert not harness.session.has_context
    new = await harness.start_turn("again")
    assert (await new.wait_for_call("send"))[1] == "again"


async def test_a_program_that_lost_the_conversation_starts_over_and_says_so(
    harness: Harness,
) -> None:
    await talk(harness, "one", "two")
    await harness.chats.rewind("s", keep=await point_before(harness, "two", "one"))
    harness.backend.lost = True
    new = await harness.start_turn("three")
    _, sent = await new.wait_for_call("send")
    assert (new.launch.resume_token, new.launch.fork_at) == (None, None)
    assert "<summary>\nThey want looms.\n</summary>" in str(sent)
    new.say(DONE)
    await harness.wait_for_turn()
    assert "It is gone." in "".join(texts(await harness.messages()))


async def test_nothing_is_taken_back_during_a_turn(harness: Harness) -> None:
    await talk(harness, "one", "two")
    point = await point_before(harness, "two", "one")
    await harness.start_turn("three")
    with pytest.raises(SpinneyError, match="Stop the session"):
        await harness.chats.rewind("s", keep=point)
    assert texts(await harness.messages(), rewound=True) == []


async def test_a_change_of_agents_keeps_where_the_conversation_continues(harness: Harness) -> None:
    await talk(harness, "one", "two")
    await harness.chats.rewind("s", keep=await point_before(harness, "two", "one"))
    await harness.chats.change_agent("s", "backend_b", {})
    assert (harness.session.fork_at, harness.session.turn_mark) == (None, None)
    await harness.chats.change_agent("s", "demo", {})
    assert (harness.session.resume_token, harness.session.fork_at) == ("T", "one")


async def test_a_fork_has_copies_of_the_messages_and_continues_by_itself(harness: Harness) -> None:
    await talk(harness, "one", "two", "three")
    before = harness.session
    point = await point_before(harness, "three", "two")
    fork = await harness.chats.fork("s", point, "w", "Another way")
    copies = (await harness.store.messages(fork.id)).messages
    originals = await harness.messages()
    assert texts(copies) == ["one", "Done: one.", "two", "Done: two."]
    assert [m.timestamp for m in copies] == [m.timestamp for m in originals[:4]]
    assert not {m.id for m in copies} & {m.id for m in originals}
    assert {m.session_id for m in copies} == {fork.id}
    assert (fork.name, fork.message_count, fork.model) == ("Another way", 4, before.model)
    assert (fork.resume_token, fork.fork_at, fork.handover) == ("T", "two", None)
    assert harness.session == before
    found = await harness.store.search("two", [fork.id], 10)
    assert {each.message_id for each in found} == {copies[2].id, copies[3].id}
    assert (await harness.store.message(copies[0].id)) == copies[0]


async def test_a_fork_of_the_whole_conversation_leaves_out_what_was_taken_back(
    harness: Harness,
) -> None:
    await talk(harness, "one", "two")
    await harness.chats.rewind("s", keep=await point_before(harness, "two", "one"))
    await talk(harness, "three", token="F")
    fork = await harness.chats.fork("s", None, "w")
    copies = (await harness.store.messages(fork.id)).messages
    assert texts(copies) == ["one", "Done: one.", "three", "Done: three."]
    assert (fork.resume_token, fork.fork_at) == ("F", "three")
    assert fork.name == "one (fork)"


async def test_a_turn_that_was_taken_back_is_not_forked(harness: Harness) -> None:
    await talk(harness, "one", "two")
    await harness.chats.rewind("s", keep=await point_before(harness, "two", "one"))
    await talk(harness, "three", token="F")
    with pytest.raises(SpinneyError, match="was undone"):
        await harness.chats.fork("s", await point_before(harness, "three", "two"), "w")


async def test_nothing_is_copied_where_the_fork_cannot_be_created(harness: Harness) -> None:
    await talk(harness, "one")
    with pytest.raises(SpinneyError):
        await harness.chats.fork("s", None, "gone")
    assert list(harness.store.state.sessions) == ["s"]


async def test_another_agent_that_knows_nothing_of_it_keeps_its_conversation(
    harness: Harness,
) -> None:
    await talk(harness, "one", "two")
    memory = AgentMemory(resume_token="B", messages=2).model_dump()
    await harness.store.accept(
        SessionUpdated(session_id="s", updates={"memories": {"backend_b": memory}})
    )
    await harness.chats.rewind("s", keep=await point_before(harness, "two", "one"))
    assert harness.session.memories["backend_b"].resume_token == "B"


async def test_a_fork_shares_the_long_results(harness: Harness) -> None:
    puppet = await harness.start_turn("one")
    puppet.say(
        agent_events.ToolUse("t", "bash", {}), agent_events.ToolResult("t", "x" * 40_000), DONE
    )
    await harness.wait_for_turn()
    fork = await harness.chats.fork("s", None, "w")
    await harness.store.accept(SessionDeleted(session_id="s"))
    await harness.outputs.remove_all_but([fork.id])
    assert (await harness.outputs.read(fork.id, "t", 0, 50_000)).size == 40_000


async def test_a_long_conversation_is_copied_up_to_the_point_in_its_order(
    harness: Harness,
) -> None:
    messages = [
        Message(
            id=f"m{number}",
            role="user",
            content=[TextBlock(text=f"message {number}")],
            timestamp=number,
            session_id="s",
        )
        for number in range(1_000)
    ]
    queued = (
        MessageQueued(session_id="s", message=message, status="processing") for message in messages
    )
    await harness.store.accept(*queued)
    point = ConversationPoint(message_id="m900", backend="demo")
    fork = await harness.chats.fork("s", point, "w")
    page = await harness.store.messages(fork.id, 1_000)
    assert fork.message_count == page.total == 900
    assert texts(page.messages) == [message.text for message in messages[:900]]
