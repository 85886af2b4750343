"""The spinner, and the timer that turns it and counts seconds where something visibly runs."""

import time
from collections.abc import Callable
from typing import Final

from textual.widget import Widget

from tui.draw.status_icons import StatusIcon

FRAMES: Final = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
"""The spinner, which replaces the icon of what runs."""
_FRAME_SECONDS: Final = 0.125


def turn(text: str) -> str:
    """Put the spinner's present frame in place of the icon; all spinners turn together."""
    frame = FRAMES[int(time.monotonic() / _FRAME_SECONDS) % len(FRAMES)]
    return text.replace(StatusIcon.RUNNING.symbol, frame)


class Motion:
    """Calls `turn` for each frame and `count` once a second, until `turn` says nothing is visible.

    `moves`: whether there are spinners; without them it wakes up only once a second.
    """

    def __init__(
        self,
        widget: Widget,
        turn: Callable[[], bool],
        count: Callable[[], object],
        *,
        moves: bool,
    ) -> None:
        self._turn = turn
        self._count = count
        self._frames = 0
        self._per_second = round(1 / _FRAME_SECONDS) if moves else 1
        self._timer = widget.set_interval(1 / self._per_second, self._next, pause=True)

    def wake(self) -> None:
        """Go on: something runs, or may have become visible."""
        self._timer.resume()

    def _next(self) -> None:
        if not self._turn():
            self._timer.pause()
            return
        self._frames += 1
        if self._frames % self._per_second == 0:
            self._count()
