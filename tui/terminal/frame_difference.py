"""The shortest bytes that make a terminal which shows one screen show another.

Only cells that differ are written, with only what changes of the pen; blanks are erased where the
terminal erases in color, and rows that have moved are scrolled.
"""

import operator
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Final, NamedTuple

from tui.terminal.cells import CONTINUED, Cells, is_sure
from tui.terminal.sgr import PLAIN, Pen, change

_GAP: Final = 4
"""Unchanged cells that are rather written again than skipped: a move costs as many bytes."""
_WITHIN: Final = re.compile(" {9,}")
"""Blanks to erase: to do so and to move on costs eight bytes."""
_TO_THE_END: Final = re.compile(" {9,}| {4,}$")
"""The same where nothing follows in the row."""
_ALIKE: Final = 3
"""Rows that must have moved by the same distance."""
_EDGE: Final = 4
"""Columns at the right that do not tell whether a row has moved: the scrollbar has its own way."""
_ERASE_IN_COLOR: Final = (
    "xterm", "tmux", "alacritty", "foot", "rxvt", "linux", "konsole", "vte", "st-", "kitty",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Manner:
    """How it is written."""

    erases: bool = True
    """The terminal draws erased cells with the color of the ground."""
    words: bool = False
    """A word in which something changed is written whole: a screen reader reads what is written."""

    @classmethod
    def of(cls, environ: Mapping[str, str], *, words: bool = False) -> "Manner":
        """That of this environment's terminal."""
        # terminfo is not asked: on some systems it says of `screen` what holds for tmux alone.
        term = environ.get("TERM", "")
        erases = term.startswith(_ERASE_IN_COLOR) or "-bce" in term or bool(environ.get("TMUX"))
        return cls(erases, words)


class _Scroll(NamedTuple):
    """Rows that move up, or down if `rows` is negative."""

    top: int
    bottom: int
    rows: int


def difference(
    shown: Cells, wanted: Cells, manner: Manner, *, cursor_row: int = -1, limit: int | None = None
) -> str:
    """What to write, with a plain pen at either end; the cursor stands anywhere afterwards.

    `shown` is what the terminal shows, of the same size; it becomes what it shows then. With a
    `limit`, the row of the cursor comes first, and no row begins behind so many characters.
    """
    rows = [y for y in range(wanted.height) if not _is_equal(shown, wanted, y)]
    if not rows:
        return ""
    writer = _Writer(shown.view(), wanted, manner, cursor_row)
    if len(rows) >= _ALIKE and (scroll := _find_scroll(shown, wanted, rows)):
        moved = shown.view()
        moved.scroll(*scroll)
        if _count_differing(moved, wanted) < _count_differing(shown, wanted):
            writer.scroll(scroll)
    writer.write(range(wanted.height), cursor_first=limit is not None)
    return writer.finish(shown, limit)


def _count_differing(old: Cells, new: Cells) -> int:
    """The cells with other text."""
    pairs = ((a, b) for a, b in zip(old.text, new.text, strict=True) if a != b)
    return sum(sum(map(operator.ne, a, b)) for a, b in pairs)


def _is_equal(shown: Cells, wanted: Cells, y: int) -> bool:
    return shown.text[y] == wanted.text[y] and shown.pens[y] == wanted.pens[y]


def _find_scroll(old: Cells, new: Cells, changed: list[int]) -> _Scroll | None:
    """The distance that most of the changed rows have moved by, and the rows between which."""
    columns = slice(_first_column(old, new, changed), new.width - _EDGE)
    before: dict[str, list[int]] = {}
    for y, text in enumerate(old.text):
        before.setdefault("".join(text[columns]), []).append(y)
    found: dict[int, list[int]] = {}
    for y in changed:
        row = "".join(new.text[y][columns])
        stood = before.get(row, ()) if row.strip() else ()
        if len(stood) == 1 and stood[0] != y:
            found.setdefault(stood[0] - y, []).append(y)
    rows, now = max(found.items(), key=lambda item: len(item[1]), default=(0, []))
    if len(now) < _ALIKE:
        return None
    return _Scroll(min(now) + min(rows, 0), max(now) + max(rows, 0) + 1, rows)


def _first_column(old: Cells, new: Cells, changed: list[int]) -> int:
    """The leftmost column that differs in several rows: what stands beside them has not moved."""
    first = Counter(
        next(
            (x for x, (a, b) in enumerate(zip(old.text[y], new.text[y], strict=True)) if a != b), 0
        )
        for y in changed
    )
    return min((x for x, rows in first.items() if rows >= _ALIKE), default=0)


class _Row(NamedTuple):
    """One that was written: how, and the pen that this leaves."""

    y: int
    written: str
    pen: Pen


class _Writer:
    """Writes rows, and knows where that leaves cursor and pen."""

    def __init__(self, shown: Cells, wanted: Cells, manner: Manner, cursor_row: int) -> None:
        self._shown = shown
        self._wanted = wanted
        self._manner = manner
        self._cursor_row = cursor_row
        self._before = ""
        self._rows: list[_Row] = []
        self._out: list[str] = []
        self._pen = PLAIN
        self._x = self._y = -1
        """Where the cursor stands; -1 where that is not known."""

    def scroll(self, scroll: _Scroll) -> None:
        """Scroll between two rows. Line feeds do it in every terminal, `SU` does not."""
        top, bottom, rows = scroll
        start, step = (bottom, "\n") if rows > 0 else (top + 1, "\x1bM")
        self._before = f"\x1b[{top + 1};{bottom}r\x1b[{start};1H{step * abs(rows)}\x1b[r"
        self._shown.scroll(top, bottom, rows)

    def write(self, rows: Iterable[int], *, cursor_first: bool) -> None:
        """Write what differs in these rows."""
        for y in sorted(rows, key=lambda y: y != self._cursor_row) if cursor_first else rows:
            if not _is_equal(self._shown, self._wanted, y):
                for start, end in self._spans(y):
                    self._write_span(y, start, end)
                self._rows.append(_Row(y, "".join(self._out), self._pen))
                self._out.clear()

    def finish(self, shown: Cells, limit: int | None) -> str:
        """All of it, or what the limit leaves, and the pen laid down; `shown` follows."""
        written, pen = self._before, PLAIN
        shown.text, shown.pens = self._shown.text, self._shown.pens
        for row in self._rows:
            if limit is not None and len(written) > limit:
                break
            written, pen = written + row.written, row.pen
            shown.copy_row(row.y, self._wanted)
        return written + change(pen, PLAIN)

    def _spans(self, y: int) -> list[tuple[int, int]]:
        """The parts of a row that are to be written; those that nearly touch are one."""
        old, text, pens = self._shown.text[y], self._wanted.text[y], self._wanted.pens[y]
        pairs = enumerate(zip(old, text, self._shown.pens[y], pens, strict=True))
        differing: Iterable[int] = [x for x, (a, b, c, d) in pairs if a != b or c is not d]
        if not (is_sure("".join(old), len(old)) and is_sure("".join(text), len(text))):
            # Behind such a letter the terminal may show what it has pushed aside.
            differing = range(min(differing), len(text))
        is_in_words = self._manner.words and y != self._cursor_row
        find = _word_at if is_in_words else _letter_at
        spans: list[tuple[int, int]] = []
        begun = reached = -1
        """The last part so far."""
        for x in differing:
            if x < reached:
                continue
            start, end = find(text, x)
            if start > reached and not (reached >= 0 and self._is_joined(y, reached, start)):
                if reached >= 0:
                    spans.append((begun, reached))
                begun = start
            reached = end
        return [*spans, (begun, reached)]

    def _is_joined(self, y: int, end: int, start: int) -> bool:
        """Whether what lies between two parts is better written with them than skipped."""
        text, pens = self._wanted.text[y], self._wanted.pens[y]
        last = pens[end - 1]
        return start - end <= _GAP and all(
            _pen_for(text[x], pens[x], last) is last for x in range(end, start)
        )

    def _write_span(self, y: int, start: int, end: int) -> None:
        text, pens = self._wanted.text[y], self._wanted.pens[y]
        drawn = [self._pen]
        for x in range(start, end):
            drawn.append(_pen_for(text[x], pens[x], drawn[-1]))
        x = start
        for pen, columns in groupby(drawn[1:]):
            cells = text[x : x + sum(1 for _ in columns)]
            can_erase = self._manner.erases and pen.is_erasing
            for piece, width in _pieces(cells, can_erase, x + len(cells) == len(text)):
                self._move(x, y)
                self._out.append(change(self._pen, pen))
                self._pen = pen
                x += width
                if not piece:
                    self._out.append("\x1b[K" if x == len(text) else f"\x1b[{width}X")
                    continue
                self._out.append(piece)
                # From the last column the cursor does not move on.
                self._x = x if x < len(text) and is_sure(piece, width) else -1

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


def _letter_at(text: list[str], x: int) -> tuple[int, int]:
    """The cells of the letter that has this one."""
    start, end = x, x + 1
    while start > 0 and text[start] == CONTINUED:
        start -= 1
    while end < len(text) and text[end] == CONTINUED:
        end += 1
    return start, end


def _word_at(text: list[str], x: int) -> tuple[int, int]:
    """The cells of the word that has this one; a blank stands for itself."""
    if text[x] == " ":
        return x, x + 1
    start, end = x, x + 1
    while start > 0 and text[start - 1] != " ":
        start -= 1
    while end < len(text) and text[end] != " ":
        end += 1
    return start, end


def _pen_for(text: str, pen: Pen, last: Pen) -> Pen:
    """The pen to draw this with, when the last one is at hand: a blank shows the ground alone."""
    return last if text == " " and pen is last.blank else pen


def _pieces(cells: list[str], can_erase: bool, ends_row: bool) -> Iterator[tuple[str, int]]:
    """Texts and their widths: no text for blanks to erase, and letters of unsure width alone."""
    text, width = "".join(cells), len(cells)
    if not is_sure(text, width):
        letters = [x for x, cell in enumerate(cells) if cell != CONTINUED]
        for x, end in pairwise([*letters, width]):
            yield cells[x], end - x
        return
    at = 0
    if can_erase and len(text) == width:
        for blanks in (_TO_THE_END if ends_row else _WITHIN).finditer(text):
            if before := text[at : blanks.start()]:
                yield before, len(before)
            at = blanks.end()
            yield "", len(blanks.group())
    if at < width:
        yield text[at:], width - at
