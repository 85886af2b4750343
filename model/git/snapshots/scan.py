"""Find what a snapshot has to contain, whatever the index says of a file."""

import asyncio
import os
import stat
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from model.git.run import git
from model.git.snapshots import plumbing
from model.git.working_tree import WorkingTree, read_working_tree

_TIMEOUT: Final = 120.0
_MAX_INDEXES: Final = 64
_MAX_REMEMBERED: Final = 10_000
"""Flagged files, as in a sparse checkout; more of them are listed again each time."""


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


async def scan(root: Path, index: Path, *, with_names: bool) -> tuple[WorkingTree, Tracked]:
    """Scan a worktree for what may have changed, whatever the flags in its `index` say.

    `Tracked.names` is empty without `with_names`. Raises `SpinneyError` as
    `model.git.run.git`.
    """
    (found, _), tracked = await asyncio.gather(
        read_working_tree(root, filters=False),
        list_tracked(root, index, with_names=with_names),
    )
    await asyncio.to_thread(_add_flagged, found, root, tracked.flags)
    return found, tracked


async def list_tracked(root: Path, index: Path, *, with_names: bool = False) -> Tracked:
    """List what the `index` has; not again while it is the same file, unless `with_names`."""
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


def _add_flagged(found: WorkingTree, root: Path, flags: Mapping[str, list[str]]) -> None:
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
