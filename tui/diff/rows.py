"""Where rows stand on the screen when notes of several lines stand between them."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple


class Stop(NamedTuple):
    """A place where the cursor can stand: a row, or a note below it."""

    row: int
    note: int | None = None
    """The note's index, of all."""


class RowLayout:
    """Rows of one line each, with notes below some of them.

    Args:
        rows: The number of rows.
        notes: For each note the row above it and its height, sorted by row.
    """

    def __init__(self, rows: int, notes: Sequence[tuple[int, int]] = ()) -> None:
        self.rows = rows
        self._above = [row for row, _ in notes]
        self._heights = [height for _, height in notes]
        self._before = [0, *accumulate(self._heights)]
        """The lines of all notes before each one."""
        self._tops = [
            row + 1 + before for row, before in zip(self._above, self._before, strict=False)
        ]

    @property
    def height(self) -> int:
        """The number of lines of all rows and notes."""
        return self.rows + self._before[-1]

    def y_of(self, stop: Stop) -> int:
        """The line of a row, or the first line of a note."""
        if stop.note is not None and stop.note < len(self._tops):
            return self._tops[stop.note]
        return stop.row + self._before[bisect_left(self._above, stop.row)]

    def height_of(self, stop: Stop) -> int:
        """The number of lines of a row or note."""
        is_note = stop.note is not None and stop.note < len(self._heights)
        return self._heights[stop.note] if is_note and stop.note is not None else 1

    def stop_at(self, y: int) -> tuple[Stop, int]:
        """The row or note at a line, and which of its lines that is."""
        note = bisect_right(self._tops, y) - 1
        if note >= 0 and y < self._tops[note] + self._heights[note]:
            return Stop(self._above[note], note), y - self._tops[note]
        return Stop(y - self._before[note + 1]), 0
