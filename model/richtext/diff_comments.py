"""The user's comments on a diff: collected line by line, sent to a session as one message.

A comment is anchored to the text of its lines: it follows them, also from one side of the changes
to another (such as unstaged to staged), until they no longer exist.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Final

from model.base.code_block import code_block
from model.base.errors import SpinneyError
from model.richtext.diff_rows import MAX_ROW_LENGTH, DiffRow
from model.richtext.diff_text import MAX_MOVED_LINES, Row, parse_diff

_MAX_QUOTED_LINES: Final = 12
"""Most lines that are quoted; the agent can read the rest itself."""


@dataclass(frozen=True)
class Comment:
    """A comment on consecutive lines."""

    path: str
    side: str
    """The diff that it was made in."""
    line: int
    """The first line's number in the new text, or in the old text for a removed line."""
    is_removed: bool
    quoted: tuple[str, ...]
    """The lines with their signs."""
    text: str

    @property
    def location(self) -> str:
        """`file:line` or `file:first-last`, as editors and agents read it."""
        more = sum(self.is_removed or not line.startswith("-") for line in self.quoted) - 1
        lines = f"{self.line}-{self.line + more}" if more > 0 else f"{self.line}"
        return f"{self.path}:{lines}{' (removed)' if self.is_removed else ''}"

    def find_in(self, rows: Sequence[Row]) -> range | None:
        """The indices of its lines among `rows`; of several matches, the one nearest to `line`.

        A distant match counts only if it is the only one.
        """
        count = len(self.quoted)
        matches = [
            (abs(_number(rows, index, count) - self.line), index)
            for index in range(len(rows) - count + 1)
            if _is_line(rows[index], self.quoted[0])
            and all(map(_is_line, rows[index : index + count], self.quoted))
        ]
        distance, index = min(matches, default=(0, -1))
        is_found = index >= 0 and (distance <= MAX_MOVED_LINES or len(matches) == 1)
        return range(index, index + count) if is_found else None

    def is_among(self, lines: Sequence[str]) -> bool:
        """Whether its lines are among those of the whole file, of which a diff shows a few.

        Only for a comment on an unchanged line: a changed one is there as long as the diff has it.
        """
        if not any(line.startswith(" ") for line in self.quoted):
            return False
        kept = tuple(f" {line[1:]}" for line in self.quoted if not line.startswith("-"))
        rows = [DiffRow(" ", line, new=number) for number, line in enumerate(lines, 1)]
        return replace(self, quoted=kept).find_in(rows) is not None

    def is_same(self, other: "Comment") -> bool:
        """Whether `other` is the same comment, even if its lines have moved."""
        return replace(other, line=self.line) == self

    def move_to(self, rows: Sequence[Row], position: range) -> "Comment":
        """Return the comment with the current position of its lines."""
        return replace(self, line=_number(rows, position.start, len(position)))


def _is_line(row: Row, line: str) -> bool:
    return (
        isinstance(row, DiffRow) and row.sign == line[0] and row.text[:MAX_ROW_LENGTH] == line[1:]
    )


def _number(rows: Sequence[Row], start: int, count: int) -> int:
    """The number of the first line that the file still has: the agent sees no removed lines."""
    lines = [row for row in rows[start : start + count] if isinstance(row, DiffRow)]
    first = next((row for row in lines if row.sign != "-"), lines[0])
    return (first.old if first.sign == "-" else first.new) or 0


def trim_context(rows: Sequence[DiffRow]) -> Sequence[DiffRow]:
    """Return a hunk without its leading and trailing context lines."""
    changed = [index for index, row in enumerate(rows) if row.sign != " "]
    return rows[changed[0] : changed[-1] + 1] if changed else rows


def create_comment(path: str, side: str, rows: Sequence[DiffRow], text: str) -> Comment:
    """Create a comment on these rows."""
    is_removed = all(row.sign == "-" for row in rows)
    quoted = tuple(f"{row.sign}{row.text[:MAX_ROW_LENGTH]}" for row in rows)
    return Comment(path, side, _number(rows, 0, len(rows)), is_removed, quoted, text)


def dump_comments(comments: Iterable[Comment]) -> str:
    """Serialize the comments for a draft on disk; empty if there are none."""
    entries = [asdict(comment) for comment in comments]
    return json.dumps(entries) if entries else ""


def load_comments(text: str) -> list[Comment]:
    """Parse the comments of a draft; an invalid draft has none."""
    try:
        entries = json.loads(text or "[]")
        return [Comment(**{**entry, "quoted": tuple(entry["quoted"])}) for entry in entries]
    except (ValueError, TypeError, KeyError):
        return []


async def find_lost(
    comments: Iterable[Comment],
    sides: Sequence[str],
    read_diff: Callable[[str, str], Awaitable[str]],
    read_text: Callable[[str, str], Awaitable[Sequence[str]]] | None = None,
) -> frozenset[Comment]:
    """Find the comments whose lines are on none of the `sides`.

    `read_diff` returns a file's diff on a side, or raises `SpinneyError`: of type `conflict` if
    the file has no diff there, of any other type if it cannot be determined. `read_text` returns
    the file's lines, for comments on unchanged lines that no diff shows.
    """
    lost = set(comments)
    for path in {comment.path for comment in lost}:
        for side in sides:
            of_file = {comment for comment in lost if comment.path == path}
            if not of_file:
                break
            try:
                text = await asyncio.to_thread(parse_diff, await read_diff(path, side))
            except SpinneyError as error:
                if error.error_type != "conflict":
                    lost -= of_file
                continue
            lost -= {comment for comment in of_file if comment.find_in(text.rows) is not None}
            if read_text is not None and lost & of_file:
                lines = await read_text(path, side)
                lost -= {comment for comment in lost & of_file if comment.is_among(lines)}
    return frozenset(lost)


def format_message(comments: Iterable[Comment], lost: Collection[Comment] = ()) -> str:
    """Format the message to a session; the lines of `lost` comments no longer exist."""
    parts = ["Please look at these comments on the changes:"]
    for comment in comments:
        quoted = list(comment.quoted[:_MAX_QUOTED_LINES])
        if len(comment.quoted) > _MAX_QUOTED_LINES:
            quoted.append(f"… {len(comment.quoted) - _MAX_QUOTED_LINES} more lines")
        code = code_block("\n".join(quoted), "diff")
        suffix = " (these lines have changed since)" if comment in lost else ""
        parts.append(f"`{comment.location}`{suffix}\n{code}\n{comment.text}")
    return "\n\n".join(parts)
