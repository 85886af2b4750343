"""Positions in a diff as it is drawn: rows in one column or two, notes, cursor, marked lines."""

from collections.abc import Sequence

from model.richtext.diff_rows import DiffRow
from model.richtext.diff_text import DiffText, Row
from tui.diff.notes import Note
from tui.diff.rows import RowLayout, Stop


class Positions:
    """The part of a diff view that knows no widget.

    A *drawn row* is a row of the text, or with two columns a pair of them.
    """

    def __init__(self) -> None:
        self.text = DiffText()
        self.is_split = False
        self.here = 0
        """The index of the cursor's drawn row."""
        self.note_here: int | None = None
        """The note that the cursor is on, below its row."""
        self.notes: Sequence[Note] = ()
        """Notes in the order in which they stand."""
        self.layout_of_rows = RowLayout(0)
        self.marked_from: int | None = None
        """The drawn row where the marked lines begin; they end at the cursor."""

    @property
    def stop(self) -> Stop:
        """The place of the cursor."""
        return Stop(self.here, self.note_here)

    @property
    def cursor_row(self) -> int:
        """The line of the cursor, among all lines that are drawn."""
        return self.layout_of_rows.y_of(self.stop)

    @property
    def at(self) -> int:
        """The index of the cursor's row in the text; of a pair, the new row."""
        return self.text_index(self.here)

    def text_index(self, row_index: int) -> int:
        """The index in the text of a drawn row."""
        if not self.is_split or row_index >= len(self.text.pairs):
            return row_index
        return max(self.text.pairs[row_index])

    def drawn_index(self, at: int) -> int:
        """The index of the drawn row of a row of the text."""
        if not self.is_split:
            return at
        return self.text.pair_indices[at] if at < len(self.text.pair_indices) else 0

    @property
    def row(self) -> Row | None:
        """The cursor's row."""
        return self.text.rows[self.at] if self.at < len(self.text.rows) else None

    @property
    def line(self) -> DiffRow | None:
        """The line under the cursor, if it is one."""
        return self.row if isinstance(self.row, DiffRow) else None

    @property
    def hunk(self) -> int | None:
        """The index of the hunk at the cursor."""
        return self.text.hunk_at(self.at) if self.text.rows else None

    @property
    def count(self) -> int:
        """The number of drawn rows."""
        return len(self.text.pairs if self.is_split else self.text.rows)

    @property
    def file_line(self) -> int:
        """The number of the cursor's line in the file as it is now; 1 if that is unknown."""
        rows = self.text.rows
        after = (row for row in rows[self.at :] if isinstance(row, DiffRow) and row.new)
        before = (row for row in rows[self.at :: -1] if isinstance(row, DiffRow) and row.new)
        found = next(after, None) or next(before, None)
        return (found.new or 1) if found is not None else 1

    @property
    def marked(self) -> range:
        """The indexes of the marked rows in the text, of both columns."""
        if self.marked_from is None:
            return range(0)
        ends = sorted((self.marked_from, self.here))
        if not self.is_split:
            return range(ends[0], ends[1] + 1)
        pairs = self.text.pairs[ends[0] : ends[1] + 1]
        row_indexes = [at for pair in pairs for at in pair if at >= 0]
        return range(min(row_indexes), max(row_indexes) + 1)

    @property
    def marked_rows(self) -> list[DiffRow]:
        """The marked lines."""
        rows = (self.text.rows[at] for at in self.marked)
        return [row for row in rows if isinstance(row, DiffRow)]

    def lines_around(self, row_index: int) -> range:
        """The drawn lines of the hunk at a drawn row."""
        hunk = self.text.hunk_at(self.text_index(row_index)) if self.text.rows else None
        if hunk is None:
            return range(0)
        headings = self.text.heading_indices
        ends = [self.drawn_index(at) for at in headings[hunk + 1 : hunk + 2]]
        return range(self.drawn_index(headings[hunk]) + 1, *(ends or [self.count]))

    @property
    def first_stop(self) -> int:
        """The drawn row of the first hunk's heading."""
        headings = self.text.heading_indices
        return self.drawn_index(headings[0]) if headings else 0

    @property
    def note_under_cursor(self) -> Note | None:
        """The note that the cursor is on."""
        is_on_one = self.note_here is not None and self.note_here < len(self.notes)
        return self.notes[self.note_here] if is_on_one and self.note_here is not None else None

    def note_row(self, note: Note) -> int:
        """The drawn row that a note stands below."""
        return self.drawn_index(note.places[-1])
