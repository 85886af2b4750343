"""Finds which rows of a diff belong to which side of a conflict, by git's markers."""

from collections.abc import Mapping, Sequence
from string import hexdigits
from typing import Final, Literal, NamedTuple

from model.domain.changes import Operation
from model.richtext.diff_rows import DiffRow
from model.richtext.diff_text import Row

ConflictSide = Literal["ours", "base", "theirs", "end"]
"""`end` is the marker after a conflict."""


class ConflictPart(NamedTuple):
    """What a row of a conflict is."""

    side: ConflictSide
    label: str | None = None
    """For a marker: what the side is, often empty; `None` for other rows."""


_ID_LENGTH: Final = 40
_MARKERS: Final[tuple[tuple[str, ConflictSide], ...]] = (
    ("<<<<<<<", "ours"),
    ("|||||||", "base"),
    ("=======", "theirs"),
    (">>>>>>>", "end"),
)


def find_conflict_parts(
    rows: Sequence[Row], operation: Operation | None = None
) -> Mapping[int, ConflictPart]:
    """The parts of the rows of a conflicted file's diff, by row index.

    `operation` is what stopped at the conflict: it decides what ours is.
    """
    parts: dict[int, ConflictPart] = {}
    side: ConflictSide = "end"
    theirs: int | None = None
    for index, row in enumerate(rows):
        if not isinstance(row, DiffRow) or row.sign == "-":
            continue
        marker = _marker(row.text)
        if marker is not None and (marker == "ours" or side != "end"):
            side, label = marker, _name(row.text[8:].strip(), operation)
            parts[index] = ConflictPart(side, label)
            if side == "theirs":
                theirs = index
            elif side == "end" and theirs is not None:  # git names this side at its end
                parts[theirs] = ConflictPart("theirs", label)
        elif side != "end":
            parts[index] = ConflictPart(side)
    return parts


def _name(label: str, operation: Operation | None) -> str:
    """What git calls a side, in words where it says only `HEAD`, and with a short commit id."""
    if label == "HEAD" and operation is not None:
        return "the branch it goes onto" if operation == "rebase" else "this branch"
    is_commit = len(label) == _ID_LENGTH and set(label) <= set(hexdigits)
    return label[:10] if is_commit else label


def _marker(text: str) -> ConflictSide | None:
    """The side that begins with this line, if it is a marker."""
    found = next((side for sign, side in _MARKERS if text.startswith(sign)), None)
    is_bare = text[7:8] in ("", " ", "\r", "␍")
    return found if is_bare else None
