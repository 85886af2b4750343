"""Write the tree of a snapshot: bytes as on disk, the index, and the state of an operation."""

import asyncio
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError, worktree_directory_missing
from model.base.git_layout import GitDirectories, find_git_directories
from model.git.run import git
from model.git.snapshots import conversions, plumbing, state
from model.git.snapshots.conversions import ConvertedFiles
from model.git.snapshots.plumbing import Entry
from model.git.snapshots.scan import Scan, get_mode, scan
from model.git.snapshots.state import WorktreeState

_ATTEMPTS: Final = 3
"""A file that vanishes while it is read makes one attempt fail."""
MAX_IGNORED_FILE: Final = 50_000_000
"""Bytes; larger ignored files are never part of a snapshot."""


@dataclass(frozen=True, slots=True)
class CapturedTree:
    """A tree that was written, and the commits that it depends on."""

    tree: str
    state: WorktreeState
    operation_commits: list[str]
    """Commits of a merge or rebase in progress."""


async def write_tree(
    root: Path, *, complete: bool = False, include_ignored: bool = False
) -> CapturedTree:
    """Store everything in the worktree at `root` as a tree, without changing the worktree.

    Args:
        root: The worktree.
        complete: Look for empty folders and unusual permissions everywhere, for a worktree that
            is going to be deleted.
        include_ignored: Include ignored files of up to `MAX_IGNORED_FILE` bytes.

    Raises:
        SpinneyError: What git reports, such as a full disk.
    """
    directories = await asyncio.to_thread(find_git_directories, root)
    if directories is None:
        raise worktree_directory_missing(str(root))
    for attempt in range(_ATTEMPTS):
        async with workplace() as folder:
            capture = _Capture(root, directories, folder, await scan(root))
            try:
                return await capture.write(complete=complete, include_ignored=include_ignored)
            except _FileVanishedError as error:
                if attempt == _ATTEMPTS - 1:
                    raise SpinneyError(
                        f"The files in {root} change too fast to be saved: {error}. Try again.",
                        "conflict",
                    ) from None
    raise AssertionError("unreachable")


@asynccontextmanager
async def workplace() -> AsyncIterator[Path]:
    """Yield a temporary folder, created and deleted in a thread."""
    folder = await asyncio.to_thread(tempfile.mkdtemp, prefix="spinney-")
    try:
        yield Path(folder)
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


class _FileVanishedError(Exception):
    """A file could not be read any more after the scan."""


@dataclass(slots=True)
class _Sources:
    """The files whose bytes become part of the tree, by their path in the tree."""

    files: dict[str, tuple[str, Path]] = field(default_factory=dict)
    """The mode, and the file that has the content."""
    left_out: list[str] = field(default_factory=list)


class _Capture:
    """One attempt to write a tree, with a temporary index in `workplace`."""

    def __init__(
        self, root: Path, directories: GitDirectories, workplace: Path, found: Scan
    ) -> None:
        self._root = root
        self._directories = directories
        self._workplace = workplace
        self._index = workplace / "index"
        self._scan = found

    async def write(self, *, complete: bool, include_ignored: bool) -> CapturedTree:
        gitlinks = await self._read_gitlinks()
        ignored = await self._list_ignored() if include_ignored else []
        empty_folders = await self._find_empty_folders() if complete else []
        await asyncio.to_thread(self._copy_index)
        normal_tree, converted = await self._convert(gitlinks)
        displaced = [path for path in self._scan.tracked if plumbing.to_tree_path(path) != path]
        paths = list(dict.fromkeys([*self._scan.present, *converted.paths, *displaced]))
        sources = await asyncio.to_thread(self._collect, paths, ignored)
        kept = WorktreeState(
            commit=self._scan.commit,
            branch=self._scan.branch,
            staged_removals=self._scan.staged_removals,
            intent_to_add=self._scan.intent_to_add,
            flags=self._scan.flags,
            modes=await asyncio.to_thread(
                state.find_unusual_modes,
                self._root,
                {*paths, *ignored, *(self._scan.tracked * complete)},
            ),
            empty_folders=empty_folders,
            nested=[*self._scan.nested, *self._scan.submodules],
            left_out=sources.left_out,
            left_to_filters=converted.left_to_filters,
            normal_tree=normal_tree,
        )
        operation = await asyncio.to_thread(self._add_state_files, sources, kept)
        entries = await self._hash(sources)
        tree = await self._write_index({**self._removals(paths, entries), **entries, **gitlinks})
        return CapturedTree(tree, kept, operation)

    # Reading -----------------------------------------------------------------------------------

    async def _read_gitlinks(self) -> dict[str, Entry]:
        """Return the submodules that moved and the repositories inside, with their commits."""
        found = {}
        for path in [*self._scan.submodules, *self._scan.nested]:
            head = await git(
                self._root / path, "rev-parse", "--verify", "--quiet", "HEAD", check=False
            )
            if head.returncode == 0:
                found[plumbing.to_tree_path(path)] = Entry("160000", head.stdout)
        return found

    async def _list_ignored(self) -> list[str]:
        listed = await git(
            self._root, "ls-files", "-z", "--others", "--ignored", "--exclude-standard",
            timeout=120,
        )  # fmt: skip
        return listed.fields

    async def _find_empty_folders(self) -> list[str]:
        listed = await git(
            self._root, "ls-files", "-z", "--others", "--directory", "--exclude-standard",
            timeout=120,
        )  # fmt: skip
        folders = [path for path in listed.fields if path.endswith("/")]
        return await asyncio.to_thread(state.find_empty_folders, self._root, folders)

    async def _convert(self, gitlinks: dict[str, Entry]) -> tuple[str | None, ConvertedFiles]:
        """Return the tree as git would store it and the files that differ from it on disk."""
        may_convert = await conversions.may_convert(
            self._root, self._directories, self._scan.tracked
        )
        if not may_convert:
            return None, ConvertedFiles([], [])
        modes = await asyncio.to_thread(
            lambda: {path: get_mode(self._root / path) for path in self._scan.present}
        )
        regular = [path for path, mode in modes.items() if mode and mode.startswith("100")]
        objects = await conversions.hash_as_git(self._root, regular) if regular else []
        entries = {
            plumbing.to_tree_path(path): Entry(modes[path] or "", object_id)
            for path, object_id in zip(regular, objects, strict=True)
        }
        changes = {**self._removals(regular, entries), **entries, **gitlinks}
        tree = await self._write_index(changes)
        converted = await conversions.find_converted_files(self._root, tree)
        return (tree if converted.paths else None), converted

    # Storing -----------------------------------------------------------------------------------

    def _copy_index(self) -> None:
        source = self._directories.git_dir / "index"
        if source.exists():
            shutil.copy2(source, self._index)

    def _collect(self, paths: list[str], ignored: list[str]) -> _Sources:
        sources = _Sources()
        for path in paths:
            self._add_source(sources, path, plumbing.to_tree_path(path))
        for path in ignored:
            if (self._root / path).lstat().st_size <= MAX_IGNORED_FILE:
                self._add_source(sources, path, f"{state.IGNORED_FOLDER}/{path}")
            else:
                sources.left_out.append(path)
        return sources

    def _add_source(self, sources: _Sources, path: str, tree_path: str) -> None:
        file = self._root / path
        mode = get_mode(file)
        if mode is None:
            return
        if mode == "120000":
            file = self._write_temporary(os.fsencode(file.readlink()))
        elif not os.access(file, os.R_OK):
            sources.left_out.append(path)
            return
        sources.files[tree_path] = mode, file

    def _write_temporary(self, content: bytes) -> Path:
        descriptor, name = tempfile.mkstemp(dir=self._workplace)
        os.close(descriptor)
        Path(name).write_bytes(content)
        return Path(name)

    def _add_state_files(self, sources: _Sources, kept: WorktreeState) -> list[str]:
        """Add what is not a file of the worktree; return the commits of an operation."""
        sources.files[state.STATE_FILE] = "100644", self._write_temporary(kept.to_json())
        operation = state.list_operation_files(self._directories.git_dir)
        for name, file in operation.items():
            sources.files[f"{state.GIT_FOLDER}/{name}"] = "100644", file
        return state.find_operation_commits(operation)

    async def _hash(self, sources: _Sources) -> dict[str, Entry]:
        """Store all files byte for byte, and return the entries of the tree."""
        lines = [
            plumbing.quote_path(str(file if file.is_absolute() else self._root / file))
            for _, file in sources.files.values()
        ]
        hashed = await plumbing.run(
            self._root, "hash-object", "-w", "--no-filters", "--stdin-paths",
            stdin=b"".join(line + b"\n" for line in lines), check=False,
        )  # fmt: skip
        if hashed.returncode != 0:
            if "could not open" in hashed.stderr or "No such file" in hashed.stderr:
                raise _FileVanishedError(hashed.message)
            raise SpinneyError(hashed.message, "git_error")
        entries = {
            path: Entry(mode, object_id)
            for (path, (mode, _)), object_id in zip(
                sources.files.items(), hashed.stdout.split(), strict=True
            )
        }
        for path, entry in self._scan.staged.items():
            entries[f"{state.INDEX_FOLDER}/{path}"] = entry
        for stage, path, entry in self._scan.unmerged:
            entries[f"{state.UNMERGED_FOLDER}/{stage}/{path}"] = entry
        return entries

    def _removals(self, paths: list[str], entries: dict[str, Entry]) -> dict[str, Entry | None]:
        """Return what the copied index has to lose: files that are gone, and all conflicts."""
        gone = [path for path in paths if plumbing.to_tree_path(path) not in entries]
        displaced = [path for path in self._scan.tracked if plumbing.to_tree_path(path) != path]
        return dict.fromkeys([*self._scan.removed, *gone, *displaced])

    async def _write_index(self, changes: Mapping[str, Entry | None]) -> str:
        """Apply changes to the temporary index, and return its tree."""
        await plumbing.run(
            self._root, "update-index", "-z", "--index-info", index=self._index,
            stdin=plumbing.index_lines(changes.items()),
        )  # fmt: skip
        # What a partial clone has not fetched may be missing.
        return (
            await plumbing.run(self._root, "write-tree", "--missing-ok", index=self._index)
        ).stdout
