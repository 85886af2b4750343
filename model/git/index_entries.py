"""The entries of single files in the index: read, and put back as they were."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from model.git.changes import to_pathspecs
from model.git.run import git
from model.git.snapshots.plumbing import index_lines
from model.git.working_tree import Entry


async def read_entries(path: Path, names: Sequence[str]) -> dict[str, Entry | None]:
    """Return the entry of each file in the index of a worktree; `None` without one."""
    listed = await git(path, "ls-files", "--stage", "-z", "--", *to_pathspecs(names))
    found: dict[str, Entry] = {}
    for line in listed.raw_stdout.split(b"\0"):
        head, _, name = line.partition(b"\t")
        if name:
            mode, object_id, _ = head.decode().split(" ")
            found[os.fsdecode(name)] = Entry(mode, object_id)
    return {name: found.get(name) for name in names}


async def write_entries(path: Path, entries: Mapping[str, Entry | None]) -> None:
    """Give files these entries in the index; files on disk are not changed."""
    await git(
        path, "update-index", "-z", "--index-info", stdin=index_lines([*entries.items()]),
        write=True,
    )  # fmt: skip
