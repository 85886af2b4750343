"""Find the hunks of a file that two sides changed in different ways."""

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from model.base.text import make_visible
from model.domain.conflicts import ConflictedFile, ConflictHunk, ConflictKind, HunkSide
from model.git.run import git
from model.git.snapshots.objects import NewObjects
from model.git.snapshots.plumbing import split_batch
from model.git.snapshots.radar import Unmerged
from model.git.snapshots.scratch import ScratchObjects
from model.git.snapshots.trees import edit_trees
from model.git.working_tree import Entry

_MAX_HUNKS: Final = 20
_MAX_LINES: Final = 40
_MAX_LINE: Final = 500
_MAX_BLOB: Final = 1_000_000
"""Bytes; of larger files no hunks are read."""
_MAX_TOTAL: Final = 50_000_000
"""Bytes of all files that are read at once."""
_MAX_DIFF: Final = 32_000_000
_CACHE_SIZE: Final = 2000


_Sides = tuple[str, str]
"""The blobs of a file in the common ancestor and on one side."""


class _Change(NamedTuple):
    """Lines that one side changed: where they were and where they are, from 0, ends excluded."""

    start: int
    end: int
    new_start: int
    new_end: int


class OverlapFinder:
    """Finds overlapping hunks, and remembers what each side changed."""

    def __init__(self) -> None:
        self._changes: OrderedDict[_Sides, list[_Change]] = OrderedDict()

    async def describe(
        self, root: Path, files: Sequence[Unmerged], scratch: ScratchObjects
    ) -> list[ConflictedFile]:
        """Return what there is to say about each of these files, in the same order.

        Raises `SpinneyError` as `model.git.run.git`.
        """
        blobs = [blob for file in files for blob in (file.base, file.ours, file.theirs) if blob]
        texts = await _read_texts(root, blobs, scratch.environment)
        changes = await self._find_changes(root, files, texts, scratch)
        described = []
        for file in files:
            hunks = await asyncio.to_thread(_find_hunks, file, texts, changes)
            shown = make_visible(file.path)
            described.append(ConflictedFile(path=shown, kind=_classify(file), hunks=hunks))
        return described

    async def _find_changes(
        self,
        root: Path,
        files: Sequence[Unmerged],
        texts: Mapping[str, list[str]],
        scratch: ScratchObjects,
    ) -> dict[_Sides, list[_Change]]:
        """Return what each side changed; files of which it is known already are not read again."""
        wanted = {
            (file.base, side)
            for file in files
            for side in (file.ours, file.theirs)
            if file.base and side and file.base in texts and side in texts
        }
        for sides in wanted & self._changes.keys():
            self._changes.move_to_end(sides)
        found = {sides: self._changes[sides] for sides in wanted & self._changes.keys()}
        missing = sorted(wanted - found.keys())
        if missing:
            found |= await _read_changes(root, missing, scratch)
        self._changes |= found
        while len(self._changes) > _CACHE_SIZE:
            self._changes.popitem(last=False)
        return found


def _find_hunks(
    file: Unmerged,
    texts: Mapping[str, list[str]],
    changes: Mapping[_Sides, list[_Change]],
) -> list[ConflictHunk]:
    sides = [blob for blob in (file.base, file.ours, file.theirs) if blob]
    if len(sides) < 2 or any(blob not in texts for blob in sides):
        return []
    ours, theirs = texts.get(file.ours or "", []), texts.get(file.theirs or "", [])
    if file.base is None or file.ours is None or file.theirs is None:
        return [ConflictHunk(ours=_show(ours, 0, None), theirs=_show(theirs, 0, None))]
    return _overlap(changes[file.base, file.ours], changes[file.base, file.theirs], ours, theirs)


async def _read_changes(
    root: Path, pairs: Sequence[_Sides], scratch: ScratchObjects
) -> dict[_Sides, list[_Change]]:
    """Compare pairs of texts with one process of git: the files of two trees, named by number."""
    objects = await NewObjects.create(root, scratch.environment)
    columns = [
        {str(number): Entry("100644", pair[side]) for number, pair in enumerate(pairs)}
        for side in (0, 1)
    ]
    trees = await edit_trees(root, [(None, column) for column in columns], objects)
    await objects.store()
    # As a merge compares: by histogram, and without moving hunks to nicer places.
    diff = await git(
        root, "diff", "--text", "--unified=0", "--no-color", "--no-ext-diff", "--no-textconv",
        "--no-renames", "--diff-algorithm=histogram", "--no-indent-heuristic", "--src-prefix=a/",
        "--dst-prefix=b/", "--end-of-options", *trees, "--", max_bytes=_MAX_DIFF,
        environment=scratch.environment,
    )  # fmt: skip
    parsed = await asyncio.to_thread(_parse_changes, diff.raw_stdout)
    return {pair: parsed.get(number, []) for number, pair in enumerate(pairs)}


def _classify(file: Unmerged) -> ConflictKind:
    match file.base is None, file.ours is None, file.theirs is None:
        case False, False, False:
            return "changed"
        case True, False, False:
            return "added"
        case False, _, _ if file.ours or file.theirs:
            return "deleted"
        case _:
            return "moved"


async def _read_texts(
    root: Path, blobs: Iterable[str], environment: Mapping[str, str]
) -> dict[str, list[str]]:
    """Return the lines of the blobs that are text and not too long."""
    ids = list(dict.fromkeys(blobs))
    if not ids:
        return {}
    checked = await git(
        root, "cat-file", "--batch-check=%(objectsize)", environment=environment,
        stdin="\n".join(ids).encode() + b"\n",
    )  # fmt: skip
    chosen, total = [], 0
    for blob, size in zip(ids, checked.stdout.split("\n"), strict=True):
        if size.isdigit() and int(size) <= _MAX_BLOB and total + int(size) <= _MAX_TOTAL:
            chosen.append(blob)
            total += int(size)
    if not chosen:
        return {}
    read = await git(
        root, "cat-file", "--batch", environment=environment,
        stdin="\n".join(chosen).encode() + b"\n",
    )  # fmt: skip
    return await asyncio.to_thread(_split_texts, read.raw_stdout)


def _split_texts(output: bytes) -> dict[str, list[str]]:
    return {
        blob: content.decode("utf-8", "replace").removesuffix("\n").split("\n")
        for blob, content in split_batch(output)
        if b"\0" not in content[:8000]
    }


def _parse_changes(diff: bytes) -> dict[int, list[_Change]]:
    """Parse the headers `diff --git a/<number> …` and `@@ -start,count +start,count @@`."""
    found: dict[int, list[_Change]] = {}
    changes: list[_Change] = []
    for line in diff.split(b"\n"):
        fields = line.split(b" ", 3)
        if fields[0] == b"diff" and len(fields) == 4:
            changes = found[int(fields[2].removeprefix(b"a/"))] = []
        elif fields[0] == b"@@" and len(fields) == 4:
            start, end = _parse_range(fields[1])
            new_start, new_end = _parse_range(fields[2])
            changes.append(_Change(start, end, new_start, new_end))
    return found


def _parse_range(text: bytes) -> tuple[int, int]:
    start, _, count = text[1:].partition(b",")
    length = int(count or 1)
    first = int(start) - (1 if length else 0)
    return first, first + length


def _overlap(
    ours: list[_Change], theirs: list[_Change], our_lines: list[str], their_lines: list[str]
) -> list[ConflictHunk]:
    """Return the places where changes of both sides overlap or touch, and differ."""
    hunks = []
    for our_group, their_group in _group(ours, theirs):
        start = min(our_group[0].start, their_group[0].start)
        end = max(our_group[-1].end, their_group[-1].end)
        our_start, our_end = _locate(our_group, start, end)
        their_start, their_end = _locate(their_group, start, end)
        if our_lines[our_start:our_end] != their_lines[their_start:their_end]:
            hunks.append(
                ConflictHunk(
                    ours=_show(our_lines, our_start, our_end),
                    theirs=_show(their_lines, their_start, their_end),
                )
            )
        if len(hunks) == _MAX_HUNKS:
            break
    return hunks


def _group(
    ours: list[_Change], theirs: list[_Change]
) -> Iterable[tuple[list[_Change], list[_Change]]]:
    """Yield the changes of both sides that overlap or touch, together."""
    sides = sorted([(change, 0) for change in ours] + [(change, 1) for change in theirs])
    group: tuple[list[_Change], list[_Change]] = ([], [])
    end = -1
    for change, side in sides:
        if change.start > end:
            if group[0] and group[1]:
                yield group
            group = ([], [])
        group[side].append(change)
        end = max(end, change.end)
    if group[0] and group[1]:
        yield group


def _locate(group: list[_Change], start: int, end: int) -> tuple[int, int]:
    """Return where one side has the lines `start` to `end` of the common ancestor."""
    first, last = group[0], group[-1]
    return first.new_start - (first.start - start), last.new_end + (end - last.end)


def _show(lines: list[str], start: int, end: int | None) -> HunkSide:
    chosen = lines[start:end]
    shown = [make_visible(line[:_MAX_LINE]) for line in chosen[:_MAX_LINES]]
    return HunkSide(start=start + 1, count=len(chosen), lines=shown)
