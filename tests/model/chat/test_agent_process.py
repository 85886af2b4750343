"""Start, stop, idle end and restart of a session's agent."""

import asyncio

import pytest

from model.backends import agent_events, base
from tests.model.chat.harness import DONE, Harness


async def test_an_agent_that_ignores_stop_is_ended(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("model.chat.conversation.STOP_TIMEOUT", 0.05)
    puppet = await harness.start_turn("first")
    await puppet.wait_for_call("send")
    puppet.ignores_stop = True
    assert (await harness.chats.stop("s")).status == "idle"
    await harness.chats.send("s", "again")
    assert await (await harness.backend.newest(2)).wait_for_call("send") == ("send", "again")
    assert puppet.closed, "two programs on one conversation would write over each other"


async def test_an_agent_that_accepts_no_message_can_be_stopped(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("model.chat.conversation.STOP_TIMEOUT", 0.05)
    puppet = await harness.start_turn("first")
    puppet.say(DONE)
    await harness.wait_for_turn()
    puppet.blocks_send = puppet.ignores_stop = True
    await harness.chats.send("s", "second")
    await puppet.wait_for_call("send")
    assert (await harness.chats.stop("s")).status == "idle"
    assert (await harness.messages())[-1].status == "completed"


async def test_an_agent_that_dies_fails_the_turn_and_the_next_message_resumes(
    harness: Harness,
) -> None:
    puppet = await harness.start_turn("go")
    puppet.say(agent_events.ConversationIdentified("token-1"), agent_events.TextDelta("a", "half"))
    await harness.wait_until(lambda: bool(harness.store.state.streaming))
    puppet.die()
    answer = await harness.wait_for_turn()
    assert harness.session.status == "failed"
    assert answer.text == "half"
    assert answer.error is not None
    assert answer.error.error_type == "backend_error"
    await harness.chats.send("s", "again")
    second = await harness.backend.newest(2)
    assert second.launch.resume_token == "token-1"


async def test_a_missing_agent_is_reported_in_the_conversation(harness: Harness) -> None:
    harness.backend.missing = True
    await harness.chats.send("s", "go")
    answer = await harness.wait_for_turn()
    assert answer.error is not None
    assert (answer.error.error, answer.error.error_type) == (
        "The agent is not installed.",
        "backend_unavailable",
    )
    harness.backend.missing = False
    await (await harness.start_turn("now")).wait_for_call("send")


async def test_a_slow_start_is_reported(harness: Harness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("model.chat.agent_process.START_NOTICE_DELAY", 0.0)
    started = asyncio.Event()
    open_now = harness.backend.open

    async def open_late(launch: base.Launch) -> base.Agent:
        await started.wait()
        return await open_now(launch)

    monkeypatch.setattr(harness.backend, "open", open_late)
    await harness.chats.send("s", "hello")
    await harness.wait_for_notice("still starting")
    started.set()
    assert await (await harness.backend.newest()).wait_for_call("send") == ("send", "hello")


async def test_stopping_during_the_start_leaves_no_agent_running(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    opening, may_open = asyncio.Event(), asyncio.Event()
    open_at_once = harness.backend.open

    async def open_slowly(launch: base.Launch) -> base.Agent:
        opening.set()
        await may_open.wait()
        return await open_at_once(launch)

    monkeypatch.setattr(harness.backend, "open", open_slowly)
    await harness.chats.send("s", "go")
    await opening.wait()
    assert (await harness.chats.stop("s")).status == "idle"
    may_open.set()
    await (await harness.backend.newest()).wait_for_call("close")


async def test_an_agent_that_never_starts_blocks_neither_stop_nor_end(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("model.chat.agent_process.CLOSE_TIMEOUT", 0.05)
    opening, cancelled = asyncio.Event(), asyncio.Event()

    async def never(launch: base.Launch) -> base.Agent:
        opening.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        raise AssertionError

    monkeypatch.setattr(harness.backend, "open", never)
    await harness.chats.send("s", "go")
    await opening.wait()
    assert (await harness.chats.stop("s")).status == "idle"
    await harness.conversations.end_agent("s")
    await cancelled.wait()


async def test_an_idle_agent_is_ended_and_resumed_by_the_next_message(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("model.chat.agent_process.IDLE_TIMEOUT", 0.01)
    puppet = await harness.start_turn("go")
    puppet.say(agent_events.ConversationIdentified("token"), DONE)
    await puppet.wait_for_call("close")
    await harness.chats.send("s", "again")
    assert (await harness.backend.newest(2)).launch.resume_token == "token"


async def test_an_agent_whose_directory_was_recreated_is_restarted(harness: Harness) -> None:
    first = await harness.start_turn("one")
    first.say(agent_events.ConversationIdentified("the conversation"), DONE)
    await harness.wait_for_turn()
    await harness.start_turn("two")
    await first.wait_for_call("configure")
    first.say(DONE)
    await harness.wait_for_turn()
    harness.directory = (1, 2)
    second = await harness.start_turn("three")
    assert first.closed
    assert second.launch.resume_token == "the conversation"
    second.say(DONE)
    await harness.wait_for_turn()
