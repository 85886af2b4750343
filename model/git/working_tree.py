"""Read what differs between a worktree, its index and its commit, by `git status`."""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

from model.git.run import git

_TIMEOUT: Final = 120.0
_ABSENT: Final = "000000"
"""The mode of a path that git has nothing for."""


class Entry(NamedTuple):
    """What a tree or an index has at a path."""

    mode: str
    """`100644`, `100755`, `120000` for a link, `160000` for a submodule."""
    object_id: str


@dataclass(slots=True)
class WorkingTree:
    """The difference between a worktree, its index and its commit."""

    commit: str | None = None
    """The checked-out commit; `None` before the first one."""
    branch: str | None = None
    """`None` while detached."""
    changed: list[str] = field(default_factory=list)
    """Tracked files that differ from the commit, in the index or on disk."""
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

    def count_files(self) -> int:
        """Count the staged, changed and untracked files."""
        return len(self.changed) + len(self.untracked) + len(self.nested)

    @property
    def has_staged_changes(self) -> bool:
        """Whether the index differs from the commit."""
        return bool(self.staged or self.staged_removals or self.unmerged)

    def list_index_changes(self) -> dict[str, Entry | None]:
        """Return what the index has other than the commit, without files gone from disk."""
        return {**self.staged, **dict.fromkeys([*self.staged_removals, *self.removed])}


async def read_working_tree(
    root: Path,
    *,
    submodules: str = "dirty",
    filters: bool = True,
    environment: Mapping[str, str] | None = None,
) -> tuple[WorkingTree, bytes]:
    """Read the differences, and return what git printed, too.

    Args:
        root: The worktree.
        submodules: Which changes of submodules are ignored, as for `--ignore-submodules`.
        filters: Let a filter (Git LFS) equate a file with what git stores.
        environment: Variables for git, such as `GIT_INDEX_FILE`.

    Raises:
        SpinneyError: As `model.git.run.git`.
    """
    # Inside a submodule git would read its configuration, which `run` does not make safe.
    result = await git(
        root, "status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all",
        "--no-renames", f"--ignore-submodules={submodules}", timeout=_TIMEOUT, filters=filters,
        environment=environment,
    )  # fmt: skip
    return await asyncio.to_thread(parse_status, result.raw_stdout), result.raw_stdout


def parse_status(status: bytes) -> WorkingTree:
    """Parse the output of `git status --porcelain=v2 --branch -z --no-renames`."""
    found = WorkingTree()
    for record in status.split(b"\0"):
        if record:
            _add_record(found, os.fsdecode(record))
    return found


def _add_record(found: WorkingTree, record: str) -> None:
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
    found: WorkingTree, state: str, submodule: str, _head: str, mode: str, _disk: str, _old: str,
    object_id: str, path: str,
) -> None:  # fmt: skip
    in_index, on_disk = state[0], state[1]
    found.changed.append(path)
    if mode == _ABSENT and on_disk != ".":
        found.intent_to_add.append(path)
    if in_index == "D":
        found.staged_removals.append(path)
    elif in_index != ".":
        found.staged[path] = Entry(mode, object_id)
    if on_disk == "D":
        found.removed.append(path)
    elif on_disk != ".":
        (found.submodules if submodule[0] == "S" else found.present).append(path)


def _add_unmerged(found: WorkingTree, _submodule: str, *fields: str) -> None:
    *facts, path = fields
    modes, objects = facts[:3], facts[4:]
    for stage, (mode, object_id) in enumerate(zip(modes, objects, strict=True), 1):
        if mode != _ABSENT:
            found.unmerged.append((stage, path, Entry(mode, object_id)))
    found.changed.append(path)
    found.removed.append(path)  # Its stages; what is on disk is added as a plain entry.
    found.present.append(path)
