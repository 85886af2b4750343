"""Agents that exit at the start of a turn."""

import asyncio
import threading
from collections.abc import Awaitable, Callable

import pytest

from model.backends import agent_events, base
from model.base.errors import SpinneyError
from model.domain.requests import Question
from model.domain.sessions import Session
from tests.model.chat.harness import DONE, Harness
from tests.patience import PATIENCE
from tests.puppet import Puppet


async def run_first_turn(harness: Harness) -> Puppet:
    """Run one turn and return its agent, which is idle afterwards."""
    puppet = await harness.start_turn("one")
    puppet.say(agent_events.TextDelta("a", "first"), DONE)
    await harness.wait_for_turn()
    return puppet


async def test_an_agent_that_exits_before_the_message_is_sent_is_restarted(
    harness: Harness,
) -> None:
    puppet = await run_first_turn(harness)
    may_identify, identify = threading.Event(), harness.identify_directory

    def identify_late(session: Session) -> tuple[int, int]:
        assert may_identify.wait(PATIENCE)
        return identify(session)

    harness.identify_directory = identify_late  # type: ignore[method-assign]
    await harness.chats.send("s", "two")
    puppet.die()
    await puppet.wait_for_call("close")
    may_identify.set()
    again = await harness.backend.newest(2)
    assert await again.wait_for_call("send") == ("send", "two")
    assert harness.session.status == "running"
    again.say(agent_events.TextDelta("b", "second"), DONE)
    answer = await harness.wait_for_turn()
    assert (answer.text, answer.error, harness.session.status) == ("second", None, "idle")


async def test_an_agent_that_exits_while_the_message_is_sent_fails_the_turn_once(
    harness: Harness,
) -> None:
    puppet = await run_first_turn(harness)

    async def send(prompt: base.Prompt) -> None:
        puppet.die()
        await puppet.wait_for_call("close")
        raise SpinneyError("The agent is gone.", "backend_error")

    puppet.send = send  # type: ignore[method-assign]
    await harness.chats.send("s", "two")
    await harness.wait_for_turn()
    turn = harness.conversations.of("s")._turn
    assert turn is not None
    await asyncio.wait([turn])
    failed = [message for message in await harness.messages() if message.error is not None]
    assert len(failed) == 1
    assert harness.session.status == "failed"


def make_request(kind: str) -> agent_events.AgentEvent:
    match kind:
        case "plan":
            return agent_events.PlanProposed("r", "old plan")
        case "question":
            return agent_events.QuestionAsked("r", (Question(question="Which?", options=[]),))
        case _:
            return agent_events.PermissionRequested("r", "Bash", {"command": "ls"}, "")


async def send_comment(harness: Harness) -> None:
    await harness.chats.send("s", "smaller, please", message_id="mine")


async def approve_plan(harness: Harness) -> None:
    await harness.decisions.approve("s", "build", None)


async def answer_question(harness: Harness) -> None:
    await harness.decisions.answer("s", "this one")


async def allow_for_session(harness: Harness) -> None:
    await harness.decisions.permit("s", "r", "allow_session")


ANSWERS = [
    ("plan", "discuss", send_comment),
    ("plan", "approve", approve_plan),
    ("question", "answer", send_comment),
    ("question", "answer", answer_question),
    ("permission", "permit", allow_for_session),
]
Answering = Callable[[Harness], Awaitable[None]]


async def start_request(harness: Harness, kind: str) -> Puppet:
    """Start a turn in which the agent makes this request, and wait for it."""
    puppet = await harness.start_turn("one")
    puppet.say(make_request(kind))
    await harness.wait_until(lambda: harness.session.waiting_for == kind)
    return puppet


@pytest.mark.parametrize(("kind", "call", "give"), ANSWERS)
async def test_a_request_stays_open_if_the_agent_refuses_the_answer(
    harness: Harness, kind: str, call: str, give: Answering
) -> None:
    puppet = await start_request(harness, kind)
    before, request, deliver = (
        await harness.messages(),
        harness.session.request,
        getattr(puppet, call),
    )

    async def refuse(*_: object) -> None:
        raise SpinneyError("It does not listen.", "backend_error")

    setattr(puppet, call, refuse)
    with pytest.raises(SpinneyError, match="does not listen"):
        await give(harness)
    assert (harness.session.waiting_for, harness.session.request) == (kind, request)
    assert harness.session.execution_mode == "plan"
    assert await harness.messages() == before
    setattr(puppet, call, deliver)
    await give(harness)
    assert (await puppet.wait_for_call(call))[:2] == (call, "r")
    assert harness.session.status == "running"
    puppet.say(agent_events.TextDelta("b", "done"), DONE)
    answer = await harness.wait_for_turn()
    assert "done" in answer.text
    assert [m.text for m in await harness.messages() if m.role == "user"][1:] == (
        ["smaller, please"] if give is send_comment else []
    )


@pytest.mark.parametrize("refuses", [True, False])
async def test_a_plan_whose_agent_exits_on_a_comment_is_set_aside_and_the_comment_is_dropped(
    harness: Harness, *, refuses: bool
) -> None:
    puppet = await start_request(harness, "plan")

    async def die(*_: object) -> None:
        puppet.say(agent_events.TextDelta("b", "Well,"))
        puppet.die()
        await puppet.wait_for_call("close")
        if refuses:
            raise SpinneyError("It does not listen.", "backend_error")

    puppet.discuss = die  # type: ignore[method-assign]
    with pytest.raises(SpinneyError):
        await send_comment(harness)
    assert harness.session.status == "failed"
    assert harness.session.set_aside_plan is not None
    assert harness.session.set_aside_plan.plan == "old plan"
    messages = await harness.messages()
    assert [message.role for message in messages] == ["user", "assistant"]
    assert messages[-1].text.endswith("Well,")
    await send_comment(harness)
    assert await (await harness.backend.newest(2)).wait_for_call("send") == (
        "send",
        "smaller, please",
    )


async def test_output_that_arrives_while_a_comment_is_delivered_follows_the_comment(
    harness: Harness,
) -> None:
    puppet = await start_request(harness, "plan")

    async def go_on(*_: object) -> None:
        puppet.say(agent_events.TextDelta("b", "As you like."), DONE)
        while not puppet._events.empty():
            await asyncio.sleep(0)

    puppet.discuss = go_on  # type: ignore[method-assign]
    await send_comment(harness)
    await harness.wait_for_turn()
    messages = await harness.messages()
    assert [(message.role, message.text) for message in messages][2:] == [
        ("user", "smaller, please"),
        ("assistant", "As you like."),
    ]
    assert harness.session.status == "idle"
