"""Warns when an agent produces no output for long during a turn, and says what is running.

Nothing is stopped: a build may take an hour. The notice lets the user decide.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

from model.backends import agent_events
from model.base.text import clean_line
from model.chat.texts import format_duration

FIRST_NOTICE = 120.0
"""Seconds without output until the first notice; the interval then doubles."""

_MAX_SHOWN = 80
"""Characters of a command in the notice."""


@dataclass(frozen=True, slots=True)
class _Tool:
    label: str
    began: float


class StallMonitor:
    """Watches one session's turns. No timer runs between turns or while the user is asked."""

    def __init__(self, notify: Callable[[str], None], is_waiting: Callable[[], bool]) -> None:
        self._notify = notify
        self._is_waiting = is_waiting
        self._last_activity = 0.0
        self._next_notice = FIRST_NOTICE
        self._tools: dict[str, _Tool] = {}
        self._timer: asyncio.TimerHandle | None = None

    def note_activity(self, event: agent_events.AgentEvent | None = None) -> None:
        """Reset the timer: the agent sent an event, or (`None`) received a call, during a turn."""
        self._last_activity = time.monotonic()
        if self._next_notice > FIRST_NOTICE:
            self._cancel_timer()  # it was set for the longer interval
            self._next_notice = FIRST_NOTICE
        match event:
            case agent_events.ToolUse():
                previous = self._tools.get(event.id)
                self._tools[event.id] = _Tool(
                    _describe(event), previous.began if previous else self._last_activity
                )
            case agent_events.ToolResult():
                self._tools.pop(event.tool_use_id, None)
        if self._timer is None:
            self._check_in(FIRST_NOTICE)

    def end(self) -> None:
        """Stop watching at the end of a turn."""
        self._tools.clear()
        self._cancel_timer()

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _check_in(self, seconds: float) -> None:
        self._timer = asyncio.get_running_loop().call_later(seconds, self._check)

    def _check(self) -> None:
        self._timer = None
        if self._is_waiting():
            return  # the next event or call restarts the timer
        silent_for = time.monotonic() - self._last_activity
        if silent_for >= self._next_notice:
            self._notify(self._format_notice(silent_for))
            self._next_notice *= 2
        self._check_in(self._next_notice - silent_for)

    def _format_notice(self, silent_for: float) -> str:
        if self._tools:
            tool = next(reversed(self._tools.values()))
            duration = format_duration(time.monotonic() - tool.began)
            detail = f"{tool.label} has been running for {duration}"
        else:
            detail = "no tool is running, and the agent process is alive"
        silence = format_duration(silent_for)
        return f"No output for {silence}; {detail}. Stop the session if this takes too long."


def _describe(use: agent_events.ToolUse) -> str:
    command = use.input.get("command")
    if isinstance(command, str) and command.strip():
        line = clean_line(command)
        return f"the command `{line if len(line) <= _MAX_SHOWN else line[:_MAX_SHOWN] + '…'}`"
    return f"the tool '{clean_line(use.name)[:_MAX_SHOWN]}'"
