"""Read what a snapshot has to contain: the status of a worktree, without changing anything."""

import asyncio
import os
import stat
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from model.git.run import git
from model.git.snapshots import plumbing
from model.git.snapshots.plumbing import Entry

_TIMEOUT: Final = 120.0
_MAX_INDEXES: Final = 64
_MAX_REMEMBERED: Final = 10_000
"""Flagged files, as in a sparse checkout; more of them are listed again each time."""
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
    submodules: list[str] = field(default_factory=list)
    """Submodules with another commit than in the index."""
    untracked: list[str] = field(default_factory=list)
    """Those among `present` that git does not track."""
    nested: list[str] = field(default_factory=list)
    """Untracked repositories in the worktree."""

    def list_index_changes(self) -> dict[str, Entry | None]:
        """Return what the index has other than the commit, without files gone from disk."""
        return {**self.staged, **dict.fromkeys([*self.staged_removals, *self.removed])}


@dataclass(frozen=True, slots=True)
class Tracked:
    """What the index says of the files in it, beside their contents."""

    names: list[str]
    flags: dict[str, list[str]]
    """Paths by the tag of `ls-files -v`: `S` skip-worktree, lower case assume-unchanged."""
    attributes: list[str]
    """The `.gitattributes` files."""
    reserved: list[str]
    """Files whose path in a snapshot's tree is another one."""


_last_tracked: OrderedDict[Path, tuple[tuple[int, ...], Tracked]] = OrderedDict()
"""By index file: its facts when it was read, and what it said, without the names."""


async def scan(root: Path) -> Scan:
    """Scan a worktree for what git calls changed.

    No filter of anybody runs: a file that only a filter equates is `present`.
    Raises `SpinneyError` as `model.git.run.git`.
    """
    status = await git(
        root, "status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all",
        "--no-renames", "--ignore-submodules=dirty", timeout=_TIMEOUT, filters=False,
    )  # fmt: skip
    return await asyncio.to_thread(_parse, status.raw_stdout)


async def scan_all(root: Path, index: Path, *, with_names: bool) -> tuple[Scan, Tracked]:
    """Scan a worktree for what may have changed, whatever the flags in its `index` say.

    `Tracked.names` is empty without `with_names`. Raises as `scan`.
    """
    found, tracked = await asyncio.gather(
        scan(root), _list_tracked(root, index, with_names=with_names)
    )
    await asyncio.to_thread(_add_flagged, found, root, tracked.flags)
    return found, tracked


async def _list_tracked(root: Path, index: Path, *, with_names: bool) -> Tracked:
    """List what the index has; not again while nobody has replaced the index."""
    facts = await asyncio.to_thread(_read_facts, index)
    last_facts, last = _last_tracked.get(index, ((), None))
    if last is not None and facts == last_facts and not with_names:
        return last
    listed = await git(root, "ls-files", "-v", "-z", timeout=_TIMEOUT)
    tracked = await asyncio.to_thread(_parse_tags, listed.raw_stdout)
    if facts and sum(map(len, tracked.flags.values())) <= _MAX_REMEMBERED:
        _last_tracked[index] = facts, replace(tracked, names=[])
        _last_tracked.move_to_end(index)
        if len(_last_tracked) > _MAX_INDEXES:
            _last_tracked.popitem(last=False)
    return tracked


def _read_facts(file: Path) -> tuple[int, ...]:
    try:
        facts = file.stat()
    except OSError:
        return ()
    return facts.st_mtime_ns, facts.st_ctime_ns, facts.st_size, facts.st_ino


def _parse(status: bytes) -> Scan:
    found = Scan()
    for record in status.split(b"\0"):
        if record:
            _add_record(found, os.fsdecode(record))
    return found


def _parse_tags(tags: bytes) -> Tracked:
    tracked = Tracked([], {}, [], [])
    for tagged in os.fsdecode(tags).split("\0"):
        if tagged:
            name = tagged[2:]
            tracked.names.append(name)
            if tagged[0] not in "HM":
                tracked.flags.setdefault(tagged[0], []).append(name)
            if name.endswith(".gitattributes"):
                tracked.attributes.append(name)
            if plumbing.to_tree_path(name) != name:
                tracked.reserved.append(name)
    return tracked


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


def _add_flagged(found: Scan, root: Path, flags: Mapping[str, list[str]]) -> None:
    """Look on disk for the files that git takes for unchanged because of a flag."""
    for tag, paths in flags.items():
        for path in paths:
            if read_mode(f"{root}/{path}") is not None:
                found.present.append(path)
            elif tag not in "Ss":
                found.removed.append(path)


def read_mode(path: str) -> str | None:
    """Return git's mode of what is at `path`; `None` if git could not store it."""
    try:
        return to_mode(os.lstat(path).st_mode)
    except OSError:
        return None


def to_mode(mode: int) -> str | None:
    """Return git's mode for the mode of a file; `None` if git could not store it."""
    if stat.S_ISLNK(mode):
        return "120000"
    if not stat.S_ISREG(mode):
        return None
    return "100755" if mode & stat.S_IXUSR else "100644"
