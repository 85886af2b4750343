"""What a person says of a difference: collected line by line, sent as one message.

A comment is bound to the text of its lines: it moves with them, from one side of the changes to
another as well, until they are gone.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Final

from model.base.errors import SpinneyError
from model.richtext.diff_rows import LONGEST, DiffRow
from model.richtext.diff_text import NEAR, Row, diff_text

_MOST_LINES: Final = 12
"""Lines that are quoted; the agent can read the rest."""


@dataclass(frozen=True)
class Comment:
    """A remark on lines that follow one another."""

    path: str
    side: str
    """Which difference it was made in."""
    line: int
    """The first line's number in the new text, or for a removed line in the old one."""
    is_removed: bool
    quoted: tuple[str, ...]
    """The lines with their signs."""
    text: str

    @property
    def place(self) -> str:
        """`file:line` or `file:first-last`, as editors and agents read it."""
        more = sum(self.is_removed or not line.startswith("-") for line in self.quoted) - 1
        lines = f"{self.line}-{self.line + more}" if more > 0 else f"{self.line}"
        return f"{self.path}:{lines}{' (removed)' if self.is_removed else ''}"

    def found_in(self, rows: Sequence[Row]) -> range | None:
        """The places of its lines among these; of several, those next to where they were.

        Lines that are far away are the same ones only if there are no others like them.
        """
        count = len(self.quoted)
        found = [
            (abs(_number(rows, at, count) - self.line), at)
            for at in range(len(rows) - count + 1)
            if _is_line(rows[at], self.quoted[0])
            and all(map(_is_line, rows[at : at + count], self.quoted))
        ]
        away, at = min(found, default=(0, -1))
        is_found = at >= 0 and (away <= NEAR or len(found) == 1)
        return range(at, at + count) if is_found else None

    def is_same(self, other: "Comment") -> bool:
        """Whether the other one is this one, wherever its lines have moved."""
        return replace(other, line=self.line) == self

    def moved_to(self, rows: Sequence[Row], found: range) -> "Comment":
        """The same where its lines stand now."""
        return replace(self, line=_number(rows, found.start, len(found)))


def _is_line(row: Row, line: str) -> bool:
    return isinstance(row, DiffRow) and row.sign == line[0] and row.text[:LONGEST] == line[1:]


def _number(rows: Sequence[Row], at: int, count: int) -> int:
    """Of the first line that stands in the file now: the agent reads no others in it."""
    lines = [row for row in rows[at : at + count] if isinstance(row, DiffRow)]
    first = next((row for row in lines if row.sign != "-"), lines[0])
    return (first.old if first.sign == "-" else first.new) or 0


def changed_part(rows: Sequence[DiffRow]) -> Sequence[DiffRow]:
    """A hunk without the equal lines around what it changes."""
    changed = [at for at, row in enumerate(rows) if row.sign != " "]
    return rows[changed[0] : changed[-1] + 1] if changed else rows


def comment_on(path: str, side: str, rows: Sequence[DiffRow], text: str) -> Comment:
    """A remark on these rows."""
    is_removed = all(row.sign == "-" for row in rows)
    quoted = tuple(f"{row.sign}{row.text[:LONGEST]}" for row in rows)
    return Comment(path, side, _number(rows, 0, len(rows)), is_removed, quoted, text)


def kept(comments: Iterable[Comment]) -> str:
    """The comments as a draft that is kept on disk; nothing for none."""
    entries = [asdict(comment) for comment in comments]
    return json.dumps(entries) if entries else ""


def read(text: str) -> list[Comment]:
    """The comments of a draft; none of one that is no such draft."""
    try:
        entries = json.loads(text or "[]")
        return [Comment(**{**entry, "quoted": tuple(entry["quoted"])}) for entry in entries]
    except (ValueError, TypeError, KeyError):
        return []


async def lost_among(
    comments: Iterable[Comment],
    sides: Sequence[str],
    read_diff: Callable[[str, str], Awaitable[str]],
) -> frozenset[Comment]:
    """Those whose lines are on no side of the changes.

    `read_diff` gives a file's difference on a side, or raises `SpinneyError`: of kind `conflict`
    where the file has none there, of any other where nobody can know.
    """
    left = set(comments)
    for path in {comment.path for comment in left}:
        for side in sides:
            mine = {comment for comment in left if comment.path == path}
            if not mine:
                break
            try:
                text = await asyncio.to_thread(diff_text, await read_diff(path, side))
            except SpinneyError as error:
                if error.error_type != "conflict":
                    left -= mine
                continue
            left -= {comment for comment in mine if comment.found_in(text.rows) is not None}
    return frozenset(left)


def message_of(comments: Iterable[Comment], lost: Collection[Comment] = ()) -> str:
    """The message in which a session reads them; `lost`: those whose lines are gone."""
    parts = ["Please look at these comments on the changes:"]
    for comment in comments:
        quoted = list(comment.quoted[:_MOST_LINES])
        if len(comment.quoted) > _MOST_LINES:
            quoted.append(f"… {len(comment.quoted) - _MOST_LINES} more lines")
        fence = "```" if not any("```" in line for line in quoted) else "~~~~~~"
        code = "\n".join(quoted)
        gone = " (these lines have changed since)" if comment in lost else ""
        parts.append(f"`{comment.place}`{gone}\n{fence}diff\n{code}\n{fence}\n{comment.text}")
    return "\n\n".join(parts)
