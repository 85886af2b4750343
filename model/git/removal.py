"""Remove worktrees and branches; work that would be lost prevents it, unless forced.

Nothing outside a listed worktree is ever deleted, whatever is at its path by then.
"""

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.plural import count
from model.base.text import clean_line
from model.git.refs import check_branch_name
from model.git.repositories import branch_exists, get_current_branch
from model.git.run import git
from model.git.worktrees import (
    CHECKOUT_TIMEOUT,
    branch_lock,
    list_worktrees,
    path_exists,
    unregister_missing,
)

_MAX_LISTED: Final = 5
"""Uncommitted files listed in an error message."""


@dataclass(frozen=True, slots=True)
class Losses:
    """Work that exists only in a worktree and would be lost with it."""

    files: list[str]
    """Uncommitted files; paths in the worktree."""
    commits: int
    """Commits that are on no other branch and on no remote."""


async def find_losses(root: Path, path: Path, branch: str | None) -> Losses:
    """Return what removing the worktree at `path` and, if given, its branch would lose."""
    if await path_exists(path):
        current = await get_current_branch(path)
        commits = await count_unique_commits(path, "HEAD", current)
        if branch is not None and branch != current:
            commits += await count_unique_commits(root, f"refs/heads/{branch}", branch)
        return Losses(await _list_uncommitted_files(path), commits)
    commits = (
        0 if branch is None else await count_unique_commits(root, f"refs/heads/{branch}", branch)
    )
    return Losses([], commits)


async def count_unique_commits(path: Path, ref: str, branch: str | None) -> int:
    """Count the commits of `ref` that are on no branch but `branch`, and on no remote."""
    excluded = [f"--exclude={branch}"] if branch else []
    counted = await git(
        path, "rev-list", "--count", ref, "--not", *excluded, "--branches", "--remotes",
        "--", check=False,
    )  # fmt: skip
    # Fails on a branch without commits, which has none to lose.
    return int(counted.stdout) if counted.returncode == 0 else 0


async def remove_worktree(root: Path, path: Path, base_dir: Path, force: bool = False) -> None:
    """Remove the worktree at `path` with its files; its branch is kept.

    If the directory no longer exists, only git's entry for it is removed.

    Args:
        root: The repository.
        path: The worktree, as it was created.
        base_dir: The directory of the worktrees; nothing outside it is removed.
        force: Remove it despite uncommitted changes or commits that exist nowhere else.

    Raises:
        SpinneyError: `conflict` if work would be lost or `path` is not the expected worktree.
    """
    if not await path_exists(path):
        await unregister_missing(root, path)
        return
    await check_removal(root, path, base_dir, force=force)
    options = ["--force"] if force else []
    removed = await git(
        root, "worktree", "remove", *options, "--end-of-options", str(path),
        write=True, timeout=CHECKOUT_TIMEOUT, check=False,
    )  # fmt: skip
    if "containing submodules" in removed.stderr:
        raise SpinneyError(
            f"'{path.name}' contains submodules, whose commits would be lost. Push them, then "
            "remove it with force.",
            "conflict",
        )
    if removed.returncode != 0:
        raise SpinneyError(f"{path} was not removed: {removed.message}", "git_error")


async def check_removal(root: Path, path: Path, base_dir: Path, *, force: bool) -> None:
    """Raise what `remove_worktree` would raise, without removing anything."""
    if await path_exists(path):
        await _check_removable(root, path, base_dir)
        if not force:
            await _check_nothing_lost(path)


async def delete_branch(root: Path, branch: str, force: bool = False) -> None:
    """Delete a local branch; does nothing if it does not exist.

    Raises:
        SpinneyError: `conflict` if commits would be lost and `force` is false; `git_error` with
            git's reason if the branch is checked out.
    """
    async with branch_lock(root):
        if not await branch_exists(root, check_branch_name(branch)):
            return
        if not force:
            await check_branch_deletion(root, branch)
        await git(root, "branch", "-D", "--end-of-options", branch, write=True)


async def check_branch_deletion(root: Path, branch: str) -> None:
    """Raise `conflict` if deleting `branch` would lose commits."""
    lost = await count_unique_commits(root, "refs/heads/" + check_branch_name(branch), branch)
    if lost:
        raise SpinneyError(
            f"The branch '{branch}' has {count(lost, 'commit')} that {_is_or_are(lost)} on no "
            "other branch and on no remote. Push it first, or delete it with force.",
            "conflict",
        )


async def _check_removable(root: Path, path: Path, base_dir: Path) -> None:
    problem = await asyncio.to_thread(_find_path_problem, path, base_dir)
    if problem is None:
        # Git lists real paths; a parent replaced by a link resolves to none of them.
        real = Path(await asyncio.to_thread(os.path.realpath, path))
        listed = {worktree.path: worktree for worktree in await list_worktrees(root)}
        if real not in listed:
            problem = f"it is not a worktree of {root}"
        elif listed[real].is_main:
            problem = "it is the repository's own checkout"
    if problem:
        raise SpinneyError(f"{path} was not removed: {problem}.", "conflict")


def _find_path_problem(path: Path, base_dir: Path) -> str | None:
    if path.is_symlink() or not path.is_dir():
        return "it is no longer a directory"
    if base_dir.resolve() not in path.resolve().parents:
        return f"it is not inside {base_dir}"
    return None


async def _check_nothing_lost(path: Path) -> None:
    files = await _list_uncommitted_files(path)
    commits = await count_unique_commits(path, "HEAD", await get_current_branch(path))
    parts = []
    if files:
        parts.append(f"{count(len(files), 'uncommitted file')} ({_abbreviate(files)})")
    if commits:
        counted = count(commits, "commit")
        parts.append(f"{counted} that {_is_or_are(commits)} on no other branch and on no remote")
    if parts:
        raise SpinneyError(
            f"'{path.name}' has {' and '.join(parts)}. Commit and push first, or remove it "
            "with force.",
            "conflict",
        )


async def _list_uncommitted_files(path: Path) -> list[str]:
    """Return staged, changed and untracked files, including changes inside submodules."""
    status = await git(
        path, "status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames",
        "--ignore-submodules=none", timeout=60,
    )  # fmt: skip
    return [clean_line(field[3:]) for field in status.fields]


def _abbreviate(names: list[str]) -> str:
    more = ", …" if len(names) > _MAX_LISTED else ""
    return ", ".join(names[:_MAX_LISTED]) + more


def _is_or_are(number: int) -> str:
    return "is" if number == 1 else "are"
