"""The status of a worktree: branch, uncommitted and unpushed changes, ahead and behind."""

import asyncio
import hashlib
import os
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeVar

from model.base.errors import SpinneyError
from model.base.text import clean_line
from model.git.branch_tips import BranchTips, read_branch_tips, resolve_base_tips
from model.git.run import GitResult, git
from model.git.untracked import count_lines
from model.git.working_tree import WorkingTree, read_working_tree

K = TypeVar("K")
V = TypeVar("V")

UNPUSHED_CAP: Final = 1000
"""Upper limit of `GitStatus.unpushed`: without a pushed branch it could be all of history."""

_MAX_LISTED: Final = 5000

NUMSTAT: Final = (
    "diff", "--numstat", "-z", "--no-ext-diff", "--no-textconv", "--no-renames",
    "--no-relative", "--ignore-submodules=dirty", "--end-of-options",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class GitStatus:
    """The status of a worktree at one moment. Lines are counted in text files only."""

    branch: str | None
    """`None` while detached."""
    commit: str | None
    """The checked-out commit; `None` before the first commit."""
    ahead: int
    """Commits that the base lacks."""
    behind: int
    """Commits of the base that the worktree lacks."""
    unpushed: int
    """Commits on no remote, at most `UNPUSHED_CAP`; 0 if the repository has no remote."""
    uncommitted_added: int
    """Lines, staged or not, in tracked and untracked files."""
    uncommitted_removed: int
    branch_diff_added: int
    """Lines in the commits since the worktree left its base."""
    branch_diff_removed: int
    changed_files: int
    """Files with uncommitted changes."""
    files: int
    """Files that differ from where the worktree left its base, uncommitted changes included."""
    conflicts: int
    """Files among them with an unresolved conflict from a merge or rebase."""
    bases: tuple[str, ...] = field(default=(), compare=False)
    """The commits of the base branch and of its remote counterpart."""
    fingerprint: str = field(default="", compare=False)
    """Changes with each change of the commit, the index or a file that is not committed."""
    working_tree: WorkingTree | None = field(default=None, compare=False, repr=False)
    """What differs from the commit; `None` for more than `_MAX_LISTED` files."""


@dataclass(frozen=True, slots=True)
class _Comparison:
    ahead: int = 0
    behind: int = 0
    added: int = 0
    removed: int = 0
    files: int = 0
    names: frozenset[bytes] = frozenset()
    """Their paths, at most `_MAX_LISTED`."""


async def read_worktree_status(path: Path, base: str, tips: BranchTips | None = None) -> GitStatus:
    """Read the status of a worktree, compared with `base` and its remote counterpart.

    A missing base compares as equal; every other failure raises `SpinneyError`.

    Args:
        path: The worktree.
        base: The branch it is compared with.
        tips: The repository's branches, if already known; with them, and if nothing changed, a
            single git command is needed.
    """
    tree, printed = await read_working_tree(path)
    if tips is None and tree.commit:
        tips = await read_branch_tips(path)
    added, removed = await _count_tracked_lines(path, tree) if tree.changed else (0, 0)
    added += await asyncio.to_thread(count_lines, path, tree.untracked)
    comparison, unpushed = _Comparison(), 0
    bases: list[str] = []
    if tree.commit and tips:
        bases = await _find_bases(path, base, tips)
        comparison = await _compare_cached(path, bases, tree.commit)
        unpushed = await _count_unpushed(path, tree.commit, tips)
    return GitStatus(
        branch=clean_line(tree.branch) if tree.branch else None,
        commit=tree.commit,
        ahead=comparison.ahead,
        behind=comparison.behind,
        unpushed=unpushed,
        uncommitted_added=added,
        uncommitted_removed=removed,
        branch_diff_added=comparison.added,
        branch_diff_removed=comparison.removed,
        changed_files=tree.count_files(),
        files=_count_all_files(tree, comparison),
        conflicts=len({path for _, path, _ in tree.unmerged}),
        bases=tuple(bases),
        fingerprint=await asyncio.to_thread(make_fingerprint, path, printed, tree),
        working_tree=tree if tree.count_files() <= _MAX_LISTED else None,
    )


async def has_uncommitted_changes(path: Path) -> bool:
    """Whether anything in the worktree is staged, changed or untracked."""
    return await count_uncommitted_files(path) > 0


async def count_uncommitted_files(path: Path) -> int:
    """Count staged, changed and untracked files, including changes inside submodules."""
    tree, _ = await read_working_tree(path, submodules="none")
    return tree.count_files()


def _count_all_files(tree: WorkingTree, branch: _Comparison) -> int:
    own = {os.fsencode(path) for path in (*tree.changed, *tree.untracked, *tree.nested)}
    return branch.files + len(own - branch.names)


async def list_untracked_files(path: Path) -> list[str]:
    """Return the files that git neither tracks nor ignores, relative to `path`."""
    listed = await git(path, "ls-files", "-z", "--others", "--exclude-standard", timeout=60)
    return listed.fields


async def get_empty_tree(path: Path) -> str:
    """Return the id of the empty tree, which stands for the state before the first commit."""
    return (await git(path, "hash-object", "-t", "tree", "--stdin")).stdout


def make_fingerprint(path: Path, status: bytes, tree: WorkingTree) -> str:
    """Combine git's `status` with the times and sizes of the changed files, which it lacks."""
    digest = hashlib.sha1(status, usedforsecurity=False)
    for name in (*tree.changed, *tree.untracked):
        try:
            facts = (path / name).lstat()
        except OSError:
            continue
        digest.update(b"%d %d %d\0" % (facts.st_mtime_ns, facts.st_ctime_ns, facts.st_size))
    return digest.hexdigest()


async def _count_tracked_lines(path: Path, tree: WorkingTree) -> tuple[int, int]:
    before = tree.commit or await get_empty_tree(path)
    return await _count_lines_between(path, before)


async def _count_lines_between(path: Path, *commits: str) -> tuple[int, int]:
    added, removed, _ = await asyncio.to_thread(_sum_numstat, await _compare_lines(path, *commits))
    return added, removed


async def count_changes(path: Path, *commits: str) -> tuple[int, int, int]:
    """Count the lines added and removed between two commits, and the files that differ."""
    compared = await _compare_lines(path, *commits)
    added, removed, names = await asyncio.to_thread(_sum_numstat, compared)
    return added, removed, len(names)


async def _compare_lines(path: Path, *commits: str) -> GitResult:
    return await git(path, *NUMSTAT, *commits, "--", timeout=60)


# Commits never change, so comparisons between them are cached: polling 500 worktrees costs only
# `status`.
_CACHE_SIZE: Final = 2000
_comparisons: OrderedDict[tuple[str, ...], _Comparison] = OrderedDict()
_unpushed_counts: OrderedDict[tuple[str, frozenset[str]], int] = OrderedDict()


async def _count_unpushed(path: Path, commit: str, tips: BranchTips) -> int:
    if not tips.has_remote or commit in tips.on_remotes:
        return 0
    key = (commit, tips.on_remotes)
    if key not in _unpushed_counts:
        counted = await git(
            path, "rev-list", "--count", f"--max-count={UNPUSHED_CAP}", commit, "--not",
            "--remotes",
        )  # fmt: skip
        _add_to_cache(_unpushed_counts, key, int(counted.stdout))
    return _unpushed_counts[key]


async def _find_bases(path: Path, base: str, tips: BranchTips) -> list[str]:
    """Return the commits of the base branch; none if it does not exist."""
    try:
        return await resolve_base_tips(path, base, tips)
    except SpinneyError as error:
        if error.error_type != "not_found":
            raise
        return []


async def _compare_cached(path: Path, bases: list[str], commit: str) -> _Comparison:
    if not bases:
        return _Comparison()
    key = (commit, *bases)
    if key not in _comparisons:
        _add_to_cache(_comparisons, key, await _compare(path, commit, bases))
    return _comparisons[key]


def _add_to_cache(cache: OrderedDict[K, V], key: K, value: V) -> None:
    cache[key] = value
    if len(cache) > _CACHE_SIZE:
        cache.popitem(last=False)


async def _compare(path: Path, commit: str, bases: list[str]) -> _Comparison:
    # What one of the bases has as well is on neither side.
    both = [f"{commit}...{base}" for base in bases]
    counted = await git(path, "rev-list", "--count", "--left-right", *both, "--")
    ahead, behind = map(int, counted.stdout.split("\t"))
    merge_base = await git(path, "merge-base", commit, *bases, check=False)
    added, removed = 0, 0
    names: list[bytes] = []
    if merge_base.returncode == 0:
        lines = await _compare_lines(path, merge_base.stdout, commit)
        added, removed, names = await asyncio.to_thread(_sum_numstat, lines)
    listed = frozenset(names[:_MAX_LISTED])
    return _Comparison(ahead, behind, added, removed, len(names), listed)


def _sum_numstat(numstat: GitResult) -> tuple[int, int, list[bytes]]:
    """Return the lines added and removed, and the files; binary files show `-` for both."""
    added = removed = 0
    names = []
    for row in numstat.raw_stdout.split(b"\0"):
        if row:
            lines_added, lines_removed, name = row.split(b"\t", 2)
            names.append(name)
            if lines_added != b"-":
                added += int(lines_added)
                removed += int(lines_removed)
    return added, removed, names
