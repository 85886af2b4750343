"""Take back the changes between two snapshots: a reverse merge, so that later changes stay."""

import asyncio
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

from model.git.run import git
from model.git.snapshots import files, plumbing
from model.git.working_tree import Entry

Action = Literal["restore", "merge", "conflict", "keep"]
"""`restore`: nothing else changed the file, so its old content comes back. `merge`: other changes
stay. `conflict`: the same lines were changed since. `keep`: the file stays as it is."""
Choice = Literal["keep", "before", "markers"]
"""For one file: leave it, bring its old content back, or write both with conflict markers."""

_MAX_MERGED: Final = 5_000_000
"""Bytes; a larger file is not merged line by line."""


@dataclass(frozen=True, slots=True)
class ReversedFile:
    """What taking back a change does to one file."""

    path: str
    action: Action
    now: Entry | None
    before: Entry | None
    """The content before the change; `None` if the file did not exist."""
    result: Entry | None
    """The content after a `restore` or `merge`."""
    markers: Entry | None = None
    """For a conflict between texts: both contents with conflict markers."""

    def choose(self, choice: Choice) -> "ReversedFile":
        """Return the file as the person decided."""
        if choice == "keep":
            return replace(self, action="keep", result=self.now)
        chosen = self.before if choice == "before" else self.markers or self.now
        return replace(self, action="restore", result=chosen)


Change = Mapping[str, tuple[Entry | None, Entry | None]]
"""By path: the entries before and after a change."""


async def plan_reverse(
    root: Path, changes: Sequence[Change], now: str, kept: Collection[str] = ()
) -> list[ReversedFile]:
    """Compute what taking back changes does to each file, without touching the worktree.

    Args:
        root: The worktree.
        changes: The newest first; each is taken back on top of the one before it.
        now: The tree of the worktree's present content.
        kept: Paths that are not to be touched, since others changed them.

    Returns:
        A file for each changed path, sorted; without those that are ignored now.
    """
    paths = sorted({path for change in changes for path in change})
    tree_paths = [plumbing.to_tree_path(path) for path in paths]
    present = await files.read_entries(root, now, tree_paths)
    absent = [path for path in paths if plumbing.to_tree_path(path) not in present]
    ignored = await asyncio.to_thread(files.find_existing, root, absent)
    paths = [path for path in paths if path not in ignored]
    found = {}
    for path in paths:
        entry = present.get(plumbing.to_tree_path(path))
        found[path] = ReversedFile(path, "keep", entry, entry, entry)
    for change in changes:
        for path, (before, after) in change.items():
            if path in ignored:
                continue
            if path in kept:
                found[path] = replace(found[path], before=before)
            else:
                found[path] = await _reverse(root, found[path], before, after)
    return [found[path] for path in paths]


async def _reverse(
    root: Path, file: ReversedFile, before: Entry | None, after: Entry | None
) -> ReversedFile:
    """Take back one more change of a file, on top of what is planned for it."""
    if file.action == "conflict":
        return replace(file, before=before)
    present = file.result
    if present == before:
        return replace(file, before=before)
    if present == after:
        action: Action = "merge" if file.action == "merge" else "restore"
        return replace(file, action=action, before=before, result=before)
    merged, has_conflict = await _merge(root, base=after, ours=present, theirs=before)
    if merged is None or has_conflict:
        return replace(file, action="conflict", before=before, result=file.now, markers=merged)
    return replace(file, action="merge", before=before, result=merged)


async def _merge(
    root: Path, *, base: Entry | None, ours: Entry | None, theirs: Entry | None
) -> tuple[Entry | None, bool]:
    """Merge three entries; `None` if they cannot be merged as texts, and whether they conflict."""
    if base is None or ours is None or theirs is None:
        return None, True
    if any(not entry.mode.startswith("100") for entry in (base, ours, theirs)):
        return None, True
    mode = theirs.mode if ours.mode == base.mode else ours.mode
    if ours.object_id == base.object_id:
        return Entry(mode, theirs.object_id), False
    if theirs.object_id == base.object_id:
        return Entry(mode, ours.object_id), False
    contents = {
        object_id: content
        async for object_id, content in files.read_blobs(
            root, (ours.object_id, base.object_id, theirs.object_id)
        )
    }
    texts = [contents[entry.object_id] for entry in (ours, base, theirs)]
    if any(len(text) > _MAX_MERGED or b"\0" in text for text in texts):
        return None, True
    merged, has_conflict = await _merge_texts(root, texts)
    stored = await plumbing.run(root, "hash-object", "-w", "--no-filters", "--stdin", stdin=merged)
    return Entry(mode, stored.stdout), has_conflict


async def _merge_texts(root: Path, texts: list[bytes]) -> tuple[bytes, bool]:
    def write(folder: str) -> list[str]:
        names = []
        for name, text in zip(("now", "after", "before"), texts, strict=True):
            (Path(folder) / name).write_bytes(text)
            names.append(str(Path(folder) / name))
        return names

    with tempfile.TemporaryDirectory(prefix="spinney-") as folder:
        names = await asyncio.to_thread(write, folder)
        merged = await git(
            root, "merge-file", "-p", "-q", "-L", "now", "-L", "after the turn",
            "-L", "before the turn", *names, check=False,
        )  # fmt: skip
    return merged.raw_stdout, merged.returncode != 0


async def apply_reverse(
    root: Path, planned: Sequence[ReversedFile], modes: Mapping[str, int] | None = None
) -> list[str]:
    """Write the planned contents to the worktree. Conflicts must have been decided.

    A file that comes back gets its permissions from `modes`, if they are unusual; others keep
    theirs. Returns the files that were saved since the plan was made, and stay as they are. Raises
    `SpinneyError` as `files.write_entries`; running it again continues.
    """
    wanted = list_written(planned)
    expected = {file.path: file.now for file in planned}
    returning = {file.path for file in planned if file.now is None}
    known = {path: mode for path, mode in (modes or {}).items() if path in returning}
    return await files.write_entries(root, wanted, known, expected)


def list_written(planned: Sequence[ReversedFile]) -> dict[str, Entry | None]:
    """Return the new contents of the files that `apply_reverse` changes, by path."""
    return {file.path: file.result for file in planned if file.result != file.now}
