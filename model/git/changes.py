"""List changed files and their patches: in the working tree, in the index, or on the branch.

Git's file names are bytes, displayed names are text. `ChangedFile` maps between them: a displayed
name resolves only to files that have changes, so no path can point anywhere else.
"""

import asyncio
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.text import make_visible
from model.domain.changes import ConflictSide, FileStatus, Side
from model.git.diff import DIFF_ARGUMENTS, MAX_BYTES, TIMEOUT, find_branch_range, resolve_head
from model.git.log import resolve_commit
from model.git.patches import FilePatch, split_patch
from model.git.run import git
from model.git.snapshots import plumbing
from model.git.status import get_empty_tree, list_untracked_files
from model.git.untracked import count_lines_per_file, render_new_files

_STATUS: Final[dict[str, FileStatus]] = {
    "A": "added", "M": "modified", "D": "deleted", "R": "renamed", "C": "copied", "T": "retyped",
    "U": "conflicted",
}  # fmt: skip
_DELETED_BY: Final[dict[str, ConflictSide]] = {"13": "ours", "12": "theirs"}
"""Which side deleted a file, by its stages in the index: base, ours, theirs."""
_SUBMODULE: Final = "160000"
_LINE_BREAKS: Final = str.maketrans({"\n": "␊", "\r": "␍", "\t": "␉"})


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A changed file. Line counts are `None` for binary files."""

    name: str
    """The path in the worktree, as `os` accepts it."""
    status: FileStatus
    old_name: str | None = None
    added: int | None = 0
    removed: int | None = 0
    old_mode: str = ""
    """Git's file mode, six digits; `000000` if there is no file."""
    mode: str = ""
    deleted_by: ConflictSide | None = None
    """Which side of a conflict deleted the file that the other one changed."""

    @property
    def is_submodule(self) -> bool:
        """Whether the entry is a submodule."""
        return _SUBMODULE in (self.old_mode, self.mode)

    @property
    def names(self) -> tuple[str, ...]:
        """The current name and, for a rename, the old one before it."""
        return (self.old_name, self.name) if self.old_name else (self.name,)


def to_display_name(name: str) -> str:
    """Return a file name as visible text on one line."""
    return make_visible(os.fsencode(name).decode("utf-8", "replace").translate(_LINE_BREAKS))


async def list_changed_files(path: Path, side: Side, base: str | None = None) -> list[ChangedFile]:
    """Return the changed files sorted by name. Conflicts belong to `unstaged`, never to `staged`.

    Args:
        path: The worktree.
        side: What is compared.
        base: For `branch`: the base.
    """
    found = await _list_between(path, side, await find_compared_commits(path, side, base))
    if side == "unstaged":
        found = await _note_deletions(path, found)
        untracked = await list_untracked_files(path)
        counts = await asyncio.to_thread(count_lines_per_file, path, untracked)
        found += [
            ChangedFile(name, "untracked", added=lines)
            for name, lines in zip(untracked, counts, strict=True)
        ]
    else:
        found = [file for file in found if file.status != "conflicted"]
    return sorted(found, key=lambda file: file.name)


async def _note_deletions(path: Path, found: list[ChangedFile]) -> list[ChangedFile]:
    """Add to each file with a conflict which side deleted it."""
    if not any(file.status == "conflicted" for file in found):
        return found
    stages: dict[str, str] = {}
    for field in (await git(path, "ls-files", "--unmerged", "-z")).fields:
        entry, _, name = field.partition("\t")
        stages[name] = stages.get(name, "") + entry[-1]
    return [replace(file, deleted_by=_DELETED_BY.get(stages.get(file.name, ""))) for file in found]


async def list_commit_files(path: Path, commit: str) -> list[ChangedFile]:
    """Return the files that a commit changed, compared with its first parent, sorted by name."""
    found = await _list_between(path, "branch", await _find_commit_range(path, commit))
    return sorted(found, key=lambda file: file.name)


async def read_commit_patch(path: Path, commit: str, display_name: str) -> tuple[FilePatch, bool]:
    """Return the patch of one file of a commit, and whether it was truncated."""
    file = _find_by_display_name(await list_commit_files(path, commit), display_name)
    return await _read_between(path, "branch", file, await _find_commit_range(path, commit))


async def list_files_between(
    path: Path, before: str, after: str, environment: Mapping[str, str] | None = None
) -> list[ChangedFile]:
    """Return the files that differ between two snapshots' trees, sorted by name.

    `environment` says where git finds objects that are not in the repository.
    """
    found = await _list_between(path, "branch", (before, after), environment)
    return [file for file in found if plumbing.to_file_path(file.name) == file.name]


async def read_patch_between(
    path: Path,
    before: str,
    after: str,
    display_name: str,
    environment: Mapping[str, str] | None = None,
) -> tuple[FilePatch, bool]:
    """Return the diff of one file between two snapshots' trees, and whether it is truncated."""
    found = await list_files_between(path, before, after, environment)
    file = _find_by_display_name(found, display_name)
    return await _read_between(path, "branch", file, (before, after), environment)


async def list_files_since(path: Path, commit: str) -> list[ChangedFile]:
    """Return the files that differ between a commit and the worktree's files, sorted by name."""
    found = await _list_between(path, "branch", (commit,))
    untracked = await list_untracked_files(path)
    counts = await asyncio.to_thread(count_lines_per_file, path, untracked)
    found += [
        ChangedFile(name, "untracked", added=lines)
        for name, lines in zip(untracked, counts, strict=True)
    ]
    return sorted(found, key=lambda file: file.name)


async def read_patch_since(path: Path, commit: str, file: ChangedFile) -> tuple[FilePatch, bool]:
    """Return the patch of one file since a commit, and whether it was truncated."""
    if file.status == "untracked":
        return await read_patch(path, "unstaged", file)
    return await _read_between(path, "branch", file, (commit,))


async def find_changed_file(
    path: Path, side: Side, display_name: str, base: str | None = None
) -> ChangedFile:
    """Return the file with this displayed name. Raises `SpinneyError` if it has no changes."""
    return _find_by_display_name(await list_changed_files(path, side, base), display_name)


def _find_by_display_name(found: Iterable[ChangedFile], display_name: str) -> ChangedFile:
    files = [file for file in found if to_display_name(file.name) == display_name]
    if len(files) == 1:
        return files[0]
    if files:
        raise SpinneyError(
            f"{len(files)} files are displayed as '{display_name}': their names differ only in "
            "invisible characters. Rename one of them first.",
            "conflict",
        )
    raise SpinneyError(
        f"'{display_name}' no longer has such changes. Refresh the list.", "conflict"
    )


async def read_patch(
    path: Path, side: Side, file: ChangedFile, base: str | None = None
) -> tuple[FilePatch, bool]:
    """Return the patch of one file, and whether it was truncated because it is too large."""
    if file.status == "untracked":
        text = await asyncio.to_thread(render_new_files, path, [file.name])
        return split_patch(text.encode("utf-8", "replace")), False
    commits = await find_compared_commits(path, side, base)
    if file.status == "conflicted":  # against ours: a combined diff is hard to read
        commits = (await resolve_head(path),)
    return await _read_between(path, side, file, commits)


async def _list_between(
    path: Path,
    side: Side,
    commits: tuple[str, ...],
    environment: Mapping[str, str] | None = None,
) -> list[ChangedFile]:
    command = diff_arguments(side, commits, "--raw", "--numstat", "-z")
    result = await git(path, *command, "--", timeout=TIMEOUT, environment=environment)
    return await asyncio.to_thread(_parse_raw_numstat, result.fields)


async def _read_between(
    path: Path,
    side: Side,
    file: ChangedFile,
    commits: tuple[str, ...],
    environment: Mapping[str, str] | None = None,
) -> tuple[FilePatch, bool]:
    command = diff_arguments(side, commits)
    pathspecs = to_pathspecs(file.names)
    result = await git(
        path, *command, "--", *pathspecs, timeout=TIMEOUT, max_bytes=MAX_BYTES,
        environment=environment,
    )  # fmt: skip
    raw = result.raw_stdout
    if result.is_truncated:
        limit = f"{MAX_BYTES // 1_000_000} MB"
        raw = raw.rpartition(b"\n")[0]
        raw += f"\n\\ The rest is not shown: the diff is larger than {limit}.\n".encode()
    return await asyncio.to_thread(split_patch, raw), result.is_truncated


def diff_arguments(side: Side, commits: tuple[str, ...], *options: str) -> tuple[str, ...]:
    """Return the arguments of a `git diff` of this side without the file names."""
    # In a submodule only a new commit can be staged, not the changes inside it.
    flag = ("--cached",) if side == "staged" else ()
    # Without commits git 2.39 takes the `--` after `--end-of-options` for a commit.
    ends = (DIFF_ARGUMENTS[-1], *commits) if commits else ()
    # With a context option git prints the patch as well.
    arguments = [
        option for option in DIFF_ARGUMENTS[:-1] if not (options and option.startswith("--unified"))
    ]
    return (*arguments, *options, *flag, *ends)


async def find_compared_commits(path: Path, side: Side, base: str | None) -> tuple[str, ...]:
    """Return the commits that `git diff` compares for a side: none, one or two."""
    match side:
        case "unstaged":
            return ()
        case "staged":
            return ()  # Git takes the last commit, or the empty tree before the first.
        case "branch":
            return await find_branch_range(path, base or "HEAD")


async def _find_commit_range(path: Path, commit: str) -> tuple[str, str]:
    """The first parent of a commit, or the empty tree, and the commit."""
    tip = await resolve_commit(path, commit)
    parent = await git(
        path, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{tip}^", check=False
    )
    return parent.stdout or await get_empty_tree(path), tip


def _parse_raw_numstat(fields: list[str]) -> list[ChangedFile]:
    """Parse `--raw --numstat -z`: first all entries of one kind, then all of the other."""
    files: dict[str, ChangedFile] = {}
    remaining = iter(fields)
    for field in remaining:
        if field.startswith(":"):
            # A conflict has one colon and one mode per side.
            sides = len(field) - len(field.lstrip(":"))
            values = field[sides:].split(" ")
            old_mode, mode, letter = values[0], values[sides], values[-1]
            status = "conflicted" if sides > 1 else _STATUS.get(letter[:1], "modified")
            old_name = next(remaining) if letter[:1] in "RC" else None
            name = next(remaining)
            if name not in files or status == "conflicted":
                files[name] = ChangedFile(name, status, old_name, 0, 0, old_mode, mode)
            continue
        added, removed, name = field.split("\t", 2)
        if not name:
            _, name = next(remaining), next(remaining)
        if name in files:
            files[name] = replace(
                files[name], added=_parse_count(added), removed=_parse_count(removed)
            )
    return list(files.values())


def _parse_count(digits: str) -> int | None:
    return None if digits == "-" else int(digits)


def to_pathspecs(names: Iterable[str]) -> list[str]:
    """Return the names as literal pathspecs relative to the worktree's root."""
    return [f":(top,literal){name}" for name in names]
