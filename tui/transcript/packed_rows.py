"""Columns of rows: those of a long text take a tenth of the room while nobody looks at them."""

from array import array
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from itertools import accumulate, islice
from typing import Final, overload

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from tui.terminal.textual_internals import Row

STRETCH: Final = 256
"""Rows that are put away, and brought back, together."""
_LOOKED_AT: Final = 2
"""Stretches that stay as they were brought back: one screen reaches into two."""


class Column(Sequence[Strip]):
    """Rows one after another; `at` and `__len__` are what differs."""

    def at(self, index: int) -> Strip:
        """The row at an index from 0 up to the length."""
        raise NotImplementedError

    @overload
    def __getitem__(self, index: int) -> Strip: ...
    @overload
    def __getitem__(self, index: slice) -> list[Strip]: ...
    def __getitem__(self, index: int | slice) -> Strip | list[Strip]:
        if isinstance(index, slice):
            return [self.at(each) for each in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(index)
        return self.at(index % len(self))


class Joined(Column):
    """Columns one below the other, each as long as it was when they were joined."""

    def __init__(self, columns: Iterable[Sequence[Strip]]) -> None:
        self._columns = [column for column in columns if len(column)]
        self._ends = list(accumulate(map(len, self._columns)))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def at(self, index: int) -> Strip:
        """As in every column."""
        which = bisect_right(self._ends, index)
        return self._columns[which][index - (self._ends[which - 1] if which else 0)]


class Packed(Column):
    """Rows that only become more; all but the last few are put away."""

    def __init__(self) -> None:
        self._away: list[_Stretch] = []
        self._last: list[Strip] = []
        self._seen: OrderedDict[int, list[Strip]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._away) * STRETCH + len(self._last)

    def __iadd__(self, rows: Iterable[Strip]) -> "Packed":
        self._last += rows
        full = len(self._last) - len(self._last) % STRETCH
        self._away += (_Stretch(self._last[at : at + STRETCH]) for at in range(0, full, STRETCH))
        del self._last[:full]
        return self

    def at(self, index: int) -> Strip:
        """As in every column."""
        which, row = divmod(index, STRETCH)
        if which == len(self._away):
            return self._last[row]
        seen = self._seen.get(which)
        if seen is None:
            seen = self._seen[which] = self._away[which].rows()
            if len(self._seen) > _LOOKED_AT:
                self._seen.popitem(last=False)
        self._seen.move_to_end(which)
        return seen[row]


class _Stretch:
    """Rows as one text, with where each piece of it ends and how it looks."""

    __slots__ = ("_lengths", "_looks", "_pieces", "_styles", "_text", "_widths")

    def __init__(self, rows: Sequence[Strip]) -> None:
        pieces = [segment for row in rows for segment in row]
        styles: dict[Style | None, int] = {}
        # One wide character would make all of a text four times as large.
        self._text = "".join(piece.text for piece in pieces).encode("utf-8", "surrogatepass")
        self._lengths = array("I", (len(piece.text) for piece in pieces))
        self._looks = array("I", (styles.setdefault(p.style, len(styles)) for p in pieces))
        self._styles = tuple(styles)
        self._pieces = array("I", map(len, rows))
        self._widths = array("I", (row.cell_length for row in rows))

    def rows(self) -> list[Strip]:
        """They, made again."""
        text = self._text.decode("utf-8", "surrogatepass")
        ends = accumulate(self._lengths)
        pieces = (
            Segment(text[end - length : end], self._styles[look])
            for length, end, look in zip(self._lengths, ends, self._looks, strict=True)
        )
        each = zip(self._pieces, self._widths, strict=True)
        return [Row(list(islice(pieces, count)), width) for count, width in each]
