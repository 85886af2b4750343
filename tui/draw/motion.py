"""The timer that turns spinners and counts seconds where something visibly runs."""

from collections.abc import Callable

from textual.widget import Widget

from tui.draw.status_icons import FRAME_SECONDS


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
        self._per_second = round(1 / FRAME_SECONDS) if moves else 1
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
