"""Find the conflicts that merging worktrees would have, with everything uncommitted in them.

Each worktree becomes a commit of the files as git would store them, with its checked-out commit as
the only parent. It is none of the snapshots: their parents are earlier snapshots, so that the
common ancestor of two of them may be newer than that of their branches, and polling would fill the
chains. These commits are written to `ScratchObjects`, and the same files make the same commit.
"""

import asyncio
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from model.git.run import LARGE_FILE, git, git_version
from model.git.safe_config import replace_merge_drivers
from model.git.snapshots import conversions
from model.git.snapshots.objects import NewObjects
from model.git.snapshots.scan import read_mode
from model.git.snapshots.scratch import ScratchObjects
from model.git.snapshots.trees import Changes, edit_trees
from model.git.working_tree import Entry, WorkingTree, read_working_tree

OLDEST_MERGING_GIT: Final = (2, 39)
"""`merge-tree --stdin` came with it."""
_MAX_NEW_FILES: Final = 2000
"""If a worktree has more untracked files, they are left out: `.gitignore` lacks a folder."""
_TIMEOUT: Final = 60.0
_MIN_SPLIT: Final = 40
"""Pairs from which a second process is worth its start."""
_FAST: Final = ("-c", "core.looseCompression=0")


@dataclass(frozen=True, slots=True)
class Unmerged:
    """A file that a merge leaves with a conflict: the blob of each side that has it."""

    path: str
    base: str | None = None
    ours: str | None = None
    theirs: str | None = None


async def can_merge() -> bool:
    """Whether the installed git can merge without a worktree; raises `SpinneyError` without one."""
    numbers = (await git_version()).split(".")
    return tuple(int(number) for number in numbers[:2]) >= OLDEST_MERGING_GIT


class Files(NamedTuple):
    """What a worktree would commit."""

    commit: str
    """The checked-out commit."""
    changes: Changes


async def read_files(
    root: Path, head: str, scratch: ScratchObjects, known: WorkingTree | None = None
) -> Files:
    """Read everything in the worktree at `root` that is not committed.

    `head` was its commit, and `known` what differed from it a moment ago. Left out are changes of
    files over 5 MB and of files that a filter handles (Git LFS), unless they are staged.

    Raises:
        SpinneyError: What git reports; also if a file vanishes meanwhile.
    """
    found = known or (await read_working_tree(root, filters=False))[0]
    entries = await _hash(root, await _choose(root, found), scratch)
    return Files(found.commit or head, {**found.list_index_changes(), **entries})


async def make_commits(
    root: Path, worktrees: Sequence[Files], scratch: ScratchObjects
) -> list[str]:
    """Return a commit of the files of each worktree.

    Raises `SpinneyError` as `model.git.run.git`.
    """
    objects = await NewObjects.create(root, scratch.environment, _FAST)
    trees = await edit_trees(root, worktrees, objects, scratch.environment)
    commits = [
        objects.add_commit(tree, [files.commit], "Files", seconds=1)
        for tree, files in zip(trees, worktrees, strict=True)
    ]
    await objects.store()
    return commits


async def _choose(root: Path, found: WorkingTree) -> dict[str, str]:
    """Return the files whose content on disk counts, with their modes."""
    names = set(found.untracked) if len(found.untracked) > _MAX_NEW_FILES else set()
    modes = await asyncio.to_thread(_read_modes, root, set(found.present) - names)
    filtered = await conversions.list_filtered(root, modes)
    return {path: mode for path, mode in sorted(modes.items()) if path not in filtered}


def _read_modes(root: Path, paths: Iterable[str]) -> dict[str, str]:
    modes = {}
    for path in paths:
        file = f"{root}/{path}"
        mode = read_mode(file)
        is_readable = mode == "120000" or os.access(file, os.R_OK)
        if mode and is_readable and os.lstat(file).st_size <= LARGE_FILE:
            modes[path] = mode
    return modes


async def _hash(root: Path, modes: Mapping[str, str], scratch: ScratchObjects) -> dict[str, Entry]:
    links = [path for path, mode in modes.items() if mode == "120000"]
    regular = [path for path in modes if modes[path] != "120000"]
    blobs: dict[str, str] = {}
    if regular:
        hashed = await conversions.hash_as_git(root, regular, scratch.environment)
        blobs |= zip(regular, hashed, strict=True)
    if links:
        objects = await NewObjects.create(root, scratch.environment, _FAST)
        blobs |= await asyncio.to_thread(
            lambda: {
                path: objects.add("blob", os.fsencode((root / path).readlink())) for path in links
            }
        )
        await objects.store()
    return {path: Entry(modes[path], blob) for path, blob in blobs.items()}


async def merge_pairs(
    root: Path, pairs: Sequence[tuple[str, str]], scratch: ScratchObjects
) -> list[list[Unmerged]]:
    """Merge pairs of commits, and return the conflicted files of each. Two processes do all."""
    drivers = await asyncio.to_thread(replace_merge_drivers, root)
    middle = len(pairs) // 2 if len(pairs) >= _MIN_SPLIT else 0
    halves = await asyncio.gather(
        *(_merge(root, half, scratch, drivers) for half in (pairs[:middle], pairs[middle:]) if half)
    )
    return [merge for half in halves for merge in half]


async def _merge(
    root: Path, pairs: Sequence[tuple[str, str]], scratch: ScratchObjects, drivers: tuple[str, ...]
) -> list[list[Unmerged]]:
    merged = await git(
        root, *_FAST, *drivers,
        "merge-tree", "--write-tree", "--stdin", "-z", "--no-messages",
        "--allow-unrelated-histories",
        stdin="".join(f"{ours} {theirs}\n" for ours, theirs in pairs).encode(),
        environment=scratch.environment, timeout=_TIMEOUT, filters=False,
    )  # fmt: skip
    return await asyncio.to_thread(_parse_merges, merged.raw_stdout)


async def list_changes(
    root: Path, commit: str, base: str, scratch: ScratchObjects
) -> dict[str, str]:
    """Return the files that changed in `commit` since it left `base`, with their blobs."""
    found = await git(
        root, "merge-base", commit, base, check=False, environment=scratch.environment
    )
    if found.returncode != 0:
        return {}
    listed = await git(
        root, "diff-tree", "-r", "-z", "--no-renames", "--full-index", "--end-of-options",
        found.stdout, commit, timeout=_TIMEOUT, environment=scratch.environment,
    )  # fmt: skip
    fields = listed.raw_stdout.split(b"\0")
    pairs = zip(fields[::2], fields[1::2], strict=False)
    return {os.fsdecode(path): head.split(b" ")[3].decode() for head, path in pairs}


def _parse_merges(output: bytes) -> list[list[Unmerged]]:
    """Parse, for each merge: its status, its tree, entries, and an empty field."""
    merges: list[list[Unmerged]] = []
    fields = iter(output.split(b"\0"))
    for status in fields:
        if not status:
            break
        next(fields)
        files: dict[str, dict[str, str]] = {}
        while entry := next(fields, b""):
            head, _, path = entry.partition(b"\t")
            _, blob, stage = head.decode().split(" ")
            files.setdefault(os.fsdecode(path), {})[("base", "ours", "theirs")[int(stage) - 1]] = (
                blob
            )
        merges.append([Unmerged(path, **sides) for path, sides in files.items()])
    return merges
