"""An agent that says nothing for long in the middle of a turn: what is told of it, and when."""

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from model.backends import base
from model.chat import stall_monitor
from model.chat.stall_monitor import FIRST_NOTICE, StallMonitor
from model.chat.texts import describe_limit_end, format_duration
from tests.model.chat.stage import DONE, Stage


class Clock:
    """Time that passes when a test says so; stands in for the loop's."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.timers: list[tuple[float, Callable[[], None]]] = []

    def call_later(self, delay: float, call: Callable[[], None]) -> SimpleNamespace:
        timer = (self.now + delay, call)
        self.timers.append(timer)
        return SimpleNamespace(cancel=lambda: timer in self.timers and self.timers.remove(timer))

    def advance(self, seconds: float) -> None:
        end = self.now + seconds
        while self.timers and min(self.timers)[0] <= end:
            timer = min(self.timers, key=lambda timer: timer[0])
            self.timers.remove(timer)
            self.now = timer[0]
            timer[1]()
        self.now = end


class Watched:
    """A silence, what it told, and whether a person is waited for."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.told: list[str] = []
        self.held = False
        self.silence = StallMonitor(self.told.append, lambda: self.held)


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Watched:
    clock = Clock()
    loop = SimpleNamespace(get_running_loop=lambda: clock)
    monkeypatch.setattr(stall_monitor, "asyncio", loop)
    monkeypatch.setattr(stall_monitor, "time", SimpleNamespace(monotonic=lambda: clock.now))
    return Watched(clock)


def test_it_is_told_which_tool_runs_and_for_how_long(watched: Watched) -> None:
    watched.silence.note_activity()
    watched.clock.advance(30)
    watched.silence.note_activity(base.ToolUse("t", "bash", {"command": "make all\n"}))
    watched.clock.advance(FIRST_NOTICE)
    assert watched.told == [
        "No output for 2 minutes; the command `make all` has been running for"
        " 2 minutes. Stop the session if this takes too long."
    ]


def test_a_tool_without_a_command_has_its_name_and_a_long_command_is_cut(watched: Watched) -> None:
    watched.silence.note_activity(base.ToolUse("t", "WebFetch", {"url": "http://x"}))
    watched.clock.advance(FIRST_NOTICE)
    assert "the tool 'WebFetch'" in watched.told[-1]
    watched.silence.note_activity(base.ToolUse("u", "bash", {"command": "x" * 500}))
    watched.clock.advance(FIRST_NOTICE)
    assert f"`{'x' * 80}…`" in watched.told[-1]


def test_where_no_tool_runs_that_is_said(watched: Watched) -> None:
    watched.silence.note_activity(base.ToolUse("t", "bash", {"command": "ls"}))
    watched.silence.note_activity(base.ToolResult("t", ""))
    watched.clock.advance(FIRST_NOTICE)
    assert "no tool is running" in watched.told[0]


def test_each_further_notice_comes_after_twice_as_long(watched: Watched) -> None:
    watched.silence.note_activity()
    watched.clock.advance(FIRST_NOTICE * 8)
    assert [told.split(";")[0] for told in watched.told] == [
        "No output for 2 minutes", "No output for 4 minutes",
        "No output for 8 minutes", "No output for 16 minutes",
    ]  # fmt: skip


def test_a_word_of_the_agent_begins_anew(watched: Watched) -> None:
    watched.silence.note_activity()
    watched.clock.advance(FIRST_NOTICE * 2)
    watched.silence.note_activity(base.TextDelta("b", "word"))
    watched.clock.advance(FIRST_NOTICE - 1)
    assert len(watched.told) == 2
    watched.clock.advance(1)
    assert watched.told[2].startswith("No output for 2 minutes")


def test_an_agent_that_talks_is_never_told_of(watched: Watched) -> None:
    for _ in range(100):
        watched.silence.note_activity(base.TextDelta("b", "word"))
        watched.clock.advance(FIRST_NOTICE - 1)
    assert watched.told == []


def test_nothing_is_told_while_a_person_is_waited_for_nor_after_the_turn(watched: Watched) -> None:
    watched.silence.note_activity()
    watched.held = True
    watched.clock.advance(FIRST_NOTICE * 10)
    watched.held = False
    watched.silence.note_activity()  # the answer
    watched.clock.advance(FIRST_NOTICE / 2)
    watched.silence.end()
    watched.clock.advance(FIRST_NOTICE * 10)
    assert watched.told == []
    assert watched.clock.timers == []


async def test_the_conversation_is_told_in_passing_and_nothing_is_ended(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stall_monitor, "FIRST_NOTICE", 0.05)
    await stage.chats.send("s", "go")
    puppet = await stage.backend.newest()
    puppet.say(base.ToolUse("t", "bash", {"command": "sleep 1000"}))
    await stage.until_told("the command `sleep 1000`")
    assert stage.session.status == "running"
    puppet.say(base.ToolResult("t", ""), DONE)
    assert (await stage.settled()).status == "completed"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.4, "0 seconds"), (1, "1 second"), (59.9, "59 seconds"), (60, "1 minute"),
     (3599, "59 minutes"), (3600, "1 hour"), (200_000, "55 hours")],
)  # fmt: skip
def test_durations_are_spoken_in_the_largest_unit_that_fits(seconds: float, words: str) -> None:
    assert format_duration(seconds) == words


def test_the_end_of_a_limit_has_its_time_of_day_where_it_is_not_near() -> None:
    assert describe_limit_end(30) == "The limit ends in 30 seconds."
    told = describe_limit_end(3 * 24 * 3600)
    assert told.startswith("The limit ends in 72 hours, at ")
    assert " on 2" in told
