"""A file's unified diff as rows, and the rows in two columns. Pure; made in a thread."""

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
"""Lines by which a row may have moved and still be the same."""
_SEARCHED: Final = 4_000
"""Rows before and after its place in which a row is looked for."""
_HEAD: Final = (
    "diff --git ", "index ", "--- ", "+++ ", "similarity ", "dissimilarity ", "old mode ",
)  # fmt: skip


class Heading(NamedTuple):
    """The line above a hunk."""

    hunk: int
    """Its place among the file's hunks."""
    text: str
    """Where it is, and what git says that it is in."""


class Note(NamedTuple):
    """What is to be said of the file besides its lines."""

    text: str


Row = DiffRow | Heading | Note
Pair = tuple[int, int]
"""Places of the rows that stand left and right in two columns; -1 for none, equal for both."""


@dataclass(frozen=True)
class DiffText:
    """The rows of a file's difference."""

    rows: Sequence[Row] = ()
    pairs: Sequence[Pair] = field(default=(), repr=False)
    """The same in two columns."""

    places: Sequence[int] = field(default=(), repr=False)
    """For each row the place of its pair."""
    heads: Sequence[int] = ()
    """The places of the hunks' headings."""

    def hunk_at(self, at: int) -> int | None:
        """The hunk that the row belongs to, by its place among the hunks; None: to none."""
        hunk = bisect_right(self.heads, at) - 1
        return hunk if hunk >= 0 else None

    def hunk_rows(self, hunk: int) -> list[DiffRow]:
        """The lines of a hunk."""
        rest = (*self.heads[hunk : hunk + 2], len(self.rows))
        return [row for row in self.rows[rest[0] : rest[1]] if isinstance(row, DiffRow)]

    def words(self, at: int) -> Ranges:
        """What differs in a row from the one beside it in two columns."""
        one, other = self.pairs[self.places[at]]
        if one == other or min(one, other) < 0:
            return ()
        old, new = self.rows[one], self.rows[other]
        if not isinstance(old, DiffRow) or not isinstance(new, DiffRow):
            return ()
        return changed_between(old.text, new.text)[at == other]

    def coloured(self, start: int, stop: int, path: str) -> list[CodeLine]:
        """The tokens of these rows of a file; those of headings and notes are empty."""
        coloured: list[CodeLine] = []
        # Lines are left out between hunks: a text that begins in one must not colour the next.
        for _, run in groupby(self.rows[start:stop], type):
            rows = list(run)
            lines = [
                DiffRow(row.sign, row.text[:LONGEST], row.old, row.new)
                for row in rows
                if isinstance(row, DiffRow)
            ]
            coloured += code_lines(lines, path) or [()] * len(rows)
        return coloured

    def place_near(self, row: Row | None, at: int) -> int:
        """Where this row, which was at `at`, is now; or the nearest one by its number."""
        if isinstance(row, Heading):
            return self.heads[min(row.hunk, len(self.heads) - 1)] if self.heads else 0
        if not isinstance(row, DiffRow):
            return 0
        first = max(0, min(at, len(self.rows)) - _SEARCHED)
        found = [
            (*_distance(row, other), place)
            for place, other in enumerate(self.rows[first : at + _SEARCHED], first)
            if isinstance(other, DiffRow)
        ]
        return min(found, default=(False, 0, 0))[2]


def diff_text(text: str) -> DiffText:
    """Read what git wrote about one file."""
    rows = list(_rows(text.removesuffix("\n").split("\n"))) if text else []
    heads = [at for at, row in enumerate(rows) if isinstance(row, Heading)]
    pairs = list(_pairs(rows))
    places = [0] * len(rows)
    for place, pair in enumerate(pairs):
        for at in pair:
            if at >= 0:
                places[at] = place
    return DiffText(rows, pairs, places, heads)


def _rows(lines: list[str]) -> Iterator[Row]:
    hunk, old, new = -1, 0, 0
    for at, line in enumerate(map(make_visible, lines)):
        sign = _SIGNS.get(line[:1])
        if hunk >= 0 and sign is not None:
            ends = lines[at + 1 : at + 2] == [_NO_LINE_BREAK] and sign != " "
            has_old, has_new = sign != "+", sign != "-"
            yield DiffRow(
                sign,
                line[1:],
                old if has_old else None,
                new if has_new else None,
                no_line_break=ends,
            )
            old, new = old + has_old, new + has_new
        elif found := _HUNK.match(line):
            hunk, old, new = hunk + 1, int(found[1]), int(found[2])
            yield Heading(hunk, f"line {new or old}  {found[3]}".rstrip())
        elif line == _NO_LINE_BREAK:
            continue
        elif note := _note(line, is_head=hunk < 0):
            yield Note(note)


def _distance(row: DiffRow, other: DiffRow) -> tuple[bool, int]:
    """How far a row is from what another one was: the same words win, unless they are far away."""
    lines = abs((row.new or row.old or 0) - (other.new or other.old or 0))
    is_same = (row.sign, row.text) == (other.sign, other.text) and lines <= NEAR
    return not is_same, lines


def _note(line: str, *, is_head: bool) -> str:
    if not is_head:
        return line.removeprefix("\\ ")
    if line.startswith("Binary files "):
        return "A binary file: its content is not shown."
    if line.startswith("new file mode 160000"):
        return "A submodule: another repository, by the commit that it stands at."
    if line.startswith("new file mode 120000"):
        return "A link; its text is where it leads."
    if line.startswith(_HEAD) or line == "new file mode 100644":
        return ""
    if line == "new file mode 100755":
        return "A new file that can be run."
    if line in ("new mode 100755", "new mode 100644"):
        return f"The file can {'now' if line.endswith('755') else 'no longer'} be run."
    if line.startswith("deleted file mode"):
        return "The file is deleted."
    return line.removeprefix("\\ ")


def _pairs(rows: Sequence[Row]) -> Iterator[Pair]:
    removed: list[int] = []
    added: list[int] = []
    for at, row in enumerate(rows):
        if isinstance(row, DiffRow) and row.sign == "+":
            added.append(at)
            continue
        if isinstance(row, DiffRow) and row.sign == "-" and not added:
            removed.append(at)
            continue
        yield from zip_longest(removed, added, fillvalue=-1)
        removed, added = [], []
        if isinstance(row, DiffRow) and row.sign == "-":
            removed.append(at)
        else:
            yield at, at
    yield from zip_longest(removed, added, fillvalue=-1)
