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


async def read_stages(path: Path, name: str, kind: str = "--stage") -> list[str]:
    """Return the entries of one file, each `<mode> <blob> <stage>`; of a conflict up to three.

    `kind` is the option of `git ls-files`: `--resolve-undo` are those of a conflict that was
    resolved.
    """
    listed = await git(path, "ls-files", kind, "-z", "--", *to_pathspecs([name]))
    return [field.partition("\t")[0] for field in listed.fields]


async def write_stages(path: Path, name: str, stages: Sequence[str]) -> None:
    """Give one file these entries, as `read_stages` returns them, and no others."""
    if not stages:
        await git(path, "update-index", "--force-remove", "--", name, write=True)
        return
    removed = f"0 {'0' * len(stages[0].split(' ')[1])}"
    lines = (os.fsencode(f"{entry}\t{name}") + b"\0" for entry in (removed, *stages))
    await git(path, "update-index", "-z", "--index-info", write=True, stdin=b"".join(lines))


async def write_entries(path: Path, entries: Mapping[str, Entry | None]) -> None:
    """Give files these entries in the index; files on disk are not changed."""
    await git(
        path, "update-index", "-z", "--index-info", stdin=index_lines([*entries.items()]),
        write=True,
    )  # fmt: skip
