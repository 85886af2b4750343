"""All hunks of one side of a worktree's changes, read at once, and what identifies them later.

A hunk consists of blocks: runs of removed and added lines without an unchanged line between them.
Staging, committing and other hunks of the file change numbers, context and bounds of hunks, but not
their blocks, so that a block is found again on every side.
"""

import asyncio
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model.domain.changes import Side
from model.git.changes import diff_arguments, find_compared_commits
from model.git.diff import MAX_BYTES, TIMEOUT
from model.git.patches import split_patch
from model.git.run import git
from model.git.status import list_untracked_files
from model.git.untracked import render_new_files

_PART: Final = b"\ndiff --"
_FILE: Final = b"diff --git "


@dataclass(frozen=True, slots=True)
class Block:
    """The identity of a run of changed lines in a file."""

    id: str
    reverse_id: str
    """The id of the block that takes this one back."""


@dataclass(frozen=True, slots=True)
class HunkedFile:
    """The hunks of a changed file."""

    key: str
    """Identifies the file's name."""
    hunks: tuple[tuple[Block, ...], ...]
    """The blocks of each; a change without text, as of a binary file, has none."""
    digest: str
    """Changes with the file's changes."""

    @property
    def blocks(self) -> Iterator[Block]:
        """The blocks of all hunks."""
        return (block for hunk in self.hunks for block in hunk)


async def read_hunks(path: Path, side: Side, base: str) -> dict[str, HunkedFile]:
    """Return the files of a side with their hunks, by key; at most 32 MB of diff are read."""
    commits = await find_compared_commits(path, side, base)
    command = diff_arguments(side, commits)
    printed = await git(path, *command, "--", timeout=TIMEOUT, max_bytes=MAX_BYTES)
    raw = printed.raw_stdout
    if side == "unstaged":
        untracked = await list_untracked_files(path)
        text = await asyncio.to_thread(render_new_files, path, untracked)
        raw += text.encode("utf-8", "replace")
    return await asyncio.to_thread(parse_hunks, raw)


def parse_hunks(raw: bytes) -> dict[str, HunkedFile]:
    """Return the files of a diff by their keys. A file that became a link has two parts."""
    found: dict[str, HunkedFile] = {}
    for part in (b"\n" + raw).split(_PART)[1:]:
        if not part.startswith(b"git "):
            continue  # the combined diff of a conflict
        file = parse_file(_PART[1:] + part + b"\n")
        before = found.get(file.key)
        if before is not None:
            file = HunkedFile(file.key, before.hunks + file.hunks, before.digest + file.digest)
        found[file.key] = file
    return found


def parse_file(patch: bytes) -> HunkedFile:
    """Return the hunks of the patch of one file."""
    split = split_patch(patch)
    name = _find_name(split.header)
    return HunkedFile(
        _hash(name),
        tuple(parse_blocks(name, hunk) for hunk in split.hunks),
        _hash(patch.rstrip(b"\n")),
    )


def parse_blocks(name: bytes, hunk: bytes) -> tuple[Block, ...]:
    """Return the blocks of a hunk, in order."""
    return tuple(
        Block(_hash(name, *removed, b"", *added), _hash(name, *added, b"", *removed))
        for removed, added in _list_runs(hunk)
    )


def _list_runs(hunk: bytes) -> Iterator[tuple[Sequence[bytes], Sequence[bytes]]]:
    """Yield the removed and the added lines of each block, with their line breaks."""
    removed: list[bytes] = []
    added: list[bytes] = []
    for line in hunk.split(b"\n")[1:]:
        match line[:1]:
            case b"-":
                removed.append(line[1:] + b"\n")
            case b"+":
                added.append(line[1:] + b"\n")
            case b"\\":
                pass
            case _ if removed or added:
                yield removed, added
                removed, added = [], []
    if removed or added:
        yield removed, added


def _find_name(header: bytes) -> bytes:
    """Return the file's name as git prints it, which is the same on every side."""
    names = [b"", b""]
    first, *lines = header.split(b"\n")
    for line in lines:
        for at, label in enumerate((b"+++ ", b"--- ")):
            if line.startswith(label) and line != label + b"/dev/null":
                names[at] = line.removeprefix(label).rstrip(b"\t")
    if names == [b"", b""]:  # a binary file, or one whose mode changed: both halves are its name
        both = first.removeprefix(_FILE)
        names[0] = both[len(both) // 2 + 1 :]
    name = names[0] or names[1]
    quote = b'"' if name.startswith(b'"') else b""
    return quote + name.removeprefix(quote)[2:]


def _hash(*parts: bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(b"%d:" % len(part))
        digest.update(part)
    return digest.hexdigest()[:16]
