"""Proposed plans: approving, discussing, setting aside, and carrying out in a new session."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from model.backends import agent_events
from model.base.errors import SpinneyError
from model.domain.events.program import PreferencesUpdated
from model.domain.messages import PlanBlock, TextBlock
from model.domain.sessions import Session
from model.domain.usage import Usage
from tests.model.chat.harness import DONE, Harness


async def test_a_plan_waits_and_is_carried_out_when_approved(harness: Harness) -> None:
    puppet = await harness.propose_plan("1. read\n2. write")
    assert harness.session.status == "waiting"
    assert harness.session.request is not None
    assert harness.session.request.plan == "1. read\n2. write"
    session = await harness.decisions.approve("s", "build", None)
    assert (session.status, session.waiting_for, session.execution_mode) == (
        "running",
        None,
        "build",
    )
    assert await puppet.wait_for_call("approve") == ("approve", "r", "build", None)
    puppet.say(agent_events.TextDelta("a", "did it"), DONE)
    answer = await harness.wait_for_turn()
    assert answer.content[0] == PlanBlock(text="1. read\n2. write", approved="build")


async def test_a_plan_between_tags_is_recognized_in_any_language(harness: Harness) -> None:
    puppet = await harness.start_turn("plan it")
    words = "Olur.\n<proposed_plan>\nÖnce oku, sonra yaz.\n</proposed_plan>"
    puppet.say(agent_events.TextDelta("a", words), DONE)
    await harness.wait_until(lambda: harness.session.waiting_for == "plan")
    assert harness.session.request is not None
    assert harness.session.request.plan == "Önce oku, sonra yaz."
    answer = (await harness.messages())[-1]
    assert answer.content == [TextBlock(text="Olur."), PlanBlock(text="Önce oku, sonra yaz.")]


async def test_a_message_instead_of_an_approval_continues_planning(harness: Harness) -> None:
    puppet = await harness.propose_plan("old plan")
    await harness.chats.send("s", "smaller, please")
    assert await puppet.wait_for_call("discuss") == ("discuss", "r", "smaller, please")
    puppet.say(agent_events.PlanProposed("r2", "new plan"))
    await harness.wait_until(lambda: harness.session.waiting_for == "plan")
    roles = [m.role for m in await harness.messages()]
    assert roles == ["user", "assistant", "user", "assistant"]
    assert harness.session.execution_mode == "plan"
    await harness.decisions.approve("s", "yolo", "edited plan")
    assert await puppet.wait_for_call("approve") == ("approve", "r2", "yolo", "edited plan")


async def test_a_plan_in_plain_words_can_be_approved_too(harness: Harness) -> None:
    puppet = await harness.start_turn("plan it")
    puppet.say(agent_events.TextDelta("a", "My plan:\n1. read\n2. write"), DONE)
    await harness.wait_until(lambda: harness.session.status == "waiting")
    await harness.decisions.approve("s", "build", None)
    await puppet.wait_for_call("send")
    call = await puppet.wait_for_call("send")
    assert "1. read" in str(call[1])
    assert "approved" in str(call[1])


@pytest.mark.parametrize("held", [True, False], ids=["by the agent", "in words"])
async def test_only_one_of_several_concurrent_approvals_is_accepted(
    harness: Harness, held: bool
) -> None:
    puppet = await harness.start_turn("plan it")
    if held:
        puppet.say(agent_events.PlanProposed("r", "1. read"))
    else:
        puppet.say(agent_events.TextDelta("a", "My plan:\n1. read\n2. write"), DONE)
    await harness.wait_until(lambda: harness.session.waiting_for == "plan")
    results = await asyncio.gather(
        *(harness.decisions.approve("s", mode, None) for mode in ("build", "yolo", "yolo")),
        return_exceptions=True,
    )
    assert isinstance(results[0], Session)
    assert [r.error_type for r in results[1:] if isinstance(r, SpinneyError)] == ["conflict"] * 2
    assert harness.session.execution_mode == "build"
    await puppet.wait_for_call("approve" if held else "send")
    assert harness.store.state.queued == {}


async def test_a_plan_that_was_stopped_is_approved_by_its_id_until_a_newer_one_comes(
    harness: Harness,
) -> None:
    await harness.propose_plan("1. read")
    await harness.chats.stop("s")
    assert harness.session.status == "idle" and harness.session.request is None
    aside = harness.session.set_aside_plan
    assert aside is not None and aside.plan == "1. read"
    with pytest.raises(SpinneyError, match="No plan is waiting"):
        await harness.decisions.approve("s", "build", None)
    session = await harness.decisions.approve("s", "build", None, aside.id)
    assert (session.status, session.execution_mode) == ("running", "build")
    assert session.set_aside_plan is None
    sent = [message.text for message in await harness.messages() if message.role == "user"]
    assert sent[-1].startswith("The plan is approved.")


async def test_a_newer_plan_replaces_one_that_was_set_aside(harness: Harness) -> None:
    await harness.propose_plan("old")
    await harness.chats.stop("s")
    await harness.chats.send("s", "again")
    with pytest.raises(SpinneyError, match="still running"):
        await harness.decisions.approve("s", "build", None, "r")
    (await harness.backend.newest()).say(agent_events.PlanProposed("r2", "new"))
    await harness.wait_until(lambda: harness.session.waiting_for == "plan")
    assert harness.session.set_aside_plan is None


async def test_a_plan_whose_agent_exited_can_still_be_approved(harness: Harness) -> None:
    puppet = await harness.propose_plan("1. read")
    puppet.say(agent_events.TurnFailed("It broke.", "backend_error", Usage()))
    await harness.wait_until(lambda: harness.session.status == "failed")
    await harness.decisions.approve("s", "build", None, "r")
    assert harness.session.status == "running"


async def test_an_edited_plan_reaches_its_agent_with_escaped_characters_restored(
    harness: Harness,
) -> None:
    puppet = await harness.propose_plan("1. print \x1b[1m\n2. stop")
    assert harness.session.request is not None
    shown = harness.session.request.plan
    assert shown == "1. print ␛[1m\n2. stop"
    await harness.decisions.approve("s", "build", shown.replace("stop", "go on"))
    assert await puppet.wait_for_call("approve") == (
        "approve",
        "r",
        "build",
        "1. print \x1b[1m\n2. go on",
    )


async def test_a_plan_that_was_replaced_cannot_be_approved_by_its_id(harness: Harness) -> None:
    puppet = await harness.start_turn("plan it")
    puppet.say(
        agent_events.PlanProposed("old", "old plan"), agent_events.PlanProposed("new", "new plan")
    )
    await harness.wait_until(
        lambda: harness.session.request is not None and harness.session.request.id == "new"
    )
    with pytest.raises(SpinneyError, match="replaced by a newer one"):
        await harness.decisions.approve("s", "build", None, "old")
    await harness.decisions.approve("s", "build", None, "new")
    assert await puppet.wait_for_call("approve") == ("approve", "new", "build", None)


async def test_approving_without_a_plan_is_refused(harness: Harness) -> None:
    with pytest.raises(SpinneyError, match="No plan is waiting"):
        await harness.decisions.approve("s", "build", None)


@pytest.mark.parametrize("closes", [True, False])
async def test_a_plan_is_carried_out_in_a_new_session(harness: Harness, closes: bool) -> None:
    preferences = {"close_original_on_clear_context": closes, "build_thinking_level": "off"}
    harness.store.record(PreferencesUpdated(changes=preferences))
    puppet = await harness.propose_plan("1. read\n2. write")
    fresh = await harness.decisions.approve_in_new_session("s", "build", "1. write", "r")
    builder = await harness.backend.newest(2)
    assert puppet.closed
    _, prompt = await builder.wait_for_call("send")
    assert "Carry out this plan." in str(prompt)
    assert str(prompt).endswith("1. write")
    assert (fresh.execution_mode, fresh.thinking_level) == ("build", "off")
    assert (fresh.name, fresh.backend, fresh.model) == (harness.session.name, "demo", "m")
    assert fresh.order > harness.session.order
    assert (harness.session.waiting_for, harness.session.set_aside_plan) == (None, None)
    assert (harness.session.archived_at is not None) is closes
    plans = [b for m in await harness.messages() for b in m.content if isinstance(b, PlanBlock)]
    assert plans == [PlanBlock(text="1. write", approved="build")]
    with pytest.raises(SpinneyError, match="No plan is waiting"):
        await harness.decisions.approve_in_new_session("s", "build", None, "r")


async def test_a_plan_whose_agent_has_exited_is_carried_out_in_a_new_session(
    harness: Harness,
) -> None:
    await harness.propose_plan("1. read")
    await harness.chats.stop("s")
    aside = harness.session.set_aside_plan
    assert aside is not None
    fresh = await harness.decisions.approve_in_new_session("s", "yolo", None, aside.id)
    assert fresh.execution_mode == "yolo"
    assert harness.session.set_aside_plan is None


async def test_a_plan_outlives_the_agent_that_proposed_it(
    harness: Harness, reopen_after_kill: Callable[[], Awaitable[Harness]]
) -> None:
    await harness.propose_plan("1. read\n2. write")
    await harness.store.flush()

    reopened = await reopen_after_kill()
    assert reopened.session.waiting_for == "plan"
    session = await reopened.decisions.approve("s", "build", None)
    assert (session.status, session.execution_mode) == ("running", "build")
    resumed = await reopened.backend.newest()
    assert "1. read\n2. write" in str((await resumed.wait_for_call("send"))[1])
    plans = [b for m in await reopened.messages() for b in m.content if isinstance(b, PlanBlock)]
    assert [plan.approved for plan in plans] == ["build"]
