"""Rows as a terminal gets them: with the filters of every row, and kept while they are in sight.

A row that has only moved is handed on as the same object, for which all that Textual makes of a row
is made already. Its own way through a widget's `render_line` costs three times as much where a
stream moves every row.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter
from textual.strip import Strip

KEPT: Final = 300
"""Rows that are remembered; more than a screen has."""


class FinishedRows:
    """What was made of rows, by the rows themselves."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[Strip, Strip]] = {}
        """By identity; the row is held, so that its identity stays its own."""
        self._filters: tuple[LineFilter, ...] = ()
        self._ground: Color | None = None

    def of(
        self, rows: Iterable[Strip], filters: Sequence[LineFilter], ground: Color
    ) -> list[Strip]:
        """The rows after these filters, on this ground."""
        made = self._made
        if ground != self._ground or tuple(filters) != self._filters:
            made.clear()
            self._filters, self._ground = tuple(filters), ground
        finished = []
        for row in rows:
            known = made.get(id(row))
            if known is None:
                known = made[id(row)] = (row, self._finish(row, ground))
            finished.append(known[1])
        while len(made) > KEPT:
            del made[next(iter(made))]
        return finished

    def _finish(self, row: Strip, ground: Color) -> Strip:
        segments: list[Segment] = list(row)
        for line_filter in self._filters:
            segments = line_filter.apply(segments, ground)
        return Strip(segments, row.cell_length)
