"""What tools print while they run: bounded, told a few times a second, and gone with the result."""

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from model.backends import base
from model.chat import running_tools
from model.chat.running_tools import (
    MAX_SHOWN,
    SILENT_INTERVAL,
    UPDATE_INTERVAL,
    RunningTools,
    last_lines,
)
from model.domain.resources import ToolUseBlock
from tests.model.chat.stage import DONE, Stage
from tests.model.chat.test_stall_monitor import Clock

RUNS = base.ToolUse("t", "bash", {"command": "make"})


class Told(list[tuple[str, str | None, int]]):
    """What was told of the tools, and the tools."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.tools = RunningTools(lambda *told: self.append(told))


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Told:
    clock = Clock()
    monkeypatch.setattr(running_tools, "asyncio", SimpleNamespace(get_running_loop=lambda: clock))
    monkeypatch.setattr(running_tools, "time", SimpleNamespace(monotonic=lambda: clock.now))
    return Told(clock)


def test_a_flood_is_told_a_few_times_a_second_and_its_end_alone(told: Told) -> None:
    told.tools.begin("t")
    for number in range(2000):
        told.clock.advance(0.0005)
        told.tools.add_output(base.ToolOutput("t", f"line {number}\n" + "x" * 5000 + "\n"))
    assert 2 <= len(told) <= 1 / UPDATE_INTERVAL + 2
    told.clock.advance(UPDATE_INTERVAL)
    assert all(len(output or "") <= MAX_SHOWN for _, output, _ in told)
    told.tools.add_output(base.ToolOutput("t", "the end\n"))
    told.clock.advance(UPDATE_INTERVAL)
    assert (told[-1][1] or "").endswith("the end\n")
    told.tools.end("t")
    told.clock.advance(10 * SILENT_INTERVAL)
    assert not told.clock.timers  # nothing is told of what has its result


def test_how_long_a_quiet_tool_has_run_is_told_now_and_then(told: Told) -> None:
    told.tools.begin("t")
    told.clock.advance(3 * SILENT_INTERVAL + 1)
    assert told == [("t", None, 10), ("t", None, 20), ("t", None, 30)]


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        ("10%\r20%\r30%", "30%"),
        ("10%\r20%\r", "20%"),
        ("got it\r\nnext\r\n", "got it\nnext\n"),
        ("\x1b[32mok\x1b[0m\r\x1b[Kdone", "done"),
        ("\x1b]0;title\x07\u202e", "␛]0;title␇<U+202E>"),
        ("a" * (MAX_SHOWN + 5), "a" * MAX_SHOWN),
        (f"first{'b' * 10}\n" + "c" * (MAX_SHOWN - 8), "c" * (MAX_SHOWN - 8)),
    ],
)
def test_output_is_shown_as_it_was_drawn_last_and_with_marks(printed: str, shown: str) -> None:
    assert last_lines(printed) == shown


def block_of(stage: Stage) -> ToolUseBlock | None:
    message = stage.store.state.streaming_in("s")
    found = message.content[0] if message and message.content else None
    return found if isinstance(found, ToolUseBlock) else None


async def test_what_a_tool_prints_is_known_to_all_while_it_runs_and_never_kept(
    stage: Stage,
) -> None:
    await stage.chats.send("s", "go")
    puppet = await stage.backend.newest()
    puppet.say(RUNS, base.ToolOutput("t", "warp "), base.ToolOutput("t", "weft"))

    def prints(words: str | None) -> Callable[[], bool]:
        return lambda: (b := block_of(stage)) is not None and b.output_so_far == words

    await stage.until(prints("warp weft"))
    puppet.say(base.ToolOutput("t", "all anew", is_whole=True))
    await stage.until(prints("all anew"))
    await stage.store.flush()
    assert "all anew" not in str(await stage.messages())
    puppet.say(base.ToolResult("t", "woven"))
    await stage.until(prints(None))
    puppet.say(DONE)
    assert "all anew" not in str(await stage.settled())


def test_the_time_of_a_tool_counts_from_when_it_was_allowed(told: Told) -> None:
    told.tools.begin("t")
    told.clock.advance(SILENT_INTERVAL - 1)
    told.tools.end("t")  # it waits for a person
    told.clock.advance(5 * SILENT_INTERVAL)
    told.tools.begin("t")
    told.clock.advance(SILENT_INTERVAL + 1)
    assert told == [("t", None, 10)]
