"""Spinners that turn and seconds that are counted, where something visibly runs."""

from collections.abc import Callable
from typing import Final

from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from tui.draw.status_icons import StatusIcon

FRAMES: Final = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
"""The spinner, which replaces the icon of what runs."""
TICKS: Final = 8
"""Frames a second of a single spinner."""
ROWS_A_SECOND: Final = 16
"""Rows drawn in a second: the more run, the slower all spinners turn."""
SLOWEST: Final = 2
"""Seconds from one frame to the next, at most."""


class Motion:
    """Calls `turn` for each frame and `count` for each second, until nothing is visible.

    `turn` draws the rows with spinners and returns how many there are. `moves`: whether spinners
    turn; without it, it wakes up only once a second. Where many run, both happen less often.
    """

    def __init__(
        self,
        widget: Widget,
        turn: Callable[[], int],
        count: Callable[[], object],
        *,
        moves: bool,
    ) -> None:
        self._turn = turn
        self._count = count
        self._ticks = 0
        self._frame = 0
        self._pause = 1
        """Ticks from one frame to the next."""
        self._per_second = TICKS if moves else 1
        self._timer = widget.set_interval(1 / self._per_second, self._next, pause=True)

    def wake(self) -> None:
        """Go on: something runs, or may have become visible."""
        self._timer.resume()

    def draw(self, row: Strip) -> Strip:
        """The row with the spinner's present frame in place of the icon of what runs."""
        frame, icon = FRAMES[self._frame % len(FRAMES)], StatusIcon.RUNNING.symbol
        return Strip(
            [
                Segment(text.replace(icon, frame), style) if text.strip() == icon else part
                for part in row
                for text, style, _ in [part]
            ],
            row.cell_length,
        )

    def _next(self) -> None:
        self._ticks += 1
        if self._ticks % self._pause:
            return
        self._frame += 1
        rows = self._turn()
        if not rows:
            self._timer.pause()
        elif self._ticks % self._per_second == 0:
            self._count()
        self._pause = 1
        while self._pause < self._per_second * min(rows / ROWS_A_SECOND, SLOWEST):
            self._pause *= 2  # so that a frame falls on a full second
