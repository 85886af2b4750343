"""Spinners turn in step with the seconds, and more slowly where many of them are visible."""

from typing import Any, cast

import pytest
from rich.segment import Segment
from textual.strip import Strip

from tui.draw.motion import FRAMES, Motion


class Ticking:
    """A widget whose timer is moved by hand."""

    def __init__(self) -> None:
        self.is_paused = False

    def set_interval(self, interval: float, tick: Any, *, pause: bool) -> "Ticking":
        self.tick = tick
        return self

    def pause(self) -> None:
        self.is_paused = True

    def resume(self) -> None:
        self.is_paused = False


@pytest.mark.parametrize(
    ("rows", "moves", "frames", "seconds"),
    [
        (1, True, 64, 8),
        (4, True, 32, 8),
        (16, True, 8, 8),
        (20, True, 4, 4),
        (500, True, 4, 4),
        (1, False, 8, 8),
        (20, False, 4, 4),
    ],
)
def test_in_eight_seconds(rows: int, moves: bool, frames: int, seconds: int) -> None:
    drawn: list[str] = []
    widget = Ticking()

    def turn() -> int:
        drawn.append("frame")
        return rows

    Motion(cast("Any", widget), turn, lambda: drawn.append("second"), moves=moves)
    ticks = 8 if moves else 1
    for _ in range(2 * ticks):
        widget.tick()  # until the pace is found
    drawn.clear()
    for _ in range(8 * ticks):
        widget.tick()
    assert (drawn.count("frame"), drawn.count("second")) == (frames, seconds)


def test_it_rests_while_nothing_is_visible() -> None:
    widget = Ticking()
    motion = Motion(cast("Any", widget), lambda: 0, lambda: None, moves=True)
    motion.wake()
    widget.tick()
    assert widget.is_paused


def test_only_the_icon_of_what_runs_is_replaced() -> None:
    motion = Motion(cast("Any", Ticking()), lambda: 1, lambda: None, moves=True)
    row = Strip([Segment("◐ "), Segment("a name with ◐")])
    assert motion.draw(row).text == f"{FRAMES[0]} a name with ◐"
