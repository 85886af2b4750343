"""Sets an ACP agent back that leaves the mode of its turn by itself."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final

from model.backends.acp.program import describe_unasking_mode
from model.backends.acp.settings import AgentSettings
from model.backends.agent_events import ConversationNote
from model.backends.process_channel import ProcessChannel
from model.base.errors import SpinneyError
from model.base.text import clean_line
from model.domain.modes import ExecutionMode

_ATTEMPTS: Final = 3
"""How often an agent is set back in a turn; one that goes on switching is stopped."""

_log = logging.getLogger(__name__)


class ModeGuard:
    """Sees to it that the agent's mode asks at least as much as the one of its turn."""

    def __init__(
        self,
        choices: AgentSettings,
        link: ProcessChannel,
        select: Callable[[str, str], Awaitable[None]],
        stop: Callable[[], Awaitable[None]],
    ) -> None:
        """`select` changes a setting of the agent; `stop` stops the turn."""
        self._choices = choices
        self._link = link
        self._select = select
        self._stop = stop
        self._left = _ATTEMPTS
        self._task: asyncio.Task[None] | None = None

    def begin_turn(self) -> None:
        """Allow as many attempts as in any turn."""
        self._left = _ATTEMPTS

    def cancel(self) -> None:
        """Stop setting the agent back: its mode is chosen again, or it is closed."""
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def check(self, mode: ExecutionMode) -> None:
        """Set the agent back, in the background, if its mode asks less than `mode` requires."""
        if self._choices.way_back(mode) is None:
            await self._note_unasking_mode(mode)
        elif self._task is None or self._task.done():
            is_first = self._left == _ATTEMPTS
            self._task = asyncio.create_task(self._set_back(mode))
            if is_first:
                name = clean_line(self._choices.mode_name)
                await self._note(
                    f"{self._link.name} switched itself to its mode '{name}', which goes beyond"
                    f" {mode}, and is set back. It may have acted without asking you.",
                    each_time=True,
                )

    async def _note_unasking_mode(self, mode: ExecutionMode) -> None:
        """Say that the mode is not known to ask and has no alternative; it is shown once."""
        if mode != "yolo" and self._choices.is_unasking(mode):
            name = clean_line(self._choices.mode_name)
            await self._note(describe_unasking_mode(self._link.name, name, mode))

    async def _set_back(self, mode: ExecutionMode) -> None:
        try:
            while self._left and (wanted := self._choices.way_back(mode)) is not None:
                self._left -= 1
                await self._select("mode", wanted)
        except SpinneyError as error:
            _log.warning("%s was not set back: %s", self._link.name, error.message)
        if self._choices.way_back(mode) is not None and self._link.is_turn_open:
            name = clean_line(self._choices.mode_name)
            await self._note(
                f"{self._link.name} does not leave its mode '{name}', in which it may act without"
                " asking you. The turn is stopped.",
                each_time=True,
            )
            await self._stop()

    async def _note(self, text: str, *, each_time: bool = False) -> None:
        await self._link.emit(ConversationNote(text, each_time=each_time))
