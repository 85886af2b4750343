"""Notices about an agent that sends nothing for a long time during a turn."""

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from model.backends import agent_events
from model.chat import stall_monitor
from model.chat.stall_monitor import FIRST_NOTICE, StallMonitor
from model.chat.texts import describe_limit_end, format_duration
from tests.model.chat.harness import DONE, Harness


class Clock:
    """A fake clock in place of the event loop's; `advance` moves it."""

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


class Recorder:
    """A stall monitor, its notices, and whether the session waits for the user."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.notices: list[str] = []
        self.is_waiting = False
        self.monitor = StallMonitor(self.notices.append, lambda: self.is_waiting)


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> Recorder:
    clock = Clock()
    loop = SimpleNamespace(get_running_loop=lambda: clock)
    monkeypatch.setattr(stall_monitor, "asyncio", loop)
    monkeypatch.setattr(stall_monitor, "time", SimpleNamespace(monotonic=lambda: clock.now))
    return Recorder(clock)


def test_a_notice_names_the_running_tool_and_its_duration(recorder: Recorder) -> None:
    recorder.monitor.note_activity()
    recorder.clock.advance(30)
    recorder.monitor.note_activity(agent_events.ToolUse("t", "bash", {"command": "make all\n"}))
    recorder.clock.advance(FIRST_NOTICE)
    assert recorder.notices == [
        "No output for 2 minutes; the command `make all` has been running for"
        " 2 minutes. Stop the session if this takes too long."
    ]


def test_a_notice_names_a_tool_without_a_command_and_cuts_a_long_command(
    recorder: Recorder,
) -> None:
    recorder.monitor.note_activity(agent_events.ToolUse("t", "WebFetch", {"url": "http://x"}))
    recorder.clock.advance(FIRST_NOTICE)
    assert "the tool 'WebFetch'" in recorder.notices[-1]
    recorder.monitor.note_activity(agent_events.ToolUse("u", "bash", {"command": "x" * 500}))
    recorder.clock.advance(FIRST_NOTICE)
    assert f"`{'x' * 80}…`" in recorder.notices[-1]


def test_a_notice_says_that_no_tool_is_running(recorder: Recorder) -> None:
    recorder.monitor.note_activity(agent_events.ToolUse("t", "bash", {"command": "ls"}))
    recorder.monitor.note_activity(agent_events.ToolResult("t", ""))
    recorder.clock.advance(FIRST_NOTICE)
    assert "no tool is running" in recorder.notices[0]


def test_each_further_notice_comes_after_twice_as_long(recorder: Recorder) -> None:
    recorder.monitor.note_activity()
    recorder.clock.advance(FIRST_NOTICE * 8)
    assert [notice.split(";")[0] for notice in recorder.notices] == [
        "No output for 2 minutes", "No output for 4 minutes",
        "No output for 8 minutes", "No output for 16 minutes",
    ]  # fmt: skip


def test_output_of_the_agent_resets_the_interval(recorder: Recorder) -> None:
    recorder.monitor.note_activity()
    recorder.clock.advance(FIRST_NOTICE * 2)
    recorder.monitor.note_activity(agent_events.TextDelta("b", "word"))
    recorder.clock.advance(FIRST_NOTICE - 1)
    assert len(recorder.notices) == 2
    recorder.clock.advance(1)
    assert recorder.notices[2].startswith("No output for 2 minutes")


def test_an_active_agent_causes_no_notice(recorder: Recorder) -> None:
    for _ in range(100):
        recorder.monitor.note_activity(agent_events.TextDelta("b", "word"))
        recorder.clock.advance(FIRST_NOTICE - 1)
    assert recorder.notices == []


def test_no_notice_while_the_session_waits_for_the_user_or_after_the_turn(
    recorder: Recorder,
) -> None:
    recorder.monitor.note_activity()
    recorder.is_waiting = True
    recorder.clock.advance(FIRST_NOTICE * 10)
    recorder.is_waiting = False
    recorder.monitor.note_activity()  # the answer
    recorder.clock.advance(FIRST_NOTICE / 2)
    recorder.monitor.end()
    recorder.clock.advance(FIRST_NOTICE * 10)
    assert recorder.notices == []
    assert recorder.clock.timers == []


async def test_a_stalled_conversation_shows_a_notice_and_keeps_running(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stall_monitor, "FIRST_NOTICE", 0.05)
    puppet = await harness.start_turn("go")
    puppet.say(agent_events.ToolUse("t", "bash", {"command": "sleep 1000"}))
    await harness.wait_for_notice("the command `sleep 1000`")
    assert harness.session.status == "running"
    puppet.say(agent_events.ToolResult("t", ""), DONE)
    assert (await harness.wait_for_turn()).status == "completed"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.4, "0 seconds"), (1, "1 second"), (59.9, "59 seconds"), (60, "1 minute"),
     (3599, "59 minutes"), (3600, "1 hour"), (200_000, "55 hours")],
)  # fmt: skip
def test_durations_are_given_in_the_largest_unit_that_fits(seconds: float, words: str) -> None:
    assert format_duration(seconds) == words


def test_a_distant_end_of_a_limit_includes_its_day_and_time() -> None:
    assert describe_limit_end(30) == "The limit ends in 30 seconds."
    sentence = describe_limit_end(3 * 24 * 3600)
    beginning, moment = sentence.split(", at ")
    assert beginning == "The limit ends in 72 hours"
    assert len(moment.split()) == 4  # such as Mon 3 May 18:00
