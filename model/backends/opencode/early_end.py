"""Ends turns early that the user stops, and that the program refuses or would repeat forever."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, Final

from model.backends import agent_events
from model.backends.channel import Channel
from model.backends.opencode import errors
from model.backends.opencode.inbox import TurnAborted
from model.backends.opencode.stop import TurnStopper
from model.backends.opencode.stream import OpenCodeStream

ABORT_TIMEOUT: Final = 1.5
"""Seconds that the user waits for a stop; if the program takes longer, the next turn waits."""

_MAX_EMPTY_RESPONSES: Final = 5
"""Consecutive empty responses after which the turn fails; the program would repeat its request
several times per second, forever (1.18.33)."""

_REFUSED_CHECKS: Final = 3
_REFUSED_INTERVAL: Final = 1.0
"""Seconds between two checks whether a turn starts despite an error: with a missing file it does,
with a broken image it does not (1.18.33)."""


class EarlyEnds:
    """Ends the turns of a conversation early; each end is reported as `TurnAborted`."""

    def __init__(
        self,
        stopper: TurnStopper,
        stream: OpenCodeStream,
        channel: Channel,
        read_busy: Callable[[], Awaitable[object]],
        report: Callable[[TurnAborted], None],
        run: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        """`read_busy` reads the program's busy conversations; `run` runs in the background."""
        self._stopper = stopper
        self._stream = stream
        self._channel = channel
        self._read_busy = read_busy
        self._report = report
        self._run = run
        self.turn = 0
        """The number of the turn, by which a late end is recognized."""
        self._given_up = -1

    @property
    def is_given_up(self) -> bool:
        """Whether the turn ends with a failure that is not reported yet.

        The program reports an end of it, too, which may be handled after the stop is over.
        """
        return self._given_up == self.turn

    @property
    def _is_stopping(self) -> bool:
        return self._channel.is_stopping or self._stopper.is_stopping

    async def abort(self, *, is_running: bool) -> None:
        """End the turn for the user; the program may take longer, if it is running."""
        turn = self.turn
        if is_running:
            await self._stopper.stop(ABORT_TIMEOUT)
        self._report(TurnAborted(turn))

    def check(self, status: str, kind: str, properties: Mapping[str, Any]) -> None:
        """End the turn if this event shows that the program will not."""
        if status == "retry":
            self._give_up(errors.give_up_failure(properties["status"]))
        if kind == "session.error" and not self._stream.has_started:
            self._run(self._end_refused())
        if self._stream.empty_responses >= _MAX_EMPTY_RESPONSES:
            self._give_up(errors.empty_failure(_MAX_EMPTY_RESPONSES))

    async def _end_refused(self) -> None:
        """End a turn that the program refused: after an error it sends no further events."""
        turn = self.turn
        for _ in range(_REFUSED_CHECKS):
            await asyncio.sleep(_REFUSED_INTERVAL)
            if turn != self.turn or self._stream.has_started or self._stopper.is_stopping:
                return
            busy = await self._read_busy()
            if not isinstance(busy, Mapping) or self._stream.session_id in busy:
                return
        if self._stream.error is not None:
            self._report(TurnAborted(turn, errors.turn_failure(self._stream.error)))

    def _give_up(self, failure: agent_events.TurnFailed | None) -> None:
        """End a turn in which the program would retry its provider for minutes."""
        if failure is not None and not self._is_stopping and not self.is_given_up:
            self._given_up = self.turn
            self._run(self._fail(failure))

    async def _fail(self, failure: agent_events.TurnFailed) -> None:
        turn = self.turn
        await self._stopper.stop()
        self._report(TurnAborted(turn, failure))
