"""Find the conflicts that merging worktrees would have, with everything uncommitted in them.

Each worktree becomes a commit of the files as git would store them, with its checked-out commit as
the only parent. It is none of the snapshots: their parents are earlier snapshots, so that the
common ancestor of two of them may be newer than that of their branches, and polling would fill the
chains. These commits are written to `ScratchObjects`, and the same files make the same commit.
"""

import asyncio
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model.base.git_layout import find_git_directories
from model.git.run import LARGE_FILE, git, git_version
from model.git.safe_config import replace_merge_drivers
from model.git.snapshots import conversions, plumbing
from model.git.snapshots.plumbing import Entry
from model.git.snapshots.scan import Scan, get_mode, scan_changes
from model.git.snapshots.scratch import ScratchObjects

OLDEST_MERGING_GIT: Final = (2, 39)
"""`merge-tree --stdin` came with it."""
_MAX_NEW_FILES: Final = 2000
"""If a worktree has more untracked files, they are left out: `.gitignore` lacks a folder."""
_TIMEOUT: Final = 60.0
_FAST: Final = ("-c", "core.looseCompression=0")
_DATE: Final = {"GIT_AUTHOR_DATE": "@1 +0000", "GIT_COMMITTER_DATE": "@1 +0000"}


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


async def capture_commit(root: Path, head: str, scratch: ScratchObjects) -> str:
    """Return a commit of everything in the worktree at `root`, whose commit was `head`.

    Left out are changes of files over 5 MB and of files that a filter handles (Git LFS), unless
    they are staged.

    Raises:
        SpinneyError: What git reports; also if a file vanishes meanwhile.
    """
    found = await scan_changes(root)
    commit = found.commit or head
    with tempfile.TemporaryDirectory(prefix="spinney-") as folder:
        capture = _Capture(root, Path(folder), scratch)
        tree = await capture.write_tree(found)
    stored = await plumbing.run(
        root, *_FAST, "commit-tree", "-p", commit, "-m", "Files", tree,
        environment={**_DATE, **scratch.environment},
    )  # fmt: skip
    return stored.stdout


async def merge_pairs(
    root: Path, pairs: Sequence[tuple[str, str]], scratch: ScratchObjects
) -> list[list[Unmerged]]:
    """Merge pairs of commits, and return the conflicted files of each. One process does all."""
    if not pairs:
        return []
    drivers = await asyncio.to_thread(replace_merge_drivers, root)
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


class _Capture:
    """Writes the tree of one worktree, with a temporary index in `workplace`."""

    def __init__(self, root: Path, workplace: Path, scratch: ScratchObjects) -> None:
        self._root = root
        self._workplace = workplace
        self._index = workplace / "index"
        self._environment = scratch.environment

    async def write_tree(self, found: Scan) -> str:
        entries = await self._hash(await self._choose(found))
        kept = [path for path in found.removed if path not in entries]
        changes: dict[str, Entry | None] = {**dict.fromkeys(kept), **entries}
        await asyncio.to_thread(self._copy_index)
        if changes:
            await self._run(
                "update-index", "-z", "--index-info", stdin=plumbing.index_lines(changes.items())
            )
        return await self._run("write-tree", "--missing-ok")

    async def _choose(self, found: Scan) -> dict[str, str]:
        """Return the files whose content on disk counts, with their modes."""
        names = set(found.untracked) if len(found.untracked) > _MAX_NEW_FILES else set()
        modes = await asyncio.to_thread(self._read_modes, set(found.present) - names)
        filtered = await conversions.list_filtered(self._root, modes)
        return {path: mode for path, mode in sorted(modes.items()) if path not in filtered}

    def _read_modes(self, paths: set[str]) -> dict[str, str]:
        modes = {}
        for path in paths:
            file = self._root / path
            mode = get_mode(file)
            is_readable = mode == "120000" or os.access(file, os.R_OK)
            if mode and is_readable and file.lstat().st_size <= LARGE_FILE:
                modes[path] = mode
        return modes

    async def _hash(self, modes: Mapping[str, str]) -> dict[str, Entry]:
        links = [path for path, mode in modes.items() if mode == "120000"]
        regular = [path for path in modes if modes[path] != "120000"]
        blobs: dict[str, str] = {}
        if regular:
            hashed = await conversions.hash_as_git(self._root, regular, self._environment)
            blobs |= zip(regular, hashed, strict=True)
        if links:
            files = await asyncio.to_thread(self._write_targets, links)
            stdin = b"".join(plumbing.quote_path(file) + b"\n" for file in files)
            hashed = (
                await self._run("hash-object", "-w", "--no-filters", "--stdin-paths", stdin=stdin)
            ).split()
            blobs |= zip(links, hashed, strict=True)
        return {path: Entry(modes[path], blob) for path, blob in blobs.items()}

    def _write_targets(self, links: list[str]) -> list[str]:
        files = []
        for number, path in enumerate(links):
            file = self._workplace / str(number)
            file.write_bytes(os.fsencode((self._root / path).readlink()))
            files.append(str(file))
        return files

    def _copy_index(self) -> None:
        directories = find_git_directories(self._root)
        source = directories.git_dir / "index" if directories else None
        if source is not None and source.exists():
            self._index.write_bytes(source.read_bytes())

    async def _run(self, *args: str, stdin: bytes = b"") -> str:
        done = await plumbing.run(
            self._root, *_FAST, *args, index=self._index, stdin=stdin, environment=self._environment
        )
        return done.stdout
