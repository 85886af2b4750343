"""Agents that die just as a turn begins."""

import asyncio
import threading
from collections.abc import Awaitable, Callable

import pytest

from model.backends import base
from model.base.errors import SpinneyError
from model.domain.resources import Question, Session
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
    found, look = threading.Event(), stage.identify_directory

    def found_late(session: Session) -> tuple[int, int]:
        assert found.wait(PATIENCE)
        return look(session)

    stage.identify_directory = found_late  # type: ignore[method-assign]
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


def asks(kind: str) -> base.AgentEvent:
    match kind:
        case "plan":
            return base.PlanProposed("r", "old plan")
        case "question":
            return base.QuestionAsked("r", (Question(question="Which?", options=[]),))
        case _:
            return base.PermissionAsked("r", "Bash", {"command": "ls"}, "")


async def says(stage: Stage) -> None:
    await stage.chats.send("s", "smaller, please", message_id="mine")


async def approves(stage: Stage) -> None:
    await stage.chats.approve("s", "build", None)


async def answers(stage: Stage) -> None:
    await stage.chats.answer("s", "this one")


async def allows(stage: Stage) -> None:
    await stage.chats.permit("s", "r", "allow_session")


ANSWERS = [
    ("plan", "discuss", says),
    ("plan", "approve", approves),
    ("question", "answer", says),
    ("question", "answer", answers),
    ("permission", "permit", allows),
]
Answering = Callable[[Stage], Awaitable[None]]


async def asked(stage: Stage, kind: str) -> Puppet:
    """An agent that waits for a person."""
    await stage.chats.send("s", "one")
    puppet = await stage.backend.newest()
    puppet.say(asks(kind))
    await stage.until(lambda: stage.session.waiting_for == kind)
    return puppet


@pytest.mark.parametrize(("kind", "call", "give"), ANSWERS)
async def test_what_an_agent_refuses_to_be_told_is_asked_again(
    stage: Stage, kind: str, call: str, give: Answering
) -> None:
    puppet = await asked(stage, kind)
    before, request, take = await stage.messages(), stage.session.request, getattr(puppet, call)

    async def refuse(*_: object) -> None:
        raise SpinneyError("It does not listen.", "backend_error")

    setattr(puppet, call, refuse)
    with pytest.raises(SpinneyError, match="does not listen"):
        await give(stage)
    assert (stage.session.waiting_for, stage.session.request) == (kind, request)
    assert stage.session.execution_mode == "plan"
    assert await stage.messages() == before
    setattr(puppet, call, take)
    await give(stage)
    assert (await puppet.hears(call))[:2] == (call, "r")
    assert stage.session.status == "running"
    puppet.say(base.TextDelta("b", "done"), DONE)
    answer = await stage.settled()
    assert "done" in answer.text
    assert [m.text for m in await stage.messages() if m.role == "user"][1:] == (
        ["smaller, please"] if give is says else []
    )


@pytest.mark.parametrize("refuses", [True, False])
async def test_a_plan_whose_agent_dies_of_what_is_said_is_set_aside_and_the_words_are_not_said(
    stage: Stage, *, refuses: bool
) -> None:
    puppet = await asked(stage, "plan")

    async def die(*_: object) -> None:
        puppet.say(base.TextDelta("b", "Well,"))
        puppet.die()
        await puppet.hears("close")
        if refuses:
            raise SpinneyError("It does not listen.", "backend_error")

    puppet.discuss = die  # type: ignore[method-assign]
    with pytest.raises(SpinneyError):
        await says(stage)
    assert stage.session.status == "failed"
    assert stage.session.set_aside_plan is not None
    assert stage.session.set_aside_plan.plan == "old plan"
    said = await stage.messages()
    assert [message.role for message in said] == ["user", "assistant"]
    assert said[-1].text.endswith("Well,")
    await says(stage)
    assert await (await stage.backend.newest(2)).hears("send") == ("send", "smaller, please")


async def test_what_an_agent_says_before_its_answer_is_told_comes_after_it(stage: Stage) -> None:
    puppet = await asked(stage, "plan")

    async def go_on(*_: object) -> None:
        puppet.say(base.TextDelta("b", "As you like."), DONE)
        while not puppet._lines.empty():
            await asyncio.sleep(0)

    puppet.discuss = go_on  # type: ignore[method-assign]
    await says(stage)
    await stage.settled()
    said = await stage.messages()
    assert [(message.role, message.text) for message in said][2:] == [
        ("user", "smaller, please"),
        ("assistant", "As you like."),
    ]
    assert stage.session.status == "idle"
