"""Make trees out of other trees and changed entries, without an index.

Only the folders on the way to a change are read and written, so the cost does not grow with the
number of files in the repository.
"""

import asyncio
import os
import re
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.git.run import git
from model.git.snapshots.objects import NewObjects
from model.git.snapshots.plumbing import split_batch
from model.git.working_tree import Entry

Changes = Mapping[str, Entry | None]
"""By path; `None` removes a file or a folder. Removals come first, whatever the order."""

_FOLDER: Final = b"40000"
_SHA1_ENTRY: Final = re.compile(rb"([0-7]+) ([^\0]+)\0(.{20})", re.DOTALL)
_SHA256_ENTRY: Final = re.compile(rb"([0-7]+) ([^\0]+)\0(.{32})", re.DOTALL)
_CACHED_BYTES: Final = 16_000_000

_cache: OrderedDict[str, bytes] = OrderedDict()
"""Trees that were read or made lately, by their names: the content of a name never changes."""


@dataclass(slots=True)
class _Folder:
    """The changes below one folder, by name."""

    names: dict[bytes, "Entry | _Folder | None"] = field(default_factory=dict)
    is_new: bool = False
    """Whether it takes the place of what was there."""


_Item = tuple[bytes, bytes]
"""Of an entry of a tree object: its mode, and its object id."""


async def edit_trees(
    root: Path,
    edits: Sequence[tuple[str | None, Changes]],
    objects: NewObjects,
    environment: Mapping[str, str] | None = None,
) -> list[str]:
    """Return the tree of each edit: a commit or tree (`None` for no files) with its changes.

    Args:
        root: A worktree of the repository.
        edits: What to change, and how.
        objects: Takes the new trees.
        environment: Variables for git, such as those of `ScratchObjects`.

    Raises:
        SpinneyError: What git reports; also if a tree is missing.
    """
    folders = await asyncio.to_thread(lambda: [_sort(changes) for _, changes in edits])
    starts = [base if not base or base in _cache else f"{base}^{{tree}}" for base, _ in edits]
    trees = await _read_trees(root, list(zip(starts, folders, strict=True)), environment)

    def build() -> list[str]:
        pairs = zip(starts, folders, strict=True)
        return [_build(start, folder, trees, objects) or objects.add("tree", b"")
                for start, folder in pairs]  # fmt: skip

    built = await asyncio.to_thread(build)
    _remember(objects.list_trees())  # The next edit may begin with one.
    return built


async def replace_entries(root: Path, tree: str, changes: Changes) -> str:
    """Store a copy of a tree with these changes, and return it. Raises as `edit_trees`."""
    objects = await NewObjects.create(root)
    (edited,) = await edit_trees(root, [(tree, changes)], objects)
    await objects.store()
    return edited


def _sort(changes: Changes) -> _Folder:
    top = _Folder()
    for path in sorted(changes, key=lambda path: changes[path] is not None):
        *parents, name = os.fsencode(path).split(b"/")
        folder = top
        for parent in parents:
            below = folder.names.get(parent)
            if not isinstance(below, _Folder):
                below = _Folder(is_new=parent in folder.names)
                folder.names[parent] = below
            folder = below
        folder.names[name] = changes[path]
    return top


async def _read_trees(
    root: Path, wanted: list[tuple[str | None, _Folder]], environment: Mapping[str, str] | None
) -> dict[str, bytes]:
    """Read the trees of all folders with changes, one level after another."""
    found: dict[str, bytes] = {}
    level = [(name, folder) for name, folder in wanted if name]
    while level:
        names = {name for name, _ in level}
        for name in names & _cache.keys():
            _cache.move_to_end(name)
            found[name] = _cache[name]
        missing = sorted(names - found.keys())
        if missing:
            found |= await _read_level(root, missing, environment)
        level = await asyncio.to_thread(_list_below, level, found)
    return found


async def _read_level(
    root: Path, names: list[str], environment: Mapping[str, str] | None
) -> dict[str, bytes]:
    read = await git(
        root, "cat-file", "--batch", stdin="\n".join(names).encode() + b"\n",
        environment=environment, timeout=120,
    )  # fmt: skip
    contents = await asyncio.to_thread(split_batch, read.raw_stdout)
    if len(contents) != len(names):
        raise SpinneyError("The repository has lost a tree. Check it with 'git fsck'.", "git_error")
    found = {name: content for name, (_, content) in zip(names, contents, strict=True)}
    _remember(found)
    return found


def _remember(trees: Mapping[str, bytes]) -> None:
    _cache.update(trees)
    total = sum(map(len, _cache.values()))
    while total > _CACHED_BYTES:
        total -= len(_cache.popitem(last=False)[1])


def _list_below(
    level: list[tuple[str, _Folder]], found: Mapping[str, bytes]
) -> list[tuple[str, _Folder]]:
    below = []
    for name, folder in level:
        inner = {key: one for key, one in folder.names.items() if isinstance(one, _Folder)}
        items = _parse(name, found[name]) if inner else {}
        for key in inner.keys() & items.keys():
            mode, object_id = items[key]
            if mode == _FOLDER and not inner[key].is_new:
                below.append((object_id.hex(), inner[key]))
    return below


def _parse(name: str, content: bytes) -> dict[bytes, _Item]:
    entry = _SHA256_ENTRY if len(name) >= 64 else _SHA1_ENTRY
    items, position = {}, 0
    while found := entry.match(content, position):
        mode, key, object_id = found.groups()
        items[key] = mode, object_id
        position = found.end()
    return items


def _build(
    name: str | None, folder: _Folder, trees: Mapping[str, bytes], objects: NewObjects
) -> str | None:
    """Add the tree of a folder, and return its id; `None` if nothing is in it."""
    items = _parse(name, trees[name]) if name and not folder.is_new else {}
    for key, change in folder.names.items():
        before = items.pop(key, None)
        if isinstance(change, Entry):
            items[key] = change.mode.encode(), bytes.fromhex(change.object_id)
        elif change is not None:
            inner = before[1].hex() if before and before[0] == _FOLDER else None
            built = _build(inner, change, trees, objects)
            if built:
                items[key] = _FOLDER, bytes.fromhex(built)
            elif before and before[0] != _FOLDER and not change.is_new:
                items[key] = before  # Only removals below what is no folder.
    if not items:
        return None
    # Git sorts a folder as if its name ended in a slash.
    named = [(key + b"/" if item[0] == _FOLDER else key, key, item) for key, item in items.items()]
    named.sort()
    lines = [b"%b %b\0%b" % (mode, key, object_id) for _, key, (mode, object_id) in named]
    return objects.add("tree", b"".join(lines))
