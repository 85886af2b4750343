"""Actions on paused sessions, and messages that are sent at a time."""

import time
from typing import Any

import pytest

from model.base.errors import SpinneyError
from model.domain.sessions import Pause
from tests.tui.builders import a_project, a_session, a_state, a_worktree
from tests.tui.fake_client import FakeClient
from tests.tui.fake_desk import FakeDesk
from tui.actions import pauses
from tui.store.places import Place

HERE = Place("session", "s1")


def a_desk(*answers: Any, sessions: int = 1) -> FakeDesk:
    pause = Pause(
        kind="usage_limit", since=time.time(), until=time.time() + 60, account="demo",
        resets_at=time.time() + 3600, text="The limit is reached.",
    )  # fmt: skip
    paused = [
        a_session(id=f"s{number}", status="paused", pause=pause)
        for number in range(1, sessions + 1)
    ]
    client = FakeClient(a_state(a_project(), a_worktree(), *paused))
    client.answers["set_resume_time"] = lambda given: paused
    return FakeDesk(client, HERE, *answers)


@pytest.mark.parametrize(
    ("answers", "command", "arguments"),
    [
        (["now"], "resume_session", {"session_id": "s1"}),
        (["never"], "set_resume_time", {"session_id": "s1", "at": None}),
        (["reset"], "set_resume_time", {"session_id": "s1", "at": "reset"}),
        (["end"], "stop_generation", {"session_id": "s1"}),
        (["never account"], "set_resume_time", {"account": "demo", "at": None}),
    ],
)
async def test_a_pause_is_changed_by_a_choice(
    answers: list[str], command: str, arguments: dict[str, Any]
) -> None:
    desk = a_desk(*answers, sessions=2)
    await pauses.continue_session(desk)
    assert desk.client.called(command) == [arguments]
    values = [choice.value for choice in desk.dialogs[0].choices]
    assert values[:5] == ["now", "reset", "ask", "never", "end"]
    assert len(values) == 8, "those of the account as well"


async def test_a_time_is_asked_until_it_is_one() -> None:
    desk = a_desk("ask", "soon", "in 2 h")
    await pauses.continue_session(desk)
    assert "'soon' is not a time" in desk.dialogs[2]._sentence
    [given] = desk.client.called("set_resume_time")
    assert 7190 < given["at"] - time.time() <= 7200


async def test_a_time_that_is_left_changes_nothing() -> None:
    desk = a_desk("ask", None)
    await pauses.continue_session(desk)
    assert desk.client.calls == []


@pytest.mark.parametrize(
    ("line", "seconds", "text"),
    [
        ("in 2 h 30m look  again", 9000, "look  again"),
        ("1h30m go on", 5400, "go on"),
        ("90 min 3 files", 5400, "3 files"),
    ],
)
async def test_a_line_begins_with_the_time_of_its_message(
    line: str, seconds: int, text: str
) -> None:
    assert pauses.split_time(line, 1000.0) == (1000.0 + seconds, text)
    assert pauses.split_time("reset go on", 1000.0) == ("reset", "go on")


@pytest.mark.parametrize("line", ["", "18:00", "soon go on", "go on at 18:00"])
async def test_a_line_without_a_time_or_a_message_is_refused(line: str) -> None:
    with pytest.raises(SpinneyError, match="Write the time and then the message"):
        pauses.split_time(line, 1000.0)
