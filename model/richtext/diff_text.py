"""Parses a file's unified diff into rows, and pairs the rows in two columns. Runs in a thread."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, zip_longest
from typing import Final, NamedTuple

from model.base.text import make_visible
from model.richtext.blocks import CodeLine
from model.richtext.diff_rows import LONGEST, DiffRow, Ranges, Sign, changed_between, code_lines

_HUNK: Final = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)")
_SIGNS: Final[dict[str, Sign]] = {" ": " ", "+": "+", "-": "-"}
_NO_LINE_BREAK: Final = "\\ No newline at end of file"
NEAR: Final = 200
"""Lines by which a row may have moved and still count as the same."""
_SEARCHED: Final = 4_000
"""Rows before and after its old index in which a row is searched."""
_HEADER_LINES: Final = (
    "diff --git ", "index ", "--- ", "+++ ", "similarity ", "dissimilarity ", "old mode ",
)  # fmt: skip


class Heading(NamedTuple):
    """The line above a hunk."""

    hunk: int
    """Its index among the file's hunks."""
    text: str
    """Its line number, and the enclosing section that git names."""


class Note(NamedTuple):
    """A statement about the file itself, such as a changed mode."""

    text: str


Row = DiffRow | Heading | Note
Pair = tuple[int, int]
"""Indices of the rows in the left and right column; -1 for none, equal for a row in both."""


@dataclass(frozen=True)
class DiffText:
    """The rows of a file's diff."""

    rows: Sequence[Row] = ()
    pairs: Sequence[Pair] = field(default=(), repr=False)
    """The rows in two columns."""

    places: Sequence[int] = field(default=(), repr=False)
    """For each row the index of its pair."""
    heads: Sequence[int] = ()
    """The indices of the hunks' headings."""

    def hunk_at(self, at: int) -> int | None:
        """The index of the hunk that contains the row; `None` if it is in none."""
        hunk = bisect_right(self.heads, at) - 1
        return hunk if hunk >= 0 else None

    def hunk_rows(self, hunk: int) -> list[DiffRow]:
        """The lines of a hunk."""
        start, stop, *_ = (*self.heads[hunk : hunk + 2], len(self.rows))
        return [row for row in self.rows[start:stop] if isinstance(row, DiffRow)]

    def words(self, at: int) -> Ranges:
        """The ranges in which a row differs from the other row of its pair."""
        left, right = self.pairs[self.places[at]]
        if left == right or min(left, right) < 0:
            return ()
        old, new = self.rows[left], self.rows[right]
        if not isinstance(old, DiffRow) or not isinstance(new, DiffRow):
            return ()
        return changed_between(old.text, new.text)[at == right]

    def coloured(self, start: int, stop: int, path: str) -> list[CodeLine]:
        """Highlight these rows of the file at `path`; headings and notes have no tokens."""
        highlighted: list[CodeLine] = []
        # Lines are missing between hunks: a string that begins in one must not affect the next.
        for _, run in groupby(self.rows[start:stop], type):
            rows = list(run)
            lines = [
                DiffRow(row.sign, row.text[:LONGEST], row.old, row.new)
                for row in rows
                if isinstance(row, DiffRow)
            ]
            highlighted += code_lines(lines, path) or [()] * len(rows)
        return highlighted

    def place_near(self, row: Row | None, at: int) -> int:
        """The current index of `row`, which was at `at`; or of the row nearest by line number."""
        if isinstance(row, Heading):
            return self.heads[min(row.hunk, len(self.heads) - 1)] if self.heads else 0
        if not isinstance(row, DiffRow):
            return 0
        first = max(0, min(at, len(self.rows)) - _SEARCHED)
        candidates = [
            (*_distance(row, other), index)
            for index, other in enumerate(self.rows[first : at + _SEARCHED], first)
            if isinstance(other, DiffRow)
        ]
        return min(candidates, default=(False, 0, 0))[2]


def diff_text(text: str) -> DiffText:
    """Parse git's diff of one file."""
    rows = list(_rows(text.removesuffix("\n").split("\n"))) if text else []
    heads = [index for index, row in enumerate(rows) if isinstance(row, Heading)]
    pairs = list(_pairs(rows))
    pair_indices = [0] * len(rows)
    for pair_index, pair in enumerate(pairs):
        for index in pair:
            if index >= 0:
                pair_indices[index] = pair_index
    return DiffText(rows, pairs, pair_indices, heads)


def _rows(lines: list[str]) -> Iterator[Row]:
    hunk, old, new = -1, 0, 0
    for index, line in enumerate(map(make_visible, lines)):
        sign = _SIGNS.get(line[:1])
        if hunk >= 0 and sign is not None:
            no_line_break = lines[index + 1 : index + 2] == [_NO_LINE_BREAK] and sign != " "
            has_old, has_new = sign != "+", sign != "-"
            yield DiffRow(
                sign,
                line[1:],
                old if has_old else None,
                new if has_new else None,
                no_line_break=no_line_break,
            )
            old, new = old + has_old, new + has_new
        elif match := _HUNK.match(line):
            hunk, old, new = hunk + 1, int(match[1]), int(match[2])
            yield Heading(hunk, f"line {new or old}  {match[3]}".rstrip())
        elif line == _NO_LINE_BREAK:
            continue
        elif note := _note(line, is_head=hunk < 0):
            yield Note(note)


def _distance(row: DiffRow, other: DiffRow) -> tuple[bool, int]:
    """Sort key for how well a row matches another: equal text first, unless it is far away."""
    lines = abs((row.new or row.old or 0) - (other.new or other.old or 0))
    is_same = (row.sign, row.text) == (other.sign, other.text) and lines <= NEAR
    return not is_same, lines


def _note(line: str, *, is_head: bool) -> str:
    if not is_head:
        return line.removeprefix("\\ ")
    if line.startswith("Binary files "):
        return "A binary file: its content is not shown."
    if line.startswith("new file mode 160000"):
        return "A submodule: another repository at a fixed commit."
    if line.startswith("new file mode 120000"):
        return "A symbolic link; its content is the path that it points to."
    if line.startswith(_HEADER_LINES) or line == "new file mode 100644":
        return ""
    if line == "new file mode 100755":
        return "A new executable file."
    if line in ("new mode 100755", "new mode 100644"):
        return f"The file is {'now' if line.endswith('755') else 'no longer'} executable."
    if line.startswith("deleted file mode"):
        return "The file was deleted."
    return line.removeprefix("\\ ")


def _pairs(rows: Sequence[Row]) -> Iterator[Pair]:
    removed: list[int] = []
    added: list[int] = []
    for index, row in enumerate(rows):
        if isinstance(row, DiffRow) and row.sign == "+":
            added.append(index)
            continue
        if isinstance(row, DiffRow) and row.sign == "-" and not added:
            removed.append(index)
            continue
        yield from zip_longest(removed, added, fillvalue=-1)
        removed, added = [], []
        if isinstance(row, DiffRow) and row.sign == "-":
            removed.append(index)
        else:
            yield index, index
    yield from zip_longest(removed, added, fillvalue=-1)
