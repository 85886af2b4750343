"""Computes short output that changes a terminal from showing one screen to showing another.

Only cells that differ are written, with only the changes of the pen; blanks are erased if the
terminal erases in color, and rows that have moved are scrolled.
"""

import operator
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Final, NamedTuple

from tui.terminal.cells import CONTINUED, Cells, has_known_width
from tui.terminal.sgr import PLAIN, Pen, change

_MAX_GAP: Final = 4
"""Gaps of up to this many unchanged cells are written: moving the cursor costs as many bytes."""
_RUN: Final = re.compile(b"\x01+")
_INNER_BLANKS: Final = re.compile(" {9,}")
"""Blanks worth erasing: erasing them and moving on costs eight bytes."""
_END_BLANKS: Final = re.compile(" {9,}| {4,}$")
"""The same at the end of a row."""
_MIN_MOVED_ROWS: Final = 3
"""Minimum number of rows that moved by the same distance for scrolling."""
_SCROLLBAR_COLUMNS: Final = 4
"""Columns at the right that are ignored when looking for moved rows: the scroll bar is there."""
_ERASE_IN_COLOR: Final = (
    "xterm", "tmux", "alacritty", "foot", "rxvt", "linux", "konsole", "vte", "st-", "kitty",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """Options for the output."""

    erases: bool = True
    """Whether the terminal draws erased cells in the background color."""
    whole_words: bool = False
    """Whether changed words are written completely: a screen reader reads what is written."""

    @classmethod
    def from_environ(
        cls, environ: Mapping[str, str], *, whole_words: bool = False
    ) -> "WriteOptions":
        """The options for the environment's terminal."""
        # terminfo is not used: on some systems its `screen` entry describes tmux.
        term = environ.get("TERM", "")
        erases = term.startswith(_ERASE_IN_COLOR) or "-bce" in term or bool(environ.get("TMUX"))
        return cls(erases, whole_words)


class _Scroll(NamedTuple):
    """A range of rows that moves up, or down if `rows` is negative."""

    top: int
    bottom: int
    rows: int


def diff_frames(
    shown: Cells,
    wanted: Cells,
    options: WriteOptions,
    *,
    cursor_row: int = -1,
    limit: int | None = None,
) -> str:
    """Return the output that changes `shown` to `wanted`, two screens of the same size.

    It starts and ends with a plain pen and leaves the cursor anywhere. `shown` is updated to what
    the terminal shows afterwards. With a `limit`, the row of the cursor is written first, and no
    row starts after this many characters.
    """
    rows = [y for y in range(wanted.height) if not _is_equal(shown, wanted, y)]
    if not rows:
        return ""
    writer = _Writer(shown.view(), wanted, options, cursor_row)
    if len(rows) >= _MIN_MOVED_ROWS and (scroll := _find_scroll(shown, wanted, rows)):
        moved = shown.view()
        moved.scroll(*scroll)
        if _count_differing(moved, wanted) < _count_differing(shown, wanted):
            writer.scroll(scroll)
    writer.write(range(wanted.height), cursor_first=limit is not None)
    return writer.finish(shown, limit)


def _count_differing(old: Cells, new: Cells) -> int:
    """The number of cells with different text."""
    pairs = ((a, b) for a, b in zip(old.text, new.text, strict=True) if a != b)
    return sum(sum(map(operator.ne, a, b)) for a, b in pairs)


def _is_equal(shown: Cells, wanted: Cells, y: int) -> bool:
    return shown.text[y] == wanted.text[y] and shown.pens[y] == wanted.pens[y]


def _find_scroll(old: Cells, new: Cells, changed: list[int]) -> _Scroll | None:
    """The most common distance that changed rows have moved by, with their range."""
    columns = slice(_first_column(old, new, changed), new.width - _SCROLLBAR_COLUMNS)
    rows_by_text: dict[str, list[int]] = {}
    for y, text in enumerate(old.text):
        rows_by_text.setdefault("".join(text[columns]), []).append(y)
    rows_by_distance: dict[int, list[int]] = {}
    for y in changed:
        row = "".join(new.text[y][columns])
        old_rows = rows_by_text.get(row, ()) if row.strip() else ()
        if len(old_rows) == 1 and old_rows[0] != y:
            rows_by_distance.setdefault(old_rows[0] - y, []).append(y)
    rows, moved_rows = max(rows_by_distance.items(), key=lambda item: len(item[1]), default=(0, []))
    if len(moved_rows) < _MIN_MOVED_ROWS:
        return None
    return _Scroll(min(moved_rows) + min(rows, 0), max(moved_rows) + max(rows, 0) + 1, rows)


def _first_column(old: Cells, new: Cells, changed: list[int]) -> int:
    """The leftmost column that differs in several rows; cells to its left have not moved."""
    first = Counter(
        next(
            (x for x, (a, b) in enumerate(zip(old.text[y], new.text[y], strict=True)) if a != b), 0
        )
        for y in changed
    )
    return min((x for x, rows in first.items() if rows >= _MIN_MOVED_ROWS), default=0)


class _Row(NamedTuple):
    """The output for one row, and the pen after it."""

    y: int
    written: str
    pen: Pen


class _Writer:
    """Writes rows, and tracks the cursor and the pen."""

    def __init__(self, shown: Cells, wanted: Cells, options: WriteOptions, cursor_row: int) -> None:
        self._shown = shown
        self._wanted = wanted
        self._options = options
        self._cursor_row = cursor_row
        self._before = ""
        self._rows: list[_Row] = []
        self._out: list[str] = []
        self._pen = PLAIN
        self._x = self._y = -1
        """The cursor position; -1 if unknown."""

    def scroll(self, scroll: _Scroll) -> None:
        """Scroll a range of rows. Line feeds work in every terminal, `SU` does not."""
        top, bottom, rows = scroll
        start, step = (bottom, "\n") if rows > 0 else (top + 1, "\x1bM")
        self._before = f"\x1b[{top + 1};{bottom}r\x1b[{start};1H{step * abs(rows)}\x1b[r"
        self._shown.scroll(top, bottom, rows)

    def write(self, rows: Iterable[int], *, cursor_first: bool) -> None:
        """Write the differences in these rows."""
        for y in sorted(rows, key=lambda y: y != self._cursor_row) if cursor_first else rows:
            if not _is_equal(self._shown, self._wanted, y):
                for start, end in self._spans(y):
                    self._write_span(y, start, end)
                self._rows.append(_Row(y, "".join(self._out), self._pen))
                self._out.clear()

    def finish(self, shown: Cells, limit: int | None) -> str:
        """Return the output up to the limit, ending with a plain pen, and update `shown`."""
        written, pen = self._before, PLAIN
        shown.text, shown.pens = self._shown.text, self._shown.pens
        for row in self._rows:
            if limit is not None and len(written) > limit:
                break
            written, pen = written + row.written, row.pen
            shown.copy_row(row.y, self._wanted)
        return written + change(pen, PLAIN)

    def _spans(self, y: int) -> list[tuple[int, int]]:
        """The spans of a row to write; spans with small gaps are joined."""
        old, text = self._shown.text[y], self._wanted.text[y]
        other_text = map(operator.ne, old, text)
        other_pens = map(operator.is_not, self._shown.pens[y], self._wanted.pens[y])
        runs = _find_runs(bytes(map(operator.or_, other_text, other_pens)))
        if not (
            has_known_width("".join(old), len(old)) and has_known_width("".join(text), len(text))
        ):
            # After such a character the terminal may show shifted cells.
            runs = [(runs[0][0], len(text))]
        has_whole_words = self._options.whole_words and y != self._cursor_row
        find_span = _word_span if has_whole_words else _letter_span
        spans: list[tuple[int, int]] = []
        for first, behind in runs:
            start, end = find_span(text, first)[0], find_span(text, behind - 1)[1]
            if spans and (start <= spans[-1][1] or self._is_joined(y, spans[-1][1], start)):
                start = spans.pop()[0]
            spans.append((start, end))
        return spans

    def _is_joined(self, y: int, end: int, start: int) -> bool:
        """Whether writing the gap between two spans is cheaper than skipping it."""
        text, pens = self._wanted.text[y], self._wanted.pens[y]
        last = pens[end - 1]
        return start - end <= _MAX_GAP and all(
            _pen_for(text[x], pens[x], last) is last for x in range(end, start)
        )

    def _write_span(self, y: int, start: int, end: int) -> None:
        text, pens = self._wanted.text[y], self._wanted.pens[y]
        x = start
        for pen, behind in _find_pens(text[start:end], pens[start:end], self._pen):
            cells = text[x : start + behind]
            can_erase = self._options.erases and pen.is_erasing
            for piece, width in _pieces(cells, can_erase, x + len(cells) == len(text)):
                self._move(x, y)
                self._out.append(change(self._pen, pen))
                self._pen = pen
                x += width
                if not piece:
                    self._out.append("\x1b[K" if x == len(text) else f"\x1b[{width}X")
                    continue
                self._out.append(piece)
                # After the last column the cursor does not advance.
                self._x = x if x < len(text) and has_known_width(piece, width) else -1

    def _move(self, x: int, y: int) -> None:
        if (x, y) == (self._x, self._y):
            return
        if y == self._y and 0 <= self._x < x:
            distance = x - self._x
            self._out.append("\x1b[C" if distance == 1 else f"\x1b[{distance}C")
        elif y == self._y + 1 and x == 0 and self._y >= 0:
            self._out.append("\r\n")
        else:
            self._out.append(f"\x1b[{y + 1};{x + 1}H" if x else f"\x1b[{y + 1}H")
        self._x, self._y = x, y


def _find_runs(differs: bytes) -> list[tuple[int, int]]:
    """The runs of ones."""
    return [run.span() for run in _RUN.finditer(differs)]


def _letter_span(text: list[str], x: int) -> tuple[int, int]:
    """The cells of the character that includes this cell."""
    start, end = x, x + 1
    while start > 0 and text[start] == CONTINUED:
        start -= 1
    while end < len(text) and text[end] == CONTINUED:
        end += 1
    return start, end


def _word_span(text: list[str], x: int) -> tuple[int, int]:
    """The cells of the word that includes this cell; a blank is on its own."""
    if text[x] == " ":
        return x, x + 1
    start, end = x, x + 1
    while start > 0 and text[start - 1] != " ":
        start -= 1
    while end < len(text) and text[end] != " ":
        end += 1
    return start, end


def _pen_for(text: str, pen: Pen, last: Pen) -> Pen:
    """The pen to use after `last`: a blank shows only the background, so it can keep `last`."""
    return last if text == " " and pen is last.blank else pen


def _find_pens(text: list[str], pens: list[Pen], last: Pen) -> list[tuple[Pen, int]]:
    """The pens to use one after another, as `_pen_for` has it, each with the column behind it."""
    found: list[tuple[Pen, int]] = []
    x = 0
    for pen, same in groupby(pens):
        end = x + sum(1 for _ in same)
        if pen is last.blank and pen is not last:
            while x < end and text[x] == " ":
                x += 1
            if x and found:
                found[-1] = (last, x)
            elif x:
                found.append((last, x))
        if x < end:
            if found and pen is last:
                found.pop()
            found.append((pen, end))
            last, x = pen, end
    return found


def _pieces(cells: list[str], can_erase: bool, ends_row: bool) -> Iterator[tuple[str, int]]:
    """Texts with widths; '' for blanks to erase. Characters of unsure width are separate."""
    text, width = "".join(cells), len(cells)
    if not has_known_width(text, width):
        letters = [x for x, cell in enumerate(cells) if cell != CONTINUED]
        for x, end in pairwise([*letters, width]):
            yield cells[x], end - x
        return
    at = 0
    if can_erase and len(text) == width:
        for blanks in (_END_BLANKS if ends_row else _INNER_BLANKS).finditer(text):
            if rows_by_text := text[at : blanks.start()]:
                yield rows_by_text, len(rows_by_text)
            at = blanks.end()
            yield "", len(blanks.group())
    if at < width:
        yield text[at:], width - at
