"""A turn that ends at a limit pauses its session, and goes on later with its queue in order."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from model.backends import agent_events
from model.base.errors import SpinneyError
from model.chat.rewinding import ConversationPoint
from model.domain.events.program import PreferencesUpdated
from model.domain.events.sessions import SessionArchived, SessionUpdated
from model.domain.sessions import Pause
from model.domain.usage import Usage
from model.limits.due import list_due
from model.limits.pauses import CONTINUE_PROMPT
from tests.model.chat.harness import DONE, Harness
from tests.puppet import Puppet


def limit_reached(seconds: float | None = 600.0, **fields: Any) -> agent_events.TurnFailed:
    failed = agent_events.TurnFailed("The limit is reached.", "rate_limit_error", Usage(), seconds)
    return replace(failed, **{"limit": "usage_limit", **fields})


async def start_turn(harness: Harness) -> Puppet:
    puppet = await harness.start_turn("first")
    await puppet.wait_for_call("send")
    return puppet


async def pause_session(harness: Harness) -> Puppet:
    puppet = await start_turn(harness)
    puppet.say(limit_reached())
    await harness.wait_for_turn()
    return puppet


async def test_a_turn_that_ends_at_a_limit_pauses_and_continues_before_the_queue(
    harness: Harness,
) -> None:
    puppet = await start_turn(harness)
    assert (await harness.chats.send("s", "second")).status == "sent"
    puppet.say(agent_events.TextDelta("a", "half"), limit_reached())
    failed = await harness.wait_for_turn()
    session, pause = harness.session, harness.session.pause
    assert failed.error is not None and failed.error.error_type == "rate_limit_error"
    assert (session.status, session.last_run and session.last_run.status) == ("paused", "paused")
    assert pause is not None and pause.until is not None
    assert (pause.kind, pause.account, pause.goes_on) == ("usage_limit", "demo", "turn")
    assert 590 < pause.until - time.time() <= 600
    assert (await harness.chats.send("s", "third")).status == "sent"
    await harness.queues.resume("s")
    await harness.queues.resume("s")  # a second client
    assert await puppet.wait_for_call("send") == ("send", CONTINUE_PROMPT)
    for text in ("second", "third"):
        puppet.say(agent_events.TextDelta("b", "…"), DONE)
        assert await puppet.wait_for_call("send") == ("send", text)
    puppet.say(DONE)
    await harness.wait_until(lambda: harness.session.status == "idle")
    messages = await harness.messages()
    assert [m.text for m in messages if m.role == "user"] == ["first", "second", "third"]


async def test_a_message_that_the_agent_did_not_keep_is_sent_again(harness: Harness) -> None:
    puppet = await start_turn(harness)
    puppet.say(limit_reached(has_message=False))
    await harness.wait_for_turn()
    await harness.queues.resume("s")
    assert await puppet.wait_for_call("send") == ("send", "first")
    assert [m.text for m in await harness.messages() if m.role == "user"] == ["first"]


async def test_other_sessions_of_the_account_wait_and_those_of_another_do_not(
    harness: Harness,
) -> None:
    await harness.add_session("same")
    await harness.add_session("other")
    await harness.chats.change_agent("other", "backend_b", {})
    await pause_session(harness)
    assert (await harness.chats.send("same", "waits")).status == "sent"
    assert (await harness.chats.send("other", "runs")).status == "processing"
    same = harness.store.state.sessions["same"]
    assert same.pause is not None and harness.session.pause is not None
    assert (same.status, same.pause.goes_on) == ("paused", "queue")
    assert same.pause.until == harness.session.pause.until
    assert (await harness.queues.resume("same")).status == "running"


async def test_a_limit_that_still_holds_puts_the_others_off_as_well(harness: Harness) -> None:
    await harness.add_session("same")
    puppet = await pause_session(harness)
    await harness.chats.send("same", "waits")
    await harness.queues.resume("s")
    await puppet.wait_for_call("send")
    puppet.say(limit_reached(7200.0))
    await harness.wait_until(lambda: harness.session.status == "paused")
    same, pause = harness.store.state.sessions["same"].pause, harness.session.pause
    assert pause is not None and same is not None
    assert (same.until, pause.attempts) == (pause.until, 2)


async def test_a_queue_does_not_run_into_the_limit_of_another_session(harness: Harness) -> None:
    await harness.add_session("same")
    runner = await harness.backend.receiver_of(harness.chats.send("same", "runs"))
    await harness.chats.send("same", "queued")
    await pause_session(harness)
    runner.say(agent_events.TextDelta("a", "done"), DONE)
    await harness.wait_until(lambda: harness.status("same") == "paused")
    assert [m.text for m in harness.store.state.queued["same"]] == ["queued"]


async def test_of_sessions_at_the_same_limit_all_but_the_first_have_joined_it(
    harness: Harness,
) -> None:
    for name in ("second", "third"):
        await harness.add_session(name)
    second = await harness.backend.receiver_of(harness.chats.send("second", "runs"))
    await pause_session(harness)
    second.say(limit_reached())
    await harness.wait_until(lambda: harness.status("second") == "paused")
    await harness.chats.send("third", "waits")
    pauses = {key: session.pause for key, session in harness.store.state.sessions.items()}
    joined = {key: pause.is_joined for key, pause in pauses.items() if pause is not None}
    assert joined == {"s": False, "second": True, "third": True}


async def resume_with_queue(harness: Harness, *texts: str) -> Puppet:
    """Reach the limit in "s", queue messages in "same" behind it, and let that go on now."""
    await harness.add_session("same")
    await pause_session(harness)
    for text in texts:
        assert (await harness.chats.send("same", text)).status == "sent"
    puppet = await harness.backend.receiver_of(harness.queues.resume("same"))
    assert await puppet.wait_for_call("send") == ("send", texts[0])
    return puppet


def list_due_now(harness: Harness) -> list[str]:
    return [due.session_id for due in list_due(harness.store.state) if due.at <= time.time()]


async def test_a_turn_that_succeeds_lets_its_queue_and_the_whole_account_go_on(
    harness: Harness,
) -> None:
    await harness.add_session("third")
    await harness.add_session("at its budget")
    at_budget = Pause(kind="budget", since=1, account="demo").model_dump(mode="json")
    updates = {"status": "paused", "pause": at_budget}
    harness.store.record(SessionUpdated(session_id="at its budget", updates=updates))
    puppet = await resume_with_queue(harness, "one", "two", "three")
    await harness.chats.send("third", "waits")
    assert list_due_now(harness) == []
    for text in ("two", "three"):
        puppet.say(agent_events.TextDelta("a", "done"), DONE)
        assert await puppet.wait_for_call("send") == ("send", text)
    assert list_due_now(harness) == ["s", "third"]
    assert (harness.status("s"), harness.status("at its budget")) == ("paused", "paused")
    puppet.say(agent_events.TextDelta("a", "done"), DONE)
    await harness.wait_until(lambda: harness.status("same") == "idle")


async def test_a_limit_that_is_reached_again_at_once_loses_nothing(harness: Harness) -> None:
    puppet = await resume_with_queue(harness, "one", "two")
    puppet.say(limit_reached(7200.0, has_message=False))
    await harness.wait_until(lambda: harness.status("same") == "paused")
    sessions = harness.store.state.sessions
    pauses = [pause for key in ("s", "same") if (pause := sessions[key].pause) is not None]
    assert [round((pause.until or 0) - time.time(), -2) for pause in pauses] == [7200, 7200]
    await harness.queues.resume("same")
    for text in ("one", "two"):
        assert await puppet.wait_for_call("send") == ("send", text)
        puppet.say(agent_events.TextDelta("a", "done"), DONE)


async def test_a_command_of_the_agent_without_tokens_does_not_show_that_a_limit_is_over(
    harness: Harness,
) -> None:
    puppet = await resume_with_queue(harness, "/help", "two")
    puppet.say(agent_events.TextDelta("a", "help"), replace(DONE, usage=Usage()))
    await harness.wait_until(lambda: harness.status("same") == "paused")
    assert [m.text for m in harness.store.state.queued["same"]] == ["two"]
    assert list_due_now(harness) == []


async def test_sessions_that_wait_for_a_person_still_do_when_the_limit_is_over(
    harness: Harness,
) -> None:
    harness.store.record(PreferencesUpdated(changes={"resume_after_limit": False}))
    puppet = await resume_with_queue(harness, "one", "two")
    puppet.say(agent_events.TextDelta("a", "done"), DONE)
    assert await puppet.wait_for_call("send") == ("send", "two")
    assert harness.session.pause is not None and harness.session.pause.until is None
    await harness.add_session("new")
    assert (await harness.chats.send("new", "runs")).status == "processing"


async def test_a_chosen_time_is_the_sessions_own_and_stays_when_the_limit_is_over(
    harness: Harness,
) -> None:
    await harness.add_session("same")
    await pause_session(harness)
    assert harness.session.pause is not None
    chosen = harness.session.pause.model_copy(
        update={"until": time.time() + 9000, "is_time_chosen": True}
    )
    harness.store.record(
        SessionUpdated(session_id="s", updates={"pause": chosen.model_dump(mode="json")})
    )
    await harness.chats.send("same", "one")
    same = harness.store.state.sessions["same"].pause
    assert same is not None
    assert (same.until, same.is_time_chosen) == (chosen.resets_at, False)
    puppet = await harness.backend.receiver_of(harness.queues.resume("same"))
    puppet.say(agent_events.TextDelta("a", "done"), DONE)
    await harness.wait_until(lambda: harness.status("same") == "idle")
    assert harness.session.pause.until == chosen.until
    assert (await harness.chats.send("same", "runs")).status == "processing"


async def test_after_the_reset_no_session_waits_for_another_that_has_not_gone_on_yet(
    harness: Harness,
) -> None:
    await harness.add_session("same")
    await pause_session(harness)
    await harness.chats.send("same", "first")
    await harness.chats.send("same", "second")
    for session in ("s", "same"):
        pause = harness.store.state.sessions[session].pause
        assert pause is not None
        over = pause.model_copy(update={"until": time.time() - 1, "resets_at": time.time() - 1})
        updates = {"pause": over.model_dump(mode="json")}
        harness.store.record(SessionUpdated(session_id=session, updates=updates))
    puppet = await harness.backend.receiver_of(harness.queues.resume("same"))
    assert await puppet.wait_for_call("send") == ("send", "first")
    puppet.say(agent_events.TextDelta("a", "done"), DONE)
    assert await puppet.wait_for_call("send") == ("send", "second")
    assert (harness.status("same"), harness.status("s")) == ("running", "paused")


@pytest.mark.parametrize("limit", ["overloaded", "network"])
async def test_overloads_and_lost_networks_are_retried_so_often_and_then_fail(
    harness: Harness, limit: agent_events.Limit
) -> None:
    harness.store.record(PreferencesUpdated(changes={"retry_attempts": 2}))
    puppet = await start_turn(harness)
    delays = []
    for attempt in (1, 2):
        puppet.say(limit_reached(None, limit=limit))
        await harness.wait_until(lambda: harness.session.status == "paused")
        pause = harness.session.pause
        assert pause is not None and pause.until is not None
        assert (pause.kind, pause.attempts) == (limit, attempt)
        delays.append(pause.until - pause.since)
        await harness.queues.resume("s")
        await puppet.wait_for_call("send")
    puppet.say(limit_reached(None, limit=limit))
    await harness.wait_until(lambda: harness.session.status == "failed")
    assert harness.session.pause is None
    assert delays[1] > delays[0] * 1.5


async def test_a_limit_without_an_end_waits_longer_each_time(harness: Harness) -> None:
    puppet = await start_turn(harness)
    puppet.say(limit_reached(None))
    await harness.wait_for_turn()
    pause = harness.session.pause
    assert pause is not None and pause.until is not None
    assert (pause.resets_at, 60 <= pause.until - pause.since <= 72) == (None, True)


async def test_without_the_preference_a_limit_waits_for_a_person(harness: Harness) -> None:
    harness.store.record(PreferencesUpdated(changes={"resume_after_limit": False}))
    await pause_session(harness)
    pause = harness.session.pause
    assert pause is not None and pause.until is None and pause.resets_at is not None


async def test_a_stop_ends_a_pause_and_the_queue_stays(harness: Harness) -> None:
    await pause_session(harness)
    await harness.chats.send("s", "second")
    stopped = await harness.chats.stop("s")
    assert (stopped.status, stopped.pause) == ("idle", None)
    assert [m.text for m in harness.store.state.queued["s"]] == ["second"]
    assert (await harness.queues.resume("s")).status == "idle"


async def test_an_archived_session_and_one_that_is_taken_back_do_not_go_on(
    harness: Harness,
) -> None:
    await pause_session(harness)
    first = (await harness.messages())[0].id
    point = ConversationPoint(message_id=first, backend="demo")
    rewound = await harness.chats.rewind("s", keep=point)
    assert (harness.session.status, harness.session.pause) == ("idle", None)
    await harness.chats.restore("s", rewound)
    assert (harness.session.status, harness.session.pause) == ("idle", None)
    await pause_session(harness)
    await harness.chats.close_session("s", SessionArchived(session_id="s", archived_at=1.0))
    assert (harness.session.status, harness.session.pause) == ("idle", None)


async def test_another_agent_goes_on_at_once_with_the_message(harness: Harness) -> None:
    await pause_session(harness)
    await harness.chats.change_agent("s", "backend_b", {})
    pause = harness.session.pause
    assert pause is not None and pause.until is not None and pause.until <= time.time()
    assert (pause.account, pause.goes_on) == ("backend_b", "message")
    puppet = await harness.backend.receiver_of(harness.queues.resume("s"))
    assert str(puppet.calls[-1][1]).endswith("first")


async def start_with_budget(harness: Harness, dollars: float) -> Puppet:
    """Start a turn with a message queued behind it, in a session with this budget."""
    harness.store.record(SessionUpdated(session_id="s", updates={"budget_usd": dollars}))
    puppet = await start_turn(harness)
    await harness.chats.send("s", "second")
    return puppet


async def test_a_budget_is_decided_on_before_the_queue_goes_on(harness: Harness) -> None:
    puppet = await start_with_budget(harness, 2.0)
    await harness.chats.send("s", "third")
    puppet.say(replace(DONE, cost_usd=1.0))
    assert await puppet.wait_for_call("send") == ("send", "second")
    puppet.say(replace(DONE, cost_usd=1.0))
    await harness.wait_until(lambda: harness.session.status != "running")
    assert harness.session.pause is not None and harness.session.pause.kind == "budget"
    assert [m.text for m in harness.store.state.queued["s"]] == ["third"]
    await harness.queues.resume("s")  # for one more turn
    assert await puppet.wait_for_call("send") == ("send", "third")


async def test_while_a_budget_waits_for_a_price_a_stop_keeps_the_queue(harness: Harness) -> None:
    puppet = await start_with_budget(harness, 2.0)
    asked = harness.hold_prices()
    puppet.say(DONE)
    await asked
    assert harness.session.last_run is not None
    assert (harness.session.status, harness.session.last_run.status) == ("running", "completed")
    assert (await harness.chats.send("s", "third")).status == "sent"
    assert (await harness.chats.stop("s")).status == "idle"
    assert [m.text for m in harness.store.state.queued["s"]] == ["second", "third"]


async def test_a_message_with_a_time_waits_for_it_and_for_its_turn(harness: Harness) -> None:
    later = await harness.chats.send("s", "later", send_at=time.time() + 3600)
    assert (later.status, harness.session.status) == ("sent", "idle")
    puppet = await start_turn(harness)
    puppet.say(DONE)
    await harness.wait_until(lambda: harness.session.status == "idle")
    second = await harness.chats.send("s", "second")
    assert second.status == "processing"
    await puppet.wait_for_call("send")
    await harness.queues.send_due("s", later.message_id)
    assert [m.send_at for m in harness.store.state.queued["s"]] == [None]
    puppet.say(DONE)
    assert await puppet.wait_for_call("send") == ("send", "later")
    with pytest.raises(SpinneyError, match="no longer queued"):
        await harness.queues.set_send_time("s", later.message_id, None)


async def test_a_pause_outlives_a_kill(
    harness: Harness, reopen_after_kill: Callable[[], Awaitable[Harness]]
) -> None:
    await pause_session(harness)
    await harness.chats.send("s", "second")
    await harness.store.flush()
    again = await reopen_after_kill()
    assert again.session.pause == harness.session.pause
    puppet = await again.backend.receiver_of(again.queues.resume("s"))
    assert await puppet.wait_for_call("send") == ("send", CONTINUE_PROMPT)
    puppet.say(DONE)
    assert await puppet.wait_for_call("send") == ("send", "second")
