"""What tools print while they run, as people look at it: the end, a few times a second.

However fast a tool prints, it costs an event every quarter of a second. How long it has run is told
with that, and now and then where it prints nothing.
"""

import asyncio
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from model.backends.base import OUTPUT_KEPT, ToolOutput
from model.base.text import make_output_visible

SHOWN: Final = 4000
"""Characters of the output that are told: some screens full."""

PACE: Final = 0.25
"""Seconds between two words about what is printed."""

TICK: Final = 10.0
"""Seconds between two words about how long tools run that print nothing."""

_ERASING: Final = re.compile("\x1b\\[[0-2]?K")

Tell = Callable[[str, str | None, int], None]
"""Hears of a tool, by its id, the end of its output and the seconds that it has run."""


@dataclass(slots=True)
class _Running:
    began: float
    printed: str | None = None
    has_news: bool = False


class RunningTools:
    """The tools of one answer that have no result."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._tools: dict[str, _Running] = {}
        self._told = 0.0
        self._soon: asyncio.TimerHandle | None = None
        self._tick: asyncio.TimerHandle | None = None

    def begin(self, tool: str) -> None:
        """It runs from now, if it did not before."""
        self._tools.setdefault(tool, _Running(time.monotonic()))
        if self._tick is None:
            self._tick = asyncio.get_running_loop().call_later(TICK, self._tell_all)

    def hear(self, event: ToolOutput) -> None:
        """It prints."""
        self.begin(event.tool_use_id)
        tool = self._tools[event.tool_use_id]
        before = "" if event.is_whole else tool.printed or ""
        tool.printed = (before + event.text)[-OUTPUT_KEPT:]
        tool.has_news = True
        if self._soon is None:
            pause = max(0.0, self._told + PACE - time.monotonic())
            self._soon = asyncio.get_running_loop().call_later(pause, self._tell_news)

    def end(self, tool: str) -> None:
        """It has given its result, or does not run yet."""
        self._tools.pop(tool, None)
        if not self._tools:
            self.end_all()

    def end_all(self) -> None:
        """Nothing runs any more."""
        self._tools.clear()
        for timer in (self._soon, self._tick):
            if timer is not None:
                timer.cancel()
        self._soon = self._tick = None

    def _tell_news(self) -> None:
        self._soon = None
        self._told = time.monotonic()
        for key, tool in self._tools.items():
            if tool.has_news:
                self._tell_of(key, tool)

    def _tell_all(self) -> None:
        self._tick = asyncio.get_running_loop().call_later(TICK, self._tell_all)
        for key, tool in self._tools.items():
            if time.monotonic() - tool.began > TICK / 2:
                self._tell_of(key, tool)

    def _tell_of(self, key: str, tool: _Running) -> None:
        tool.has_news = False
        shown = None if tool.printed is None else end_of(tool.printed)
        self._tell(key, shown, int(time.monotonic() - tool.began))


def end_of(printed: str) -> str:
    """The last lines of what was printed, as a terminal shows them.

    A line that was drawn over and over, as by a bar of progress, counts as it was drawn last.
    """
    lines = (line.rstrip("\r").rpartition("\r")[2] for line in printed.split("\n"))
    text = make_output_visible(_ERASING.sub("", "\n".join(lines)))
    if len(text) <= SHOWN:
        return text
    end = text[-SHOWN:]
    return end.partition("\n")[2] or end
