"""Output of running tools: limited in size and rate, and dropped when the result arrives."""

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from model.backends import agent_events
from model.chat import running_tools
from model.chat.running_tools import (
    MAX_SHOWN,
    SILENT_INTERVAL,
    UPDATE_INTERVAL,
    RunningTools,
    last_lines,
)
from model.domain.messages import ToolUseBlock
from tests.model.chat.harness import DONE, Harness
from tests.model.chat.test_stall_monitor import Clock

TOOL = agent_events.ToolUse("t", "bash", {"command": "make"})


class Updates(list[tuple[str, str | None, int]]):
    """The updates that `tools` published."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.tools = RunningTools(lambda *update: self.append(update))


@pytest.fixture
def updates(monkeypatch: pytest.MonkeyPatch) -> Updates:
    clock = Clock()
    monkeypatch.setattr(running_tools, "asyncio", SimpleNamespace(get_running_loop=lambda: clock))
    monkeypatch.setattr(running_tools, "time", SimpleNamespace(monotonic=lambda: clock.now))
    return Updates(clock)


def test_large_output_is_limited_in_rate_and_to_its_end(updates: Updates) -> None:
    updates.tools.begin("t")
    for number in range(2000):
        updates.clock.advance(0.0005)
        updates.tools.add_output(
            agent_events.ToolOutput("t", f"line {number}\n" + "x" * 5000 + "\n")
        )
    assert 2 <= len(updates) <= 1 / UPDATE_INTERVAL + 2
    updates.clock.advance(UPDATE_INTERVAL)
    assert all(len(output or "") <= MAX_SHOWN for _, output, _ in updates)
    updates.tools.add_output(agent_events.ToolOutput("t", "the end\n"))
    updates.clock.advance(UPDATE_INTERVAL)
    assert (updates[-1][1] or "").endswith("the end\n")
    updates.tools.end("t")
    updates.clock.advance(10 * SILENT_INTERVAL)
    assert not updates.clock.timers  # no updates after the result


def test_the_duration_of_a_silent_tool_is_published_periodically(updates: Updates) -> None:
    updates.tools.begin("t")
    updates.clock.advance(3 * SILENT_INTERVAL + 1)
    assert updates == [("t", None, 10), ("t", None, 20), ("t", None, 30)]


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
def test_output_is_shown_as_last_drawn_with_escaped_control_characters(
    printed: str, shown: str
) -> None:
    assert last_lines(printed) == shown


def get_block(harness: Harness) -> ToolUseBlock | None:
    message = harness.store.state.streaming_in("s")
    found = message.content[0] if message and message.content else None
    return found if isinstance(found, ToolUseBlock) else None


async def test_output_is_visible_while_the_tool_runs_and_never_saved(
    harness: Harness,
) -> None:
    puppet = await harness.start_turn("go")
    puppet.say(TOOL, agent_events.ToolOutput("t", "warp "), agent_events.ToolOutput("t", "weft"))

    def has_output(words: str | None) -> Callable[[], bool]:
        return lambda: (b := get_block(harness)) is not None and b.output_so_far == words

    await harness.wait_until(has_output("warp weft"))
    puppet.say(agent_events.ToolOutput("t", "replaced", is_whole=True))
    await harness.wait_until(has_output("replaced"))
    await harness.store.flush()
    assert "replaced" not in str(await harness.messages())
    puppet.say(agent_events.ToolResult("t", "woven"))
    await harness.wait_until(has_output(None))
    puppet.say(DONE)
    assert "replaced" not in str(await harness.wait_for_turn())


def test_the_duration_of_a_tool_starts_when_it_is_allowed(updates: Updates) -> None:
    updates.tools.begin("t")
    updates.clock.advance(SILENT_INTERVAL - 1)
    updates.tools.end("t")  # it waits for permission
    updates.clock.advance(5 * SILENT_INTERVAL)
    updates.tools.begin("t")
    updates.clock.advance(SILENT_INTERVAL + 1)
    assert updates == [("t", None, 10)]
