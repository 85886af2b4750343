"""What removing a worktree would lose. Every way of removing one asks here first."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.plural import count
from model.base.text import clean_line
from model.git.branch_tips import BranchTips, read_branch_tips
from model.git.nested import describe_inner_losses
from model.git.run import git
from model.git.uncommitted import read_uncommitted
from model.git.worktrees import ListedWorktree, find_entry, list_worktrees, path_exists

_MAX_LISTED: Final = 5
"""Files, and what else there is, that a message names."""


@dataclass(frozen=True, slots=True)
class Losses:
    """Work that exists only in a worktree and would be lost with it."""

    files: list[str] = field(default_factory=list)
    """Uncommitted files; paths in the worktree."""
    commits: int = 0
    """Commits that are on no other branch and on no remote, and whose work is in no base."""
    unpushed: int = 0
    """Commits that are on no other branch and on no remote."""
    besides: list[str] = field(default_factory=list)
    """What else would go, or stands against it, each as a phrase: worktrees and repositories
    inside it with work of their own, folders that cannot be read, a lock."""

    def __bool__(self) -> bool:
        return bool(self.files or self.commits or self.besides)

    def describe(self) -> str:
        """Return all of it as what the worktree has; empty if nothing would be lost."""
        parts = []
        if self.files:
            parts.append(f"{count(len(self.files), 'uncommitted file')} ({_join(self.files)})")
        if self.commits:
            verb = "is" if self.commits == 1 else "are"
            counted = count(self.commits, "commit")
            parts.append(f"{counted} that {verb} on no other branch and on no remote")
        parts += self.besides[:_MAX_LISTED]
        if (more := len(self.besides) - _MAX_LISTED) > 0:
            parts.append(f"{more} more")
        return " and ".join(parts)


@dataclass(frozen=True, slots=True)
class SharedFacts:
    """What the worktrees of a repository have in common, read once for many of them."""

    listed: list[ListedWorktree]
    tips: BranchTips

    @classmethod
    async def read(cls, root: Path) -> "SharedFacts":
        """Read them. Raises what git reports."""
        listed, tips = await asyncio.gather(list_worktrees(root), read_branch_tips(root))
        return cls(listed, tips)


async def find_losses(
    root: Path,
    path: Path,
    branch: str | None,
    kept: Sequence[str] = (),
    listed: Sequence[ListedWorktree] | None = None,
) -> Losses:
    """Return what removing the worktree at `path` and, if given, its branch would lose.

    Args:
        root: The repository.
        path: The worktree; it may be gone.
        branch: The branch that is deleted with it.
        kept: Commits whose work is elsewhere, as of a branch that was squashed into its base.
        listed: The repository's worktrees, if they were just read.

    Raises:
        SpinneyError: It cannot be read, so it must not be taken for nothing.
    """
    tips = [(root, f"refs/heads/{branch}", branch)] if branch is not None else []
    if not await path_exists(path):
        unpushed, commits = await _count(tips, kept)
        return Losses(commits=commits, unpushed=unpushed)
    (current, files), inside = await asyncio.gather(
        read_uncommitted(path), describe_inner_losses(path)
    )
    head = (path, "HEAD", current)
    unpushed, commits = await _count([head, *(tips if branch != current else [])], kept)
    own = await find_entry(await list_worktrees(root) if listed is None else listed, path)
    besides = [*_describe_lock(own), *inside]
    return Losses([clean_line(file) for file in files], commits, unpushed, besides)


async def count_unique_commits(
    path: Path, ref: str, branch: str | None, kept: Sequence[str] = ()
) -> int:
    """Count the commits of `ref` that are on no branch but `branch`, on no remote, nor `kept`.

    Raises:
        SpinneyError: They cannot be counted.
    """
    excluded = [f"--exclude={branch}"] if branch else []
    counted = await git(
        path, "rev-list", "--count", ref, "--not", *excluded, "--branches", "--remotes", *kept,
        "--", check=False,
    )  # fmt: skip
    if counted.returncode == 0:
        return int(counted.stdout)
    found = await git(path, "rev-parse", "--verify", "--quiet", ref, check=False)
    if found.returncode == 0:
        raise SpinneyError(counted.message, "git_error")
    return 0  # A branch without commits has none to lose.


async def _count(
    tips: Sequence[tuple[Path, str, str | None]], kept: Sequence[str]
) -> tuple[int, int]:
    """Return the commits that are nowhere else, and those of them that are not `kept` either."""
    unpushed = sum([await count_unique_commits(*tip) for tip in tips])
    if not unpushed or not kept:
        return unpushed, unpushed
    return unpushed, sum([await count_unique_commits(*tip, kept) for tip in tips])


def _describe_lock(listed: ListedWorktree | None) -> list[str]:
    if listed is None or not listed.is_locked:
        return []
    reason = f" ({clean_line(listed.lock_reason)[:200]})" if listed.lock_reason else ""
    return [f"a lock of git{reason}"]


def _join(names: Sequence[str]) -> str:
    more = ", …" if len(names) > _MAX_LISTED else ""
    return ", ".join(names[:_MAX_LISTED]) + more
