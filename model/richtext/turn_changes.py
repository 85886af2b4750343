"""The files that a turn of an agent changed with its editing tools, with their counts of lines.

What its commands changed is not known here.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from model.domain.messages import Block
from model.domain.tool_uses import list_edits
from model.richtext.diff_rows import count_changed_lines


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file, and the lines that were added and removed."""

    path: str
    added: int
    removed: int


def summarize_edits(blocks: Sequence[Block]) -> list[FileChange]:
    """The changed files of a message, in the order of their first edit.

    Lines that one edit adds and a later one removes are counted in both.
    """
    counts: dict[str, tuple[int, int]] = {}
    for edit in list_edits(blocks):
        added, removed = count_changed_lines(edit.old, edit.new)
        before = counts.get(edit.path, (0, 0))
        counts[edit.path] = before[0] + added, before[1] + removed
    return [FileChange(path, added, removed) for path, (added, removed) in counts.items()]
