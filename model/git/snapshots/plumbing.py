"""Git commands that write objects and Spinney's own refs: no hook, no filter, no reflog.

They never touch the index, the HEAD or the refs of a person.
"""

import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

from model.git.run import GitResult, git
from model.git.working_tree import Entry

RESERVED: Final = ".spinney-snapshot"
"""The entry of a snapshot's tree that holds what is not a file of the worktree."""

TIMEOUT: Final = 600.0
"""Seconds; hashing gigabytes on a slow disk takes minutes."""

_OPTIONS: Final = (
    "-c", f"core.hooksPath={os.devnull}",
    "-c", "core.logAllRefUpdates=false",
    "-c", "core.fsmonitor=false",
    "-c", "core.splitIndex=false",
    "-c", "core.untrackedCache=false",
    # Larger files are written in chunks.
    "-c", "core.bigFileThreshold=32m",
    "-c", "i18n.commitEncoding=UTF-8",
)  # fmt: skip
NAME: Final = "Spinney"
EMAIL: Final = "spinney@localhost"
_IDENTITY: Final = {
    f"GIT_{role}_{name}": value
    for role in ("AUTHOR", "COMMITTER")
    for name, value in (("NAME", NAME), ("EMAIL", EMAIL))
}


async def run(
    root: Path,
    *args: str,
    index: Path | None = None,
    stdin: bytes = b"",
    check: bool = True,
    environment: Mapping[str, str] | None = None,
) -> GitResult:
    """Run a git command that writes; `index` is used in place of the worktree's own index.

    Raises as `model.git.run.git`.
    """
    variables = {**_IDENTITY, **(environment or {})}
    if index is not None:
        variables["GIT_INDEX_FILE"] = str(index)
    return await git(
        root, *_OPTIONS, *args, write=True, filters=False, stdin=stdin, check=check,
        timeout=TIMEOUT, environment=variables,
    )  # fmt: skip


def to_tree_path(path: str) -> str:
    """Return where a snapshot's tree has the file `path` of the worktree.

    The same path, except for files below a name that happens to be `RESERVED`.
    """
    return f"{RESERVED}/displaced/{path}" if path.split("/", 1)[0] == RESERVED else path


def to_file_path(tree_path: str) -> str | None:
    """Return the file of the worktree that a snapshot has at `tree_path`; `None` for other data."""
    if tree_path.split("/", 1)[0] != RESERVED:
        return tree_path
    displaced = f"{RESERVED}/displaced/"
    return tree_path.removeprefix(displaced) if tree_path.startswith(displaced) else None


def index_lines(entries: Collection[tuple[str, Entry | None]], stage: int = 0) -> bytes:
    """Return the input of `update-index -z --index-info`; `None` removes a path."""
    null = "0" * max((len(entry.object_id) for _, entry in entries if entry), default=40)
    return b"".join(
        (f"{entry.mode} {entry.object_id} {stage}\t" if entry else f"0 {null} 0\t").encode()
        + os.fsencode(path)
        + b"\0"
        for path, entry in entries
    )


def parse_tree(output: bytes) -> dict[str, Entry]:
    """Parse the output of `ls-tree -z`: the entry of each path."""
    entries = {}
    for line in output.split(b"\0"):
        if line:
            head, _, path = line.partition(b"\t")
            mode, _, object_id = head.decode().split(" ")[:3]
            entries[os.fsdecode(path)] = Entry(mode, object_id)
    return entries


def split_batch(output: bytes) -> list[tuple[str, bytes]]:
    """Parse the output of `cat-file --batch`: ids and contents. What is missing is left out."""
    found = []
    position = 0
    while position < len(output):
        end = output.index(b"\n", position)
        fields = output[position:end].decode().split(" ")
        position = end + 1
        if len(fields) == 3:
            size = int(fields[2])
            found.append((fields[0], output[position : position + size]))
            position += size + 1
    return found


def quote_path(path: str) -> bytes:
    """Return a path as a line for `hash-object --stdin-paths`, in quotes where it needs them."""
    raw = os.fsencode(path)
    if all(byte >= 0x20 and byte not in b'"\\' for byte in raw):
        return raw
    octal = (rb"\%03o" % byte if byte < 0x20 or byte in b'"\\' else bytes([byte]) for byte in raw)
    return b'"' + b"".join(octal) + b'"'
