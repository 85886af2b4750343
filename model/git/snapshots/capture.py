"""Write the tree of a snapshot: bytes as on disk, the index, and the state of an operation."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError, worktree_directory_missing
from model.base.git_layout import GitDirectories, find_git_directories
from model.git.run import git
from model.git.snapshots import conversions, plumbing, state
from model.git.snapshots.conversions import ConvertedFiles
from model.git.snapshots.objects import NewObjects
from model.git.snapshots.reading import FileReader, FileVanishedError, KnownFile
from model.git.snapshots.scan import Tracked, read_mode, scan
from model.git.snapshots.state import WorktreeState
from model.git.snapshots.trees import edit_trees
from model.git.working_tree import Entry, WorkingTree

_ATTEMPTS: Final = 3
"""A file that vanishes while it is read makes one attempt fail."""
MAX_IGNORED_FILE: Final = 50_000_000
"""Bytes; larger ignored files are never part of a snapshot."""


@dataclass(frozen=True, slots=True)
class CapturedTree:
    """A tree, and the commits that it depends on."""

    tree: str
    state: WorktreeState
    operation_commits: list[str]
    """Commits of a merge or rebase in progress."""
    objects: NewObjects
    """What has to be stored for the tree to exist."""
    known: dict[str, KnownFile]
    """Files that the next capture need not read, once the objects are stored and kept."""


async def write_tree(root: Path) -> CapturedTree:
    """Capture the worktree at `root`, and store its tree; nothing keeps it from `git gc`.

    Raises as `capture_tree`.
    """
    captured = await capture_tree(root)
    await captured.objects.store()
    return captured


async def capture_tree(
    root: Path,
    known: Mapping[str, KnownFile] | None = None,
    *,
    complete: bool = False,
    include_ignored: bool = False,
    besides: Sequence[str] = (),
) -> CapturedTree:
    """Make a tree of everything in the worktree at `root`, without changing the worktree.

    Args:
        root: The worktree.
        known: Files that the repository has, from an earlier capture.
        complete: Look for empty folders and unusual permissions everywhere, for a worktree that
            is going to be deleted.
        include_ignored: Include ignored files of up to `MAX_IGNORED_FILE` bytes.
        besides: Single ignored files to include, as far as they exist.

    Raises:
        SpinneyError: What git reports, such as a full disk.
    """
    directories = await asyncio.to_thread(find_git_directories, root)
    if directories is None:
        raise worktree_directory_missing(str(root))
    for attempt in range(_ATTEMPTS):
        index = directories.git_dir / "index"
        found, tracked = await scan(root, index, with_names=complete)
        objects = await NewObjects.create(root)
        capture = _Capture(root, directories, found, tracked, objects, known)
        try:
            ignored = await capture.list_ignored() if include_ignored else besides
            return await capture.run(ignored, complete=complete)
        except FileVanishedError as error:
            if attempt == _ATTEMPTS - 1:
                raise SpinneyError(
                    f"The files in {root} change too fast to be saved: {error}. Try again.",
                    "conflict",
                ) from None
    raise AssertionError("unreachable")


class _Capture:
    """One attempt to make a tree."""

    def __init__(
        self,
        root: Path,
        directories: GitDirectories,
        found: WorkingTree,
        tracked: Tracked,
        objects: NewObjects,
        known: Mapping[str, KnownFile] | None,
    ) -> None:
        self._root = root
        self._directories = directories
        self._scan = found
        self._tracked = tracked
        self._objects = objects
        self._reader = FileReader(root, objects, known)

    async def run(self, ignored: Sequence[str], *, complete: bool) -> CapturedTree:
        gitlinks = await self._read_gitlinks()
        empty_folders = await self._find_empty_folders() if complete else []
        normal_tree, converted = await self._convert(gitlinks)
        paths = list(
            dict.fromkeys([*self._scan.present, *converted.paths, *self._tracked.reserved])
        )
        left_out = await asyncio.to_thread(self._read_files, paths, ignored)
        operation = await asyncio.to_thread(self._read_operation)
        await self._reader.store_large()
        modes = await asyncio.to_thread(
            state.find_unusual_modes, self._root, self._tracked.names * complete
        )
        kept = WorktreeState(
            commit=self._scan.commit,
            branch=self._scan.branch,
            staged_removals=self._scan.staged_removals,
            intent_to_add=self._scan.intent_to_add,
            flags=self._tracked.flags,
            modes={**modes, **self._reader.modes},
            empty_folders=empty_folders,
            nested=[*self._scan.nested, *self._scan.submodules],
            left_out=left_out,
            left_to_filters=converted.left_to_filters,
            normal_tree=normal_tree,
        )
        entries = {**self._reader.entries, **self._list_state_entries(kept), **gitlinks}
        tree = await self._edit(self._list_gone(paths, entries), entries)
        return CapturedTree(tree, kept, operation, self._objects, self._reader.known)

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

    async def list_ignored(self) -> list[str]:
        """Return the paths of all ignored files."""
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
        attributes = [
            path
            for path in (*self._tracked.attributes, *self._scan.present)
            if path.endswith(".gitattributes")
        ]
        if not await conversions.may_convert(self._root, self._directories, attributes):
            return None, ConvertedFiles([], [])
        modes = await asyncio.to_thread(
            lambda: {path: read_mode(f"{self._root}/{path}") for path in self._scan.present}
        )
        regular = [path for path, mode in modes.items() if mode and mode.startswith("100")]
        objects = await conversions.hash_as_git(self._root, regular) if regular else []
        entries = {
            plumbing.to_tree_path(path): Entry(modes[path] or "", object_id)
            for path, object_id in zip(regular, objects, strict=True)
        }
        tree = await self._edit(self._list_gone(regular, entries), {**entries, **gitlinks})
        await self._objects.store()
        converted = await conversions.find_converted_files(self._root, tree)
        return (tree if converted.paths else None), converted

    def _read_files(self, paths: list[str], ignored: Sequence[str]) -> list[str]:
        """Read what may differ from the commit; return what was left out."""
        self._reader.read(paths)
        small = [path for path in ignored if self._is_small(path)]
        self._reader.read(small, f"{state.IGNORED_FOLDER}/")
        return [*self._reader.unreadable, *(path for path in ignored if path not in set(small))]

    def _is_small(self, path: str) -> bool:
        try:
            return (self._root / path).lstat().st_size <= MAX_IGNORED_FILE
        except OSError:
            return False

    def _read_operation(self) -> list[str]:
        """Read the files of an operation in progress; return the commits that it needs."""
        operation = state.list_operation_files(self._directories.git_dir)
        for name, file in operation.items():
            self._reader.read_file(str(file), f"{state.GIT_FOLDER}/{name}")
        return state.find_operation_commits(operation)

    def _list_state_entries(self, kept: WorktreeState) -> dict[str, Entry]:
        """Return the entries for what is not a file."""
        entries = {state.STATE_FILE: Entry("100644", self._objects.add("blob", kept.to_json()))}
        for path, entry in self._scan.staged.items():
            entries[f"{state.INDEX_FOLDER}/{path}"] = entry
        for stage, path, entry in self._scan.unmerged:
            entries[f"{state.UNMERGED_FOLDER}/{stage}/{path}"] = entry
        return entries

    def _list_gone(self, paths: Iterable[str], entries: Mapping[str, Entry]) -> list[str]:
        """Return the files that the tree does not have where the commit may have them."""
        gone = [path for path in paths if plumbing.to_tree_path(path) not in entries]
        return [*gone, *self._tracked.reserved]

    async def _edit(self, gone: list[str], entries: Mapping[str, Entry]) -> str:
        changes = {**self._scan.list_index_changes(), **dict.fromkeys(gone), **entries}
        (tree,) = await edit_trees(self._root, [(self._scan.commit, changes)], self._objects)
        return tree
