"""A cache of rows with all line filters applied, for the rows that are visible.

A row that only moved is returned as the same object, for which Textual has cached its results.
Textual's own path through a widget's `render_line` costs three times as much when streamed text
moves every row.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter
from textual.strip import Strip

CAPACITY: Final = 300
"""Cached rows; more than a screen has."""


class StripCache:
    """Filtered rows by their unfiltered rows."""

    def __init__(self) -> None:
        self._strips: dict[int, tuple[Strip, Strip]] = {}
        """By identity; a reference to the row keeps its identity unique."""
        self._filters: tuple[LineFilter, ...] = ()
        self._background: Color | None = None

    def get(
        self, rows: Iterable[Strip], filters: Sequence[LineFilter], background: Color
    ) -> list[Strip]:
        """Return the rows with the filters applied, on the background color."""
        strips = self._strips
        if background != self._background or tuple(filters) != self._filters:
            strips.clear()
            self._filters, self._background = tuple(filters), background
        filtered = []
        for row in rows:
            cached = strips.get(id(row))
            if cached is None:
                cached = strips[id(row)] = (row, self._apply_filters(row, background))
            filtered.append(cached[1])
        while len(strips) > CAPACITY:
            del strips[next(iter(strips))]
        return filtered

    def _apply_filters(self, row: Strip, background: Color) -> Strip:
        segments: list[Segment] = list(row)
        for line_filter in self._filters:
            segments = line_filter.apply(segments, background)
        return Strip(segments, row.cell_length)
