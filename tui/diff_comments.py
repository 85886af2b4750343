"""What a person says of a difference: collected line by line, sent as one message."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Final

from tui.diff_rows import DiffRow

_MOST_LINES: Final = 12
"""Lines of a hunk that are quoted; the agent can read the rest."""


@dataclass(frozen=True)
class Comment:
    """A remark on a line or a hunk."""

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
        """`file:line`, as editors and agents read it."""
        return f"{self.path}:{self.line}{' (removed)' if self.is_removed else ''}"

    def is_on(self, path: str, side: str, row: DiffRow) -> bool:
        """Whether it was made on this row."""
        number = row.old if self.is_removed else row.new
        return (
            (self.path, self.side, self.line) == (path, side, number)
            and (row.sign == "-") == self.is_removed
            and f"{row.sign}{row.text}" in self.quoted
        )


def comment_on(path: str, side: str, rows: Sequence[DiffRow], text: str) -> Comment:
    """A remark on these rows; on a hunk, it stands where the hunk changes something."""
    changed = [at for at, row in enumerate(rows) if row.sign != " "]
    rows = rows[changed[0] : changed[-1] + 1] if changed else rows
    # Where something stands now: what is removed has no line in the file that the agent reads.
    first = next((row for row in rows if row.sign != "-"), rows[0])
    number = first.old if first.sign == "-" else first.new
    quoted = tuple(f"{row.sign}{row.text}" for row in rows)
    return Comment(path, side, number or 0, first.sign == "-", quoted, text)


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


def message_of(comments: Iterable[Comment]) -> str:
    """The message in which a session reads them."""
    parts = ["Please look at these comments on the changes:"]
    for comment in comments:
        quoted = list(comment.quoted[:_MOST_LINES])
        if len(comment.quoted) > _MOST_LINES:
            quoted.append(f"… {len(comment.quoted) - _MOST_LINES} more lines")
        fence = "```" if not any("```" in line for line in quoted) else "~~~~~~"
        code = "\n".join(quoted)
        parts.append(f"`{comment.place}`\n{fence}diff\n{code}\n{fence}\n{comment.text}")
    return "\n\n".join(parts)
