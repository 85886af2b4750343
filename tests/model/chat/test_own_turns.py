"""Turns that an agent begins by itself, and its requests outside of any turn."""

import pytest

from model.backends import agent_events
from model.domain.events.sessions import SessionUpdated
from model.domain.requests import Question
from model.domain.sessions import Pause
from tests.model.chat.harness import DONE, Harness


async def begin_own_turn(harness: Harness, text: str) -> None:
    """Let the agent begin a turn by itself, after one that a person began and that has ended."""
    puppet = await harness.start_turn("go")
    puppet.say(DONE)
    await harness.wait_for_turn()
    puppet.say(agent_events.TurnStarted(), agent_events.TextDelta("a", text))
    await harness.wait_until(lambda: bool(harness.store.state.streaming))


async def use_up_budget(harness: Harness) -> None:
    pause = Pause(kind="budget", since=1, text="$2 of the budget of $1 is used.")
    updates = {"pause": pause.model_dump(mode="json")}
    await harness.store.accept(SessionUpdated(session_id="s", updates=updates))


async def test_a_turn_that_the_agent_began_is_stopped_once_the_budget_is_used_up(
    harness: Harness,
) -> None:
    await begin_own_turn(harness, "one more ")
    await use_up_budget(harness)
    puppet = await harness.backend.newest()
    puppet.say(agent_events.TextDelta("a", "thing"))
    await puppet.wait_for_call("stop")
    answer = await harness.wait_for_turn()
    assert "one more thing" in answer.text
    assert "the budget is used up" in answer.text
    assert answer.stop_reason == "stopped"
    assert harness.session.status == "paused"
    # The next one is stopped before it has said anything.
    puppet.say(agent_events.TurnStarted())
    await puppet.wait_for_call("stop")
    await harness.wait_for_turn()
    assert harness.session.status == "paused"


async def test_a_turn_that_a_person_began_goes_to_its_end_although_the_budget_is_used_up(
    harness: Harness,
) -> None:
    puppet = await harness.start_turn("go")
    await use_up_budget(harness)
    puppet.say(agent_events.TextDelta("a", "all of it"), DONE)
    assert (await harness.wait_for_turn()).text == "all of it"
    assert ("stop",) not in puppet.calls


async def test_a_turn_that_the_agent_began_after_a_stop_is_not_taken_for_stopped(
    harness: Harness,
) -> None:
    puppet = await harness.start_turn("go")
    await puppet.wait_for_call("send")
    await harness.chats.stop("s")
    puppet.say(agent_events.TurnStarted(), agent_events.TextDelta("a", "by myself"))
    await harness.wait_until(lambda: harness.session.status == "running")
    puppet.say(DONE)
    answer = await harness.wait_for_turn()
    assert (answer.text, answer.stop_reason) == ("by myself", "end_turn")


@pytest.mark.parametrize("kind", ["permission", "question"])
async def test_a_request_outside_of_a_turn_is_refused_and_the_conversation_says_so(
    harness: Harness, kind: str
) -> None:
    puppet = await harness.start_turn("go")
    puppet.say(DONE)
    await harness.wait_for_turn()
    if kind == "permission":
        puppet.say(agent_events.PermissionRequested("p", "bash", {"command": "ls"}))
        assert (await puppet.wait_for_call("permit"))[:3] == ("permit", "p", "deny")
    else:
        puppet.say(agent_events.QuestionAsked("q", (Question(question="Now?"),)))
        assert await puppet.wait_for_call("answer") == ("answer", "q", {})
    assert (harness.session.status, harness.session.waiting_for) == ("idle", None)
    await harness.start_turn("go on")
    puppet.say(agent_events.TextDelta("a", "fine"), DONE)
    assert "Outside of a turn the agent asked" in (await harness.wait_for_turn()).text
