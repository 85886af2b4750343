"""Tells when an agent says nothing for long in the middle of a turn, with what is known of why.

Nothing is ended: a build may take an hour. A person who reads what runs can decide.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

from model.backends import base
from model.base.text import clean_line
from model.chat.texts import spoken

FIRST_WORD = 120.0
"""Seconds without output until the first notice; each further one comes after twice as long."""

_SHOWN = 80
"""Characters of a command that stand in the notice."""


@dataclass(frozen=True, slots=True)
class _Tool:
    what: str
    began: float


class Silence:
    """Watches one session's turns. No timer runs between turns or while a person is waited for."""

    def __init__(self, tell: Callable[[str], None], is_held: Callable[[], bool]) -> None:
        self._tell = tell
        self._is_held = is_held
        self._last = 0.0
        self._next = FIRST_WORD
        self._tools: dict[str, _Tool] = {}
        self._timer: asyncio.TimerHandle | None = None

    def heard(self, event: base.AgentEvent | None = None) -> None:
        """The agent told something, or (`None`) was told something itself, in an open turn."""
        self._last = time.monotonic()
        if self._next > FIRST_WORD:
            self._forget_timer()  # it was set for the long silence that is over
            self._next = FIRST_WORD
        match event:
            case base.ToolUse():
                began = self._tools.get(event.id)
                self._tools[event.id] = _Tool(_named(event), began.began if began else self._last)
            case base.ToolResult():
                self._tools.pop(event.tool_use_id, None)
        if self._timer is None:
            self._wake_in(FIRST_WORD)

    def end(self) -> None:
        """The turn is over."""
        self._tools.clear()
        self._forget_timer()

    def _forget_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wake_in(self, seconds: float) -> None:
        self._timer = asyncio.get_running_loop().call_later(seconds, self._look)

    def _look(self) -> None:
        self._timer = None
        if self._is_held():
            return  # the next word from either side sets the timer again
        quiet = time.monotonic() - self._last
        if quiet >= self._next:
            self._tell(self._sentence(quiet))
            self._next *= 2
        self._wake_in(self._next - quiet)

    def _sentence(self, quiet: float) -> str:
        if self._tools:
            tool = next(reversed(self._tools.values()))
            ran = spoken(time.monotonic() - tool.began)
            known = f"{tool.what} has run for {ran}"
        else:
            known = "no tool is known to run, and its program is alive"
        return f"No output for {spoken(quiet)}; {known}. Stop the session if that is too long."


def _named(use: base.ToolUse) -> str:
    command = use.input.get("command")
    if isinstance(command, str) and command.strip():
        line = clean_line(command)
        return f"the command `{line if len(line) <= _SHOWN else line[:_SHOWN] + '…'}`"
    return f"the tool “{clean_line(use.name)[:_SHOWN]}”"
