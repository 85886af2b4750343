"""How a worktree stands: its branch, what is not committed, not pushed, ahead and behind."""

import asyncio
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from model.base.errors import SpinneyError
from model.base.text import clean_line
from model.git.branch_tips import BranchTips, base_tips, branch_tips
from model.git.run import Output, git
from model.git.untracked import count_lines

K = TypeVar("K")
V = TypeVar("V")

UNPUSHED_CAP: Final = 1000
"""`GitStatus.unpushed` counts no further: without a pushed branch it could be all of history."""

NUMSTAT: Final = (
    "diff", "--numstat", "-z", "--no-ext-diff", "--no-textconv", "--no-renames",
    "--no-relative", "--ignore-submodules=dirty", "--end-of-options",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class GitStatus:
    """A worktree at one moment. Lines are counted in text files only."""

    branch: str | None
    """`None` while detached."""
    commit: str | None
    """What is checked out; `None` before the first commit."""
    ahead: int
    """Commits that the base lacks."""
    behind: int
    """Commits of the base that the worktree lacks."""
    unpushed: int
    """Commits on no remote, at most `UNPUSHED_CAP`; 0 where the repository has no remote."""
    uncommitted_added: int
    """Lines, staged or not, of tracked and untracked files."""
    uncommitted_removed: int
    branch_diff_added: int
    """Lines of the commits since the worktree left its base."""
    branch_diff_removed: int
    changed_files: int
    """Files that are not committed as they are."""
    conflicts: int
    """Files among them in which a merge or a rebase found a conflict that is not solved yet."""


@dataclass(frozen=True, slots=True)
class _Comparison:
    ahead: int = 0
    behind: int = 0
    added: int = 0
    removed: int = 0


@dataclass(frozen=True, slots=True)
class _WorkingTree:
    commit: str | None
    branch: str | None
    tracked: int
    conflicts: int
    untracked: list[str]


async def worktree_status(path: Path, base: str, tips: BranchTips | None = None) -> GitStatus:
    """Look at the worktree `path`, compared with the branch `base` and its remote counterpart.

    A base that is gone compares as equal; every other failure raises `SpinneyError`.

    Args:
        path: The worktree.
        base: The branch it is compared with.
        tips: The repository's branches where they are known already; with them, and where nothing
            changed, it takes one call of git.
    """
    tree = await _working_tree(path)
    if tips is None and tree.commit:
        tips = await branch_tips(path)
    added, removed = await _tracked_lines(path, tree) if tree.tracked else (0, 0)
    added += await asyncio.to_thread(count_lines, path, tree.untracked)
    compared, unpushed = _Comparison(), 0
    if tree.commit and tips:
        compared = await _compared(path, base, tree.commit, tips)
        unpushed = await _unpushed(path, tree.commit, tips)
    return GitStatus(
        branch=tree.branch,
        commit=tree.commit,
        ahead=compared.ahead,
        behind=compared.behind,
        unpushed=unpushed,
        uncommitted_added=added,
        uncommitted_removed=removed,
        branch_diff_added=compared.added,
        branch_diff_removed=compared.removed,
        changed_files=tree.tracked + len(tree.untracked),
        conflicts=tree.conflicts,
    )


async def has_uncommitted_changes(path: Path) -> bool:
    """Whether anything in the worktree is staged, changed or untracked."""
    return await uncommitted_files(path) > 0


async def uncommitted_files(path: Path) -> int:
    """How many files are staged, changed or untracked, changes inside submodules included."""
    tree = await _working_tree(path, submodules="none")
    return tree.tracked + len(tree.untracked)


async def untracked_files(path: Path) -> list[str]:
    """The files that git neither tracks nor ignores, relative to `path`."""
    listed = await git(path, "ls-files", "-z", "--others", "--exclude-standard", timeout=60)
    return listed.fields


async def empty_tree(path: Path) -> str:
    """The id of the tree without files, which every repository knows: what comes before all."""
    return (await git(path, "hash-object", "-t", "tree", "--stdin")).stdout


async def _working_tree(path: Path, *, submodules: str = "dirty") -> _WorkingTree:
    # In a submodule git would read that one's settings, which `run` does not know.
    shown = await git(
        path, "status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all",
        "--no-renames", f"--ignore-submodules={submodules}", timeout=60,
    )  # fmt: skip
    return await asyncio.to_thread(_read_status, shown)


def _read_status(shown: Output) -> _WorkingTree:
    facts: dict[str, str] = {}
    tracked, conflicts = 0, 0
    untracked: list[str] = []
    for field in shown.fields:
        match field[0]:
            case "#":
                _, key, value = field.split(" ", 2)
                facts[key] = value
            case "?":
                untracked.append(field[2:])
            case sign:
                tracked += 1
                conflicts += sign == "u"
    head, commit = facts["branch.head"], facts["branch.oid"]
    return _WorkingTree(
        commit=None if commit == "(initial)" else commit,
        branch=None if head == "(detached)" else clean_line(head),
        tracked=tracked,
        conflicts=conflicts,
        untracked=untracked,
    )


async def _tracked_lines(path: Path, tree: _WorkingTree) -> tuple[int, int]:
    before = tree.commit or await empty_tree(path)
    return await _lines_between(path, before)


async def _lines_between(path: Path, *commits: str) -> tuple[int, int]:
    numbers = await git(path, *NUMSTAT, *commits, "--", timeout=60)
    return await asyncio.to_thread(_sums, numbers)


# Commits never change, so neither does what lies between them: 500 worktrees are polled for
# the price of `status` alone.
_KEPT: Final = 2000
_comparisons: OrderedDict[tuple[str, ...], _Comparison] = OrderedDict()
_unpushed_counts: OrderedDict[tuple[str, frozenset[str]], int] = OrderedDict()


async def _unpushed(path: Path, commit: str, tips: BranchTips) -> int:
    if not tips.has_remote or commit in tips.on_remotes:
        return 0
    key = (commit, tips.on_remotes)
    if key not in _unpushed_counts:
        counted = await git(
            path, "rev-list", "--count", f"--max-count={UNPUSHED_CAP}", commit, "--not",
            "--remotes",
        )  # fmt: skip
        _keep(_unpushed_counts, key, int(counted.stdout))
    return _unpushed_counts[key]


async def _compared(path: Path, base: str, commit: str, tips: BranchTips) -> _Comparison:
    try:
        bases = await base_tips(path, base, tips)
    except SpinneyError as error:
        if error.error_type != "not_found":
            raise
        return _Comparison()
    key = (commit, *bases)
    if key not in _comparisons:
        _keep(_comparisons, key, await _compare(path, commit, bases))
    return _comparisons[key]


def _keep(answers: OrderedDict[K, V], key: K, answer: V) -> None:
    answers[key] = answer
    if len(answers) > _KEPT:
        answers.popitem(last=False)


async def _compare(path: Path, commit: str, bases: list[str]) -> _Comparison:
    ahead = await git(path, "rev-list", "--count", commit, "--not", *bases)
    behind = await git(path, "rev-list", "--count", *bases, "--not", commit)
    left = await git(path, "merge-base", commit, *bases, check=False)
    added, removed = 0, 0
    if left.returncode == 0:
        added, removed = await _lines_between(path, left.stdout, commit)
    return _Comparison(int(ahead.stdout), int(behind.stdout), added, removed)


def _sums(numstat: Output) -> tuple[int, int]:
    """Lines added and removed; binary files show `-` for both."""
    added = removed = 0
    for row in numstat.raw.split(b"\0"):
        if row and row[:1] != b"-":
            more, less, _ = row.split(b"\t", 2)
            added += int(more)
            removed += int(less)
    return added, removed
