"""The rows of a difference: which lines went, came and stayed, which words of them changed.

And in which colours they stand. Screens draw rows; none of them compares texts.
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
"""Lines on a side beyond which all old lines go and all new ones come: comparing is quadratic."""
_MAX_LINE: Final = 2_000  # characters of a line, beyond which its words are not compared
_MAX_WORDS: Final = 20_000
"""Words of a line times those of the other, without what both begin and end with: 10 ms at most."""
_ALIKE: Final = 0.5  # below this share of equal text two lines are not versions of one another
_WORD: Final = re.compile(r"\w+|\s+|[^\w\s]")
LONGEST: Final = 5_000
"""Characters of a row that are shown; longer lines are generated."""

Sign = Literal[" ", "+", "-"]
Ranges = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class DiffRow:
    """A line of a diff, as git or `diff_rows` found it."""

    sign: Sign
    text: str
    old: int | None = None
    """The line's number in the old text, from 1; `new` likewise."""
    new: int | None = None
    hidden: int = 0
    """How many equal lines before it are left out."""
    no_line_break: bool = False
    """Whether the change is that the text ends here without a line break."""


class _Change(NamedTuple):
    old_from: int
    old_to: int
    new_from: int
    new_to: int


def diff_rows(old: str, new: str, context: int = 3) -> list[DiffRow]:
    """What changed between two texts, each change with `context` equal lines around it."""
    before, after = _lines(old), _lines(new)
    changes = _changes(before, after)
    rows: list[DiffRow] = []
    shown_to = 0
    ends = [*(change.old_from for change in changes[1:]), len(before)]
    for change, end in zip(changes, ends, strict=False):
        start = max(shown_to, change.old_from - context)
        if start - shown_to == 1:  # saying that one line is left out takes a line as well
            start = shown_to
        stop = min(end, change.old_to + context)
        hunk = [
            *_equal(before, start, change.old_from, change.new_from - change.old_from),
            *_changed(change, before, after),
            *_equal(before, change.old_to, stop, change.new_to - change.old_to),
        ]
        hunk[0] = replace(hunk[0], hidden=start - shown_to)
        rows += hunk
        shown_to = stop
    return rows


def diff_counts(old: str, new: str) -> tuple[int, int]:
    """How many lines came and how many went."""
    changes = _changes(_lines(old), _lines(new))
    return (
        sum(change.new_to - change.new_from for change in changes),
        sum(change.old_to - change.old_from for change in changes),
    )


def changed_words(rows: Sequence[DiffRow]) -> list[Ranges]:
    """For each row the stretches of its text that differ from its counterpart, where it has one.

    The first removed line of a change is compared with its first added line, and so on.
    """
    marked: list[Ranges] = [()] * len(rows)
    at = 0
    removed: range = range(0)
    for sign, run in groupby(rows, key=lambda row: row.sign):
        here = range(at, at + len(list(run)))
        if sign == "+":
            for one, other in zip(removed, here, strict=False):
                marked[one], marked[other] = changed_between(rows[one].text, rows[other].text)
        removed = here if sign == "-" else range(0)
        at = here.stop
    return marked


def changed_between(old: str, new: str) -> tuple[Ranges, Ranges]:
    """The stretches of two lines that differ; none where they have little in common."""
    # Asked first: what is remembered keeps its lines, which may be megabytes long.
    return compared(old, new) if max(len(old), len(new)) <= _MAX_LINE else ((), ())


@lru_cache(maxsize=1024)
def compared(old: str, new: str) -> tuple[Ranges, Ranges]:
    """The same of lines that are not too long."""
    before, after = _WORD.findall(old), _WORD.findall(new)
    start = _common(before, after)
    rest = min(len(before), len(after)) - start
    end = min(_common(before[::-1], after[::-1]), rest)
    one, other = before[start : len(before) - end], after[start : len(after) - end]
    if not before or not after or len(one) * len(other) > _MAX_WORDS:
        return (), ()
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    equal = start + end + sum(block.size for block in matcher.get_matching_blocks())
    if 2 * equal < _ALIKE * (len(before) + len(after)):
        return (), ()
    changes = [places for tag, *places in matcher.get_opcodes() if tag != "equal"]
    return (
        _ranges(before, [(start + at, start + to) for at, to, _, _ in changes]),
        _ranges(after, [(start + at, start + to) for _, _, at, to in changes]),
    )


def code_lines(rows: Sequence[DiffRow], path: str) -> list[CodeLine]:
    """Each row's tokens; the lines of the old text are read together, those of the new likewise."""
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


def with_words(tokens: CodeLine, words: Ranges) -> Iterator[tuple[Token, bool]]:
    """The tokens, cut where changed `words` begin and end, each with whether it is in one."""
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
    same_start = _common(before, after)
    rest = min(len(before), len(after)) - same_start
    same_end = min(_common(before[::-1], after[::-1]), rest)
    old = before[same_start : len(before) - same_end]
    new = after[same_start : len(after) - same_end]
    if not old and not new:
        return []
    if max(len(old), len(new)) > MAX_COMPARED:
        return [_Change(same_start, same_start + len(old), same_start, same_start + len(new))]
    return [
        _Change(*(place + same_start for place in places))
        for tag, *places in SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        if tag != "equal"
    ]


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _equal(before: Sequence[str], start: int, stop: int, shift: int) -> Iterator[DiffRow]:
    for at in range(start, stop):
        yield DiffRow(" ", _shown(before[at]), at + 1, at + shift + 1)


def _changed(change: _Change, before: Sequence[str], after: Sequence[str]) -> Iterator[DiffRow]:
    endings_differ = before[-1:] and after[-1:] and _is_ended(before) != _is_ended(after)
    for at in range(change.old_from, change.old_to):
        line = before[at]
        unended = bool(endings_differ) and not line.endswith("\n")
        yield DiffRow("-", _shown(line), old=at + 1, no_line_break=unended)
    for at in range(change.new_from, change.new_to):
        line = after[at]
        unended = bool(endings_differ) and not line.endswith("\n")
        yield DiffRow("+", _shown(line), new=at + 1, no_line_break=unended)


def _shown(line: str) -> str:
    """Compared as they are, lines are shown with their hidden characters as marks."""
    return make_visible(line.removesuffix("\n"))


def _is_ended(lines: Sequence[str]) -> bool:
    return lines[-1].endswith("\n")


def _ranges(words: Sequence[str], places: Sequence[tuple[int, int]]) -> Ranges:
    offsets = [0]
    for word in words:
        offsets.append(offsets[-1] + len(word))
    return tuple((offsets[start], offsets[stop]) for start, stop in places if start < stop)
