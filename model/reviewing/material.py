"""What an agent reads to review a worktree's changes: numbered diffs, in parts of bounded size."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.plural import count
from model.git.changes import (
    ChangedFile,
    find_compared_commits,
    list_files_since,
    read_patch_since,
    to_display_name,
)
from model.git.diff import clean_text, resolve_head
from model.git.untracked import read_regular_file
from model.richtext.diff_rows import DiffRow
from model.richtext.diff_text import HunkHeading, Row, parse_diff

MAX_PARTS: Final = 6
"""Parts that an agent reads, each in a conversation of its own."""
_MAX_PART: Final = 90_000
"""Characters of a part: what every model reads well, and pays for without thinking about it."""
_MAX_FILE: Final = 45_000
"""Characters of a file."""
_MAX_LINE: Final = 1_000
_MAX_FILES: Final = 1_000
_MAX_BYTES: Final = 5_000_000
_MAX_NAMED: Final = 5
"""Files that are named in the sentence about what was left out."""


@dataclass(frozen=True, slots=True)
class ReviewedFile:
    """A file of a part."""

    name: str
    """The path in the worktree, as `os` accepts it."""
    lines: Mapping[int, str]
    """The lines of the new text that the agent reads, by their numbers."""


@dataclass(slots=True)
class ReviewPart:
    """What is reviewed at once."""

    text: str = ""
    files: dict[str, ReviewedFile] = field(default_factory=dict)
    """By the path that is shown."""


@dataclass(frozen=True, slots=True)
class ReviewMaterial:
    """All that is reviewed."""

    parts: Sequence[ReviewPart]
    left_out: str
    """What is not, as a sentence; empty if everything is."""


async def collect_material(root: Path, base: str) -> ReviewMaterial:
    """Return the changes of a worktree since it left its base, with all that is not committed.

    Raises `SpinneyError` if there is nothing to review.
    """
    start = await _find_start(root, base)
    parts = [ReviewPart()]
    left_out: list[str] = []
    files = await list_files_since(root, start)
    for at, file in enumerate(files):
        name = to_display_name(file.name)
        if at >= _MAX_FILES or file.is_submodule or file.added is None:
            left_out.append(name)
            continue
        text, lines, is_whole = await _read_file(root, start, file, name)
        if len(parts[-1].text) + len(text) > _MAX_PART:
            if len(parts) == MAX_PARTS:
                left_out.append(name)
                continue
            parts.append(ReviewPart())
        parts[-1].text += text
        parts[-1].files[name] = ReviewedFile(file.name, lines)
        left_out += [] if is_whole else [f"the end of {name}"]
    parts = [part for part in parts if part.files]
    if not parts:
        raise SpinneyError(
            f"There is nothing to review: no text has changed since '{base}'.", "conflict"
        )
    return ReviewMaterial(parts, _describe(left_out))


async def read_text(root: Path, name: str) -> list[str]:
    """Return the lines of a file in the worktree as a diff shows them; none if it has no text."""
    raw = await asyncio.to_thread(read_regular_file, root / name, _MAX_BYTES)
    return await asyncio.to_thread(_split, raw or b"")


def _split(raw: bytes) -> list[str]:
    text = clean_text(raw.decode("utf-8", "replace"))
    return [to_comparable(line) for line in text.split("\n")]


def to_comparable(line: str) -> str:
    """Return a line without what differs between a file and its diff."""
    return line.rstrip("\r␍")[:_MAX_LINE]


async def _find_start(root: Path, base: str) -> str:
    try:
        return (await find_compared_commits(root, "branch", base))[0]
    except SpinneyError:  # the base is gone
        return await resolve_head(root)


async def _read_file(
    root: Path, start: str, file: ChangedFile, name: str
) -> tuple[str, Mapping[int, str], bool]:
    """Return the diff of a file, its lines of the new text, and whether that is everything."""
    patch, is_cut = await read_patch_since(root, start, file)
    diff = await asyncio.to_thread(lambda: parse_diff(patch.to_text()))
    shown = [f"=== {name} ({file.status})"]
    lines: dict[int, str] = {}
    length = 0
    for row in diff.rows:
        text = _number(row)
        length += len(text) + 1
        if length > _MAX_FILE:
            is_cut = True
            shown.append("[the rest of this file is left out]")
            break
        shown.append(text)
        if isinstance(row, DiffRow) and row.new is not None and row.sign != "-":
            lines[row.new] = to_comparable(row.text)
    return "\n".join([*shown, "", ""]), lines, not is_cut


def _number(row: Row) -> str:
    """Return a row with its number in the new text."""
    match row:
        case DiffRow():
            number = "" if row.sign == "-" else row.new
            return f"{number:>6} {row.sign} {row.text[:_MAX_LINE]}"
        case HunkHeading():
            return f"@@ {row.text}"
        case _:
            return f"\\ {row.text}"


def _describe(left_out: Sequence[str]) -> str:
    if not left_out:
        return ""
    named = ", ".join(left_out[:_MAX_NAMED])
    more = len(left_out) - _MAX_NAMED
    more_text = f" and {count(more, 'more file')}" if more > 0 else ""
    return f"Not reviewed, as it is binary or beyond what an agent reads: {named}{more_text}."
