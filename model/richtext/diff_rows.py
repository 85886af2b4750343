"""The rows of a diff: which lines were removed, added and kept, and which words in them changed.

Also their syntax highlighting. Screens draw rows; none of them compares texts.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import chain, groupby
from typing import Final, Literal, NamedTuple

from model.base.text import make_visible
from model.richtext.blocks import CodeLine, Token
from model.richtext.highlight import highlight_code, language_for_path

MAX_COMPARED: Final = 3_000
"""Lines on a side; beyond it all old lines count as removed, as comparing takes quadratic time."""
_MAX_LINE: Final = 2_000  # characters of a line, beyond which its words are not compared
_MAX_WORDS: Final = 20_000
"""Product of the two lines' words without common prefix and suffix: at most 10 ms."""
_MIN_SIMILARITY: Final = 0.5  # below it two lines are not versions of one another
_WORD: Final = re.compile(r"\w+|\s+|[^\w\s]")
MAX_ROW_LENGTH: Final = 5_000
"""Characters of a row that are shown; longer lines are generated code."""

Sign = Literal[" ", "+", "-"]
Ranges = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class DiffRow:
    """A line of a diff, from git or `diff_rows`."""

    sign: Sign
    text: str
    old: int | None = None
    """The line's number in the old text, from 1; `new` likewise."""
    new: int | None = None
    hidden: int = 0
    """The number of equal lines omitted before it."""
    no_line_break: bool = False
    """Whether the text ends here without a line break, and the other text does not."""


class _Change(NamedTuple):
    old_from: int
    old_to: int
    new_from: int
    new_to: int


def diff_rows(old: str, new: str, context: int = 3) -> list[DiffRow]:
    """Diff two texts; each change has `context` equal lines around it."""
    before, after = _lines(old), _lines(new)
    changes = _changes(before, after)
    rows: list[DiffRow] = []
    shown_to = 0
    ends = [*(change.old_from for change in changes[1:]), len(before)]
    for change, end in zip(changes, ends, strict=False):
        start = max(shown_to, change.old_from - context)
        if start - shown_to == 1:  # a marker for one omitted line would take a line as well
            start = shown_to
        stop = min(end, change.old_to + context)
        hunk = [
            *_equal_rows(before, start, change.old_from, change.new_from - change.old_from),
            *_changed_rows(change, before, after),
            *_equal_rows(before, change.old_to, stop, change.new_to - change.old_to),
        ]
        hunk[0] = replace(hunk[0], hidden=start - shown_to)
        rows += hunk
        shown_to = stop
    return rows


def count_changed_lines(old: str, new: str) -> tuple[int, int]:
    """Count the added and the removed lines."""
    changes = _changes(_lines(old), _lines(new))
    return (
        sum(change.new_to - change.new_from for change in changes),
        sum(change.old_to - change.old_from for change in changes),
    )


def find_changed_words(rows: Sequence[DiffRow]) -> list[Ranges]:
    """For each row, the ranges of its text that differ from its counterpart, if it has one.

    The first removed line of a change is compared with its first added line, and so on.
    """
    changed: list[Ranges] = [()] * len(rows)
    start = 0
    removed: range = range(0)
    for sign, run in groupby(rows, key=lambda row: row.sign):
        indices = range(start, start + len(list(run)))
        if sign == "+":
            for old, new in zip(removed, indices, strict=False):
                changed[old], changed[new] = diff_words(rows[old].text, rows[new].text)
        removed = indices if sign == "-" else range(0)
        start = indices.stop
    return changed


def diff_words(old: str, new: str) -> tuple[Ranges, Ranges]:
    """The ranges in which two lines differ; none if they have little in common."""
    # Checked outside the cache: it keeps its arguments, which may be megabytes long.
    return diff_short_lines(old, new) if max(len(old), len(new)) <= _MAX_LINE else ((), ())


@lru_cache(maxsize=1024)
def diff_short_lines(old: str, new: str) -> tuple[Ranges, Ranges]:
    """`diff_words` for lines that are not too long."""
    before, after = _WORD.findall(old), _WORD.findall(new)
    start = _common_prefix(before, after)
    rest = min(len(before), len(after)) - start
    end = min(_common_prefix(before[::-1], after[::-1]), rest)
    old_words, new_words = before[start : len(before) - end], after[start : len(after) - end]
    if not before or not after or len(old_words) * len(new_words) > _MAX_WORDS:
        return (), ()
    matcher = SequenceMatcher(None, old_words, new_words, autojunk=False)
    equal = start + end + sum(block.size for block in matcher.get_matching_blocks())
    if 2 * equal < _MIN_SIMILARITY * (len(before) + len(after)):
        return (), ()
    changes = [indices for tag, *indices in matcher.get_opcodes() if tag != "equal"]
    return (
        _ranges(before, [(start + first, start + stop) for first, stop, _, _ in changes]),
        _ranges(after, [(start + first, start + stop) for _, _, first, stop in changes]),
    )


def highlight_rows(rows: Sequence[DiffRow], path: str) -> list[CodeLine]:
    """Highlight the rows: the lines of the old and of the new text are each lexed as a whole."""
    language = language_for_path(path)
    new = highlight_code("".join(f"{row.text}\n" for row in rows if row.sign != "-"), language)
    old = highlight_code("".join(f"{row.text}\n" for row in rows if row.sign != "+"), language)
    olds, news = iter(old), iter(new)
    lines: list[CodeLine] = []
    for row in rows:
        if row.sign == " ":
            next(olds)
        lines.append(next(olds if row.sign == "-" else news))
    return lines


def split_at_changes(tokens: CodeLine, words: Ranges) -> Iterator[tuple[Token, bool]]:
    """Split the tokens at the ends of changed `words`; yield each with whether it is in one."""
    edges = sorted(set(chain.from_iterable(words)))
    offset = 0
    for text, kind in tokens:
        for part in _split(text, offset, edges):
            yield Token(part, kind), any(start <= offset < stop for start, stop in words)
            offset += len(part)


def _split(text: str, offset: int, edges: Sequence[int]) -> Iterator[str]:
    start = 0
    for edge in edges:
        if start < edge - offset < len(text):
            yield text[start : edge - offset]
            start = edge - offset
    yield text[start:]


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    return [*(f"{line}\n" for line in lines[:-1]), *filter(None, lines[-1:])]


def _changes(before: Sequence[str], after: Sequence[str]) -> list[_Change]:
    same_start = _common_prefix(before, after)
    rest = min(len(before), len(after)) - same_start
    same_end = min(_common_prefix(before[::-1], after[::-1]), rest)
    old = before[same_start : len(before) - same_end]
    new = after[same_start : len(after) - same_end]
    if not old and not new:
        return []
    if max(len(old), len(new)) > MAX_COMPARED:
        return [_Change(same_start, same_start + len(old), same_start, same_start + len(new))]
    return [
        _Change(*(index + same_start for index in indices))
        for tag, *indices in SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        if tag != "equal"
    ]


def _common_prefix(one: Sequence[str], other: Sequence[str]) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((index for index, (a, b) in pairs if a != b), min(len(one), len(other)))


def _equal_rows(before: Sequence[str], start: int, stop: int, shift: int) -> Iterator[DiffRow]:
    for index in range(start, stop):
        yield DiffRow(" ", _visible(before[index]), index + 1, index + shift + 1)


def _changed_rows(
    change: _Change, before: Sequence[str], after: Sequence[str]
) -> Iterator[DiffRow]:
    endings_differ = before[-1:] and after[-1:] and _is_ended(before) != _is_ended(after)
    for index in range(change.old_from, change.old_to):
        line = before[index]
        unended = bool(endings_differ) and not line.endswith("\n")
        yield DiffRow("-", _visible(line), old=index + 1, no_line_break=unended)
    for index in range(change.new_from, change.new_to):
        line = after[index]
        unended = bool(endings_differ) and not line.endswith("\n")
        yield DiffRow("+", _visible(line), new=index + 1, no_line_break=unended)


def _visible(line: str) -> str:
    """The line with hidden characters as marks; lines are compared without them."""
    return make_visible(line.removesuffix("\n"))


def _is_ended(lines: Sequence[str]) -> bool:
    return lines[-1].endswith("\n")


def _ranges(words: Sequence[str], spans: Sequence[tuple[int, int]]) -> Ranges:
    offsets = [0]
    for word in words:
        offsets.append(offsets[-1] + len(word))
    return tuple((offsets[start], offsets[stop]) for start, stop in spans if start < stop)
