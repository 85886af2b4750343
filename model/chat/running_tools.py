"""Live output of running tools: the last lines, a few times a second.

However fast a tool prints, it causes one event every quarter of a second. Each event includes the
running time, which is also sent now and then while the tool prints nothing.
"""

import asyncio
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from model.backends.agent_events import OUTPUT_LIMIT, ToolOutput
from model.base.text import make_output_visible

MAX_SHOWN: Final = 4000
"""Characters of output that are sent: a few screens full."""

UPDATE_INTERVAL: Final = 0.25
"""Seconds between two updates of a tool that prints."""

SILENT_INTERVAL: Final = 10.0
"""Seconds between two updates of the running time of tools that print nothing."""

_ERASING: Final = re.compile("\x1b\\[[0-2]?K")

Report = Callable[[str, str | None, int], None]
"""Called with a tool's id, the end of its output and the seconds that it has run."""


@dataclass(slots=True)
class _Running:
    began: float
    output: str | None = None
    has_new_output: bool = False


class RunningTools:
    """The tools of one message that have no result yet."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._tools: dict[str, _Running] = {}
        self._last_update = 0.0
        self._update_timer: asyncio.TimerHandle | None = None
        self._silent_timer: asyncio.TimerHandle | None = None

    def begin(self, tool: str) -> None:
        """Start the tool's timer unless it is already running."""
        self._tools.setdefault(tool, _Running(time.monotonic()))
        if self._silent_timer is None:
            self._silent_timer = asyncio.get_running_loop().call_later(
                SILENT_INTERVAL, self._report_all
            )

    def add_output(self, event: ToolOutput) -> None:
        """Add output that the tool printed."""
        self.begin(event.tool_use_id)
        tool = self._tools[event.tool_use_id]
        previous = "" if event.is_whole else tool.output or ""
        tool.output = (previous + event.text)[-OUTPUT_LIMIT:]
        tool.has_new_output = True
        if self._update_timer is None:
            delay = max(0.0, self._last_update + UPDATE_INTERVAL - time.monotonic())
            self._update_timer = asyncio.get_running_loop().call_later(delay, self._report_updated)

    def end(self, tool: str) -> None:
        """Forget a tool that has returned its result or does not run yet."""
        self._tools.pop(tool, None)
        if not self._tools:
            self.end_all()

    def end_all(self) -> None:
        """Forget all tools and stop the timers."""
        self._tools.clear()
        for timer in (self._update_timer, self._silent_timer):
            if timer is not None:
                timer.cancel()
        self._update_timer = self._silent_timer = None

    def _report_updated(self) -> None:
        self._update_timer = None
        self._last_update = time.monotonic()
        for key, tool in self._tools.items():
            if tool.has_new_output:
                self._report_tool(key, tool)

    def _report_all(self) -> None:
        self._silent_timer = asyncio.get_running_loop().call_later(
            SILENT_INTERVAL, self._report_all
        )
        for key, tool in self._tools.items():
            if time.monotonic() - tool.began > SILENT_INTERVAL / 2:
                self._report_tool(key, tool)

    def _report_tool(self, key: str, tool: _Running) -> None:
        tool.has_new_output = False
        output = None if tool.output is None else last_lines(tool.output)
        self._report(key, output, int(time.monotonic() - tool.began))


def last_lines(output: str) -> str:
    """Return the last lines of output, as a terminal would show them.

    A line that was redrawn, as by a progress bar, is shown in its last state.
    """
    lines = (line.rstrip("\r").rpartition("\r")[2] for line in output.split("\n"))
    text = make_output_visible(_ERASING.sub("", "\n".join(lines)))
    if len(text) <= MAX_SHOWN:
        return text
    end = text[-MAX_SHOWN:]
    return end.partition("\n")[2] or end
