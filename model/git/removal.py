"""Worktrees and branches removed: work that would be lost keeps them, unless forced.

Nothing outside a listed worktree is ever deleted, whatever stands at its path by now.
"""

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.text import clean_line
from model.git.refs import check_branch_name
from model.git.repositories import branch_exists, current_branch
from model.git.run import git
from model.git.worktrees import (
    CHECKOUT_TIMEOUT,
    branches_of,
    forget_missing,
    list_worktrees,
    stands,
)

_NAMED: Final = 5
"""How many uncommitted files a refusal names."""


@dataclass(frozen=True, slots=True)
class Losses:
    """What would go with a worktree and be nowhere else."""

    files: list[str]
    """Not committed; paths in the worktree."""
    commits: int
    """On no other branch and on no remote."""


async def losses(root: Path, path: Path, branch: str | None) -> Losses:
    """What would be lost with the worktree at `path` and, if given, with its branch."""
    if await stands(path):
        current = await current_branch(path)
        commits = await _lonely_commits(path, "HEAD", current)
        if branch is not None and branch != current:
            commits += await _lonely_commits(root, f"refs/heads/{branch}", branch)
        return Losses(await _uncommitted_files(path), commits)
    lonely = 0 if branch is None else await _lonely_commits(root, f"refs/heads/{branch}", branch)
    return Losses([], lonely)


async def remove_worktree(root: Path, path: Path, base_dir: Path, force: bool = False) -> None:
    """Remove the worktree at `path` and what is in it; its branch stays.

    A directory that is gone already is only forgotten.

    Args:
        root: The repository.
        path: The worktree, as it was made.
        base_dir: The directory that holds the worktrees; nothing outside it is removed.
        force: Also with uncommitted changes, or commits that are nowhere else.

    Raises:
        SpinneyError: `conflict` when work would be lost or `path` is not what it was.
    """
    if not await stands(path):
        await forget_missing(root, path)
        return
    await check_removal(root, path, base_dir, force=force)
    options = ["--force"] if force else []
    removed = await git(
        root, "worktree", "remove", *options, "--end-of-options", str(path),
        write=True, timeout=CHECKOUT_TIMEOUT, check=False,
    )  # fmt: skip
    if "containing submodules" in removed.stderr:
        raise SpinneyError(
            f"“{path.name}” holds submodules, whose commits would go with it. Push them, then "
            "remove it with force.",
            "conflict",
        )
    if removed.returncode != 0:
        raise SpinneyError(f"{path} was not removed: {removed.words}", "git_error")


async def check_removal(root: Path, path: Path, base_dir: Path, *, force: bool) -> None:
    """Raise what `remove_worktree` would, and remove nothing."""
    if await stands(path):
        await _check_removable(root, path, base_dir)
        if not force:
            await _check_nothing_lost(path)


async def delete_branch(root: Path, branch: str, force: bool = False) -> None:
    """Delete a local branch; one that is gone already is fine.

    Raises:
        SpinneyError: `conflict` when commits would be lost and `force` does not say so;
            `git_error` with git's reason when it is checked out somewhere.
    """
    async with branches_of(root):
        if not await branch_exists(root, check_branch_name(branch)):
            return
        if not force:
            await check_branch(root, branch)
        await git(root, "branch", "-D", "--end-of-options", branch, write=True)


async def check_branch(root: Path, branch: str) -> None:
    """Raise `conflict` when deleting `branch` would lose commits."""
    lost = await _lonely_commits(root, "refs/heads/" + check_branch_name(branch), branch)
    if lost:
        raise SpinneyError(
            f"The branch “{branch}” has {_count(lost, 'commit')} that {_be(lost)} on no other "
            "branch and on no remote. Push it first, or delete it with force.",
            "conflict",
        )


async def _check_removable(root: Path, path: Path, base_dir: Path) -> None:
    objection = await asyncio.to_thread(_misplaced, path, base_dir)
    if objection is None:
        # Git lists real paths: a link in the place of a parent leads to none of them.
        real = Path(await asyncio.to_thread(os.path.realpath, path))
        listed = {worktree.path: worktree for worktree in await list_worktrees(root)}
        if real not in listed:
            objection = f"it is not a worktree of {root}"
        elif listed[real].main:
            objection = "it is the repository's own checkout"
    if objection:
        raise SpinneyError(f"{path} was not removed: {objection}.", "conflict")


def _misplaced(path: Path, base_dir: Path) -> str | None:
    if path.is_symlink() or not path.is_dir():
        return "it is not a directory any more"
    if base_dir.resolve() not in path.resolve().parents:
        return f"it does not lie inside {base_dir}"
    return None


async def _check_nothing_lost(path: Path) -> None:
    files = await _uncommitted_files(path)
    commits = await _lonely_commits(path, "HEAD", await current_branch(path))
    parts = []
    if files:
        parts.append(f"{_count(len(files), 'uncommitted file')} ({_some(files)})")
    if commits:
        what = _count(commits, "commit")
        parts.append(f"{what} that {_be(commits)} on no other branch and on no remote")
    if parts:
        raise SpinneyError(
            f"“{path.name}” has {' and '.join(parts)}. Commit and push first, or remove it "
            "with force.",
            "conflict",
        )


async def _uncommitted_files(path: Path) -> list[str]:
    """What is staged, changed or untracked, changes inside submodules included."""
    shown = await git(
        path, "status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames",
        "--ignore-submodules=none", timeout=60,
    )  # fmt: skip
    return [clean_line(field[3:]) for field in shown.fields]


def _some(names: list[str]) -> str:
    more = ", …" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


async def _lonely_commits(path: Path, ref: str, branch: str | None) -> int:
    """How many commits of `ref` are on no branch but `branch`, and on no remote."""
    excluded = [f"--exclude={branch}"] if branch else []
    counted = await git(
        path, "rev-list", "--count", ref, "--not", *excluded, "--branches", "--remotes",
        "--", check=False,
    )  # fmt: skip
    # It fails on a branch without commits, which has none to lose.
    return int(counted.stdout) if counted.returncode == 0 else 0


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _be(number: int) -> str:
    return "is" if number == 1 else "are"
