"""Read what a snapshot has to contain: the status of a worktree, without changing anything."""

import asyncio
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from model.git.run import GitResult, git
from model.git.snapshots.plumbing import Entry

_TIMEOUT: Final = 120.0
_ABSENT: Final = "000000"
"""The mode of a path that git has nothing for."""


@dataclass(slots=True)
class Scan:
    """The difference between a worktree, its index and its commit."""

    commit: str | None = None
    """The checked-out commit; `None` before the first one."""
    branch: str | None = None
    """`None` while detached."""
    present: list[str] = field(default_factory=list)
    """Paths whose content on disk may differ from the index."""
    removed: list[str] = field(default_factory=list)
    """Paths in the index that are gone from disk."""
    staged: dict[str, Entry] = field(default_factory=dict)
    """Entries of the index that the commit lacks or has otherwise."""
    staged_removals: list[str] = field(default_factory=list)
    unmerged: list[tuple[int, str, Entry]] = field(default_factory=list)
    """Conflicted entries of the index: stage, path and entry."""
    intent_to_add: list[str] = field(default_factory=list)
    flags: dict[str, list[str]] = field(default_factory=dict)
    """Paths by the tag of `ls-files -v`: `S` skip-worktree, lower case assume-unchanged."""
    submodules: list[str] = field(default_factory=list)
    """Submodules with another commit than in the index."""
    untracked: list[str] = field(default_factory=list)
    """Those among `present` that git does not track."""
    nested: list[str] = field(default_factory=list)
    """Untracked repositories in the worktree."""
    tracked: list[str] = field(default_factory=list)
    """All paths of the index."""


async def scan(root: Path) -> Scan:
    """Scan a worktree. No filter of anybody runs: a file that only a filter equates is `present`.

    Raises `SpinneyError` as `model.git.run.git`.
    """
    status, tags = await asyncio.gather(
        _read_status(root), git(root, "ls-files", "-v", "-z", timeout=_TIMEOUT)
    )
    return await asyncio.to_thread(_parse, status.raw_stdout, tags.raw_stdout, root)


async def scan_changes(root: Path) -> Scan:
    """Scan a worktree for what git calls changed: no flags, and no list of all tracked files.

    Raises `SpinneyError` as `model.git.run.git`.
    """
    status = await _read_status(root)
    return await asyncio.to_thread(_parse, status.raw_stdout, b"", root)


async def _read_status(root: Path) -> GitResult:
    return await git(
        root, "status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all",
        "--no-renames", "--ignore-submodules=dirty", timeout=_TIMEOUT, filters=False,
    )  # fmt: skip


def _parse(status: bytes, tags: bytes, root: Path) -> Scan:
    found = Scan()
    for record in status.split(b"\0"):
        if record:
            _add_record(found, os.fsdecode(record))
    for tagged in tags.split(b"\0"):
        if tagged:
            name = os.fsdecode(tagged)
            found.tracked.append(name[2:])
            if name[0] not in "HM":
                found.flags.setdefault(name[0], []).append(name[2:])
    for tag, paths in found.flags.items():
        _add_flagged(found, root, paths, is_sparse=tag in "Ss")
    return found


def _add_record(found: Scan, record: str) -> None:
    match record[0]:
        case "#":
            _, key, value = record.split(" ", 2)
            if key == "branch.oid" and value != "(initial)":
                found.commit = value
            elif key == "branch.head" and value != "(detached)":
                found.branch = value
        case "1":
            _add_changed(found, *record.split(" ", 8)[1:])
        case "u":
            _add_unmerged(found, *record.split(" ", 10)[2:])
        case "?":
            path = record[2:]
            if path.endswith("/"):
                found.nested.append(path[:-1])
            else:
                found.present.append(path)
                found.untracked.append(path)


def _add_changed(
    found: Scan, state: str, submodule: str, _head: str, mode: str, _disk: str, _old: str,
    object_id: str, path: str,
) -> None:  # fmt: skip
    in_index, on_disk = state[0], state[1]
    if mode == _ABSENT and in_index == ".":
        found.intent_to_add.append(path)
    elif in_index == "D":
        found.staged_removals.append(path)
    elif in_index != ".":
        found.staged[path] = Entry(mode, object_id)
    if on_disk == "D":
        found.removed.append(path)
    elif on_disk != ".":
        (found.submodules if submodule[0] == "S" else found.present).append(path)


def _add_unmerged(found: Scan, _submodule: str, *fields: str) -> None:
    *facts, path = fields
    modes, objects = facts[:3], facts[4:]
    for stage, (mode, object_id) in enumerate(zip(modes, objects, strict=True), 1):
        if mode != _ABSENT:
            found.unmerged.append((stage, path, Entry(mode, object_id)))
    found.removed.append(path)  # Its stages; what is on disk is added as a plain entry.
    found.present.append(path)


def _add_flagged(found: Scan, root: Path, paths: Iterable[str], *, is_sparse: bool) -> None:
    """Look on disk for the files that git takes for unchanged because of a flag."""
    for path in paths:
        if get_mode(root / path) is not None:
            found.present.append(path)
        elif not is_sparse:
            found.removed.append(path)


def get_mode(path: Path) -> str | None:
    """Return git's mode of what is at `path`; `None` if git could not store it."""
    try:
        mode = path.lstat().st_mode
    except OSError:
        return None
    if stat.S_ISLNK(mode):
        return "120000"
    if not stat.S_ISREG(mode):
        return None
    return "100755" if mode & stat.S_IXUSR else "100644"
