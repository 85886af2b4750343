"""Sequences of rows; rows of long texts are packed to a tenth of their size while off screen."""

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

CHUNK_ROWS: Final = 256
"""Rows that are packed and unpacked together."""
_MAX_UNPACKED: Final = 2
"""Unpacked chunks that are cached: one screen spans at most two."""


class RowSequence(Sequence[Strip]):
    """A sequence of rows; subclasses implement `at` and `__len__`."""

    def at(self, index: int) -> Strip:
        """The row at a non-negative index below the length."""
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


class ConcatenatedRows(RowSequence):
    """A concatenation of sequences, each with the length that it had when they were joined."""

    def __init__(self, columns: Iterable[Sequence[Strip]]) -> None:
        self._columns = [column for column in columns if len(column)]
        self._ends = list(accumulate(map(len, self._columns)))

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def at(self, index: int) -> Strip:
        """The row at a non-negative index below the length."""
        chunk = bisect_right(self._ends, index)
        return self._columns[chunk][index - (self._ends[chunk - 1] if chunk else 0)]


class PackedRows(RowSequence):
    """An append-only sequence of rows that packs all but the last few."""

    def __init__(self) -> None:
        self._packed: list[_Chunk] = []
        self._tail: list[Strip] = []
        self._unpacked: OrderedDict[int, list[Strip]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._packed) * CHUNK_ROWS + len(self._tail)

    def __iadd__(self, rows: Iterable[Strip]) -> "PackedRows":
        self._tail += rows
        full = len(self._tail) - len(self._tail) % CHUNK_ROWS
        self._packed += (
            _Chunk(self._tail[at : at + CHUNK_ROWS]) for at in range(0, full, CHUNK_ROWS)
        )
        del self._tail[:full]
        return self

    def at(self, index: int) -> Strip:
        """The row at a non-negative index below the length."""
        chunk, row = divmod(index, CHUNK_ROWS)
        if chunk == len(self._packed):
            return self._tail[row]
        rows_of_chunk = self._unpacked.get(chunk)
        if rows_of_chunk is None:
            rows_of_chunk = self._unpacked[chunk] = self._packed[chunk].rows()
            if len(self._unpacked) > _MAX_UNPACKED:
                self._unpacked.popitem(last=False)
        self._unpacked.move_to_end(chunk)
        return rows_of_chunk[row]


class _Chunk:
    """Rows stored as one text, with the length and style of each segment."""

    __slots__ = ("_counts", "_lengths", "_style_indexes", "_styles", "_text", "_widths")

    def __init__(self, rows: Sequence[Strip]) -> None:
        segments = [segment for row in rows for segment in row]
        styles: dict[Style | None, int] = {}
        # As a `str`, one wide character would make the whole text four times as large.
        self._text = "".join(piece.text for piece in segments).encode("utf-8", "surrogatepass")
        self._lengths = array("I", (len(piece.text) for piece in segments))
        self._style_indexes = array(
            "I", (styles.setdefault(p.style, len(styles)) for p in segments)
        )
        self._styles = tuple(styles)
        self._counts = array("I", map(len, rows))
        self._widths = array("I", (row.cell_length for row in rows))

    def rows(self) -> list[Strip]:
        """The unpacked rows."""
        text = self._text.decode("utf-8", "surrogatepass")
        ends = accumulate(self._lengths)
        segments = (
            Segment(text[end - length : end], self._styles[context])
            for length, end, context in zip(self._lengths, ends, self._style_indexes, strict=True)
        )
        each = zip(self._counts, self._widths, strict=True)
        return [Row(list(islice(segments, count)), width) for count, width in each]
