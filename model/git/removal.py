"""Remove worktrees and branches; work that would be lost prevents it, unless forced.

Nothing outside a listed worktree is ever deleted, whatever is at its path by then. A worktree goes
as a whole or not at all: it is renamed first, which does not end half-way as a deletion may.
"""

import asyncio
import contextlib
import glob
import os
import shutil
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.plural import count
from model.base.text import clean_line
from model.git.losses import count_unique_commits, find_losses
from model.git.refs import check_branch_name
from model.git.repositories import branch_exists
from model.git.run import git
from model.git.worktrees import (
    ListedWorktree,
    branch_lock,
    find_entry,
    find_listed,
    list_worktrees,
    path_exists,
    unregister_missing,
)

_REMAINS: Final = ".removed-"
"""How the name of a worktree's directory begins from its removal to the end of its deletion."""
_MAX_NAME: Final = 40
"""Characters of its own name in there."""


async def remove_worktree(
    root: Path, path: Path, base_dir: Path, *, force: bool = False, kept: Sequence[str] = ()
) -> str | None:
    """Remove the worktree at `path` with its files; its branch is kept.

    If the directory no longer exists, only git's entry for it is removed, and what an earlier call
    could not delete. Returns why some of the files are still on the disk, if so: the worktree is
    gone nevertheless.

    Args:
        root: The repository.
        path: The worktree, as it was created.
        base_dir: The directory of the worktrees; nothing outside it is removed.
        force: Remove it despite what would be lost, and despite a lock.
        kept: Commits whose work is elsewhere.

    Raises:
        SpinneyError: `conflict` if work would be lost or `path` is not the expected worktree. It
            is unchanged then, as it is after any other error.
    """
    if not await path_exists(path):
        await unregister_missing(root, path, force=force)
    else:
        listed = await check_removal(root, path, base_dir, force=force, kept=kept)
        real = Path(await asyncio.to_thread(os.path.realpath, path))
        await _take_away(root, path, await find_entry(listed, path))
        for inner in listed:
            if real in inner.path.parents:
                with contextlib.suppress(SpinneyError):  # Its branch is not free then.
                    await unregister_missing(root, inner.path, force=True, listed=inner)
    return await asyncio.to_thread(_delete_remains, path)


async def check_removal(
    root: Path, path: Path, base_dir: Path, *, force: bool, kept: Sequence[str] = ()
) -> list[ListedWorktree]:
    """Raise what `remove_worktree` would raise, without removing anything.

    Returns the repository's worktrees, of which it is one; none if the directory is gone.
    """
    if not await path_exists(path):
        return []
    listed = await _check_removable(root, path, base_dir)
    if not force and (losses := await find_losses(root, path, None, kept, listed)):
        raise SpinneyError(
            f"'{path.name}' has {losses.describe()}. Commit and push first, or remove it "
            "with force.",
            "conflict",
        )
    return listed


async def delete_branch(
    root: Path, branch: str, force: bool = False, kept: Sequence[str] = ()
) -> None:
    """Delete a local branch; does nothing if it does not exist.

    Raises:
        SpinneyError: `conflict` if commits would be lost and `force` is false; `git_error` with
            git's reason if the branch is checked out.
    """
    async with branch_lock(root):
        if not force:
            await check_branch_deletion(root, branch, kept)
        try:
            await git(
                root, "branch", "-D", "--end-of-options", check_branch_name(branch), write=True
            )
        except SpinneyError:
            if await branch_exists(root, branch):
                raise


async def check_branch_deletion(root: Path, branch: str, kept: Sequence[str] = ()) -> None:
    """Raise `conflict` if deleting `branch` would lose commits."""
    ref = "refs/heads/" + check_branch_name(branch)
    lost = await count_unique_commits(root, ref, branch, kept)
    if lost:
        raise SpinneyError(
            f"The branch '{branch}' has {count(lost, 'commit')} that {_is_or_are(lost)} on no "
            "other branch and on no remote. Push it first, or delete it with force.",
            "conflict",
        )


async def _check_removable(root: Path, path: Path, base_dir: Path) -> list[ListedWorktree]:
    listed: list[ListedWorktree] = []
    problem = await asyncio.to_thread(_find_path_problem, path, base_dir)
    if problem is None:
        listed = await list_worktrees(root)
        own = await find_entry(listed, path)
        if own is None:
            problem = (
                f"it is not a worktree of {root}. With force it is taken off the list, and its "
                "files stay"
            )
        elif own.is_main:
            problem = "it is the repository's own checkout"
    if problem:
        raise SpinneyError(f"{path} was not removed: {problem}.", "conflict")
    return listed


def _find_path_problem(path: Path, base_dir: Path) -> str | None:
    if path.is_symlink() or not path.is_dir():
        return "it is no longer a directory"
    if base_dir.resolve() not in path.resolve().parents:
        return f"it is not inside {base_dir}"
    return None


async def _take_away(root: Path, path: Path, listed: ListedWorktree | None) -> None:
    """Rename the worktree, and remove git's entry for it; both or none."""
    aside = path.with_name(f"{_remains_of(path)}{uuid.uuid4().hex[:8]}")
    try:
        await asyncio.to_thread(os.rename, path, aside)
    except OSError as error:
        raise SpinneyError(
            f"{path} was not removed: {error.strerror}. Nothing in it was changed.", "git_error"
        ) from error
    try:
        await unregister_missing(root, path, force=True, listed=listed)
    except BaseException as error:
        # Its exit code does not say what it did.
        is_listed = await _is_listed(root, path)
        if is_listed:
            await asyncio.to_thread(os.rename, aside, path)
        if not isinstance(error, SpinneyError):
            raise
        if is_listed:
            raise SpinneyError(
                f"{path} was not removed: {error.message}", error.error_type
            ) from error


async def _is_listed(root: Path, path: Path) -> bool:
    with contextlib.suppress(SpinneyError):
        return await find_listed(root, path) is not None
    return True


def _remains_of(path: Path) -> str:
    return f"{_REMAINS}{path.name[:_MAX_NAME]}-"


def _delete_remains(path: Path) -> str | None:
    """Delete what was renamed; return what is left of it, and why. Blocks."""
    problem = None
    for remains in path.parent.glob(f"{glob.escape(_remains_of(path))}*"):
        shutil.rmtree(remains, ignore_errors=True)
        try:
            if os.path.lexists(remains):
                shutil.rmtree(remains)  # Again, for the reason.
        except OSError as error:
            where = clean_line(f"{remains}, at {error.filename}")
            problem = f"{where} ({error.strerror})"
    return problem


def _is_or_are(number: int) -> str:
    return "is" if number == 1 else "are"
