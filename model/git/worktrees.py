"""Create, list and move worktrees and their branches; `removal` removes them.

Operations that fail half-way are rolled back. Each is requested by the user, so the repository's
hooks run, except when a commit by someone else is checked out.
"""

import asyncio
import contextlib
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from model.base import errors
from model.base.errors import SpinneyError
from model.base.git_layout import find_git_directories
from model.git.refs import check_branch_name
from model.git.repositories import (
    branch_exists,
    has_commits,
    list_base_refs,
    read_refs,
    resolve_base,
    select_base,
)
from model.git.run import git

CHECKOUT_TIMEOUT: Final = 600
"""Seconds; a checkout of a very large repository takes minutes."""
_UNKNOWN_OPTION: Final = 129
"""Git's exit code for an unknown option."""


@dataclass(frozen=True, slots=True)
class ListedWorktree:
    """One entry of `git worktree list`; the repository's own checkout comes first."""

    path: Path
    branch: str | None = None
    """`None` if detached or bare."""
    commit: str | None = None
    is_main: bool = False
    is_bare: bool = False
    is_locked: bool = False
    lock_reason: str = ""
    is_initializing: bool = False
    """The checkout is not complete: git is still running, or was killed."""


async def add_worktree(
    root: Path, path: Path, branch: str, base: str, *, hooks: bool = True
) -> None:
    """Create a worktree at `path` on the new branch `branch`, which starts at `base`.

    Args:
        root: The repository.
        path: A path that does not exist; missing parents are created.
        branch: The new branch. It tracks nothing until its first push.
        base: A local branch, a remote branch, a tag or a commit. For a local branch that is only
            behind its counterpart on `origin`, the counterpart is used.

    Raises:
        SpinneyError: `branch_exists`, `worktree_path_exists`, or `worktree_creation_failed` with
            git's reason. Nothing is left behind.
    """
    commit = await _find_start(root, check_branch_name(branch), base)
    if await path_exists(path):
        raise errors.worktree_path_exists(str(path))
    created = await git(
        root, "branch", "--no-track", "--end-of-options", branch, commit, write=True, check=False
    )
    if created.returncode != 0:
        if "already exists" in created.stderr and await branch_exists(root, branch):
            raise errors.branch_exists(branch)
        raise errors.worktree_creation_failed(created.message)
    try:
        await check_out(root, path, branch, hooks=hooks)
    except BaseException:
        with contextlib.suppress(SpinneyError):
            await git(root, "branch", "-D", "--end-of-options", branch, write=True)
        raise


async def check_out_existing(
    root: Path, path: Path, branch: str, remote_branch: str | None = None
) -> None:
    """Create a worktree at `path` on an existing branch, a local one or one of a remote.

    One that only a remote has becomes a local branch that tracks it: `remote_branch`, such as
    `origin/main`, or else the first one of its name. Raises as `check_out`.
    """
    check_branch_name(branch)
    if await branch_exists(root, branch):
        await check_out(root, path, branch)
        return
    pattern = f"refs/remotes/{remote_branch or f'*/{branch}'}"
    listed = await git(root, "for-each-ref", "--count=1", "--format=%(refname)", pattern)
    tracked = await git(
        root, "branch", "--track", "--end-of-options", branch, listed.stdout, write=True,
        check=False,
    )  # fmt: skip
    if tracked.returncode != 0:
        raise errors.worktree_creation_failed(tracked.message)
    try:
        await check_out(root, path, branch, hooks=False)
    except BaseException:
        with contextlib.suppress(SpinneyError):
            await git(root, "branch", "-D", "--end-of-options", branch, write=True)
        raise


def no_commits_error() -> SpinneyError:
    """Return the error for a repository without commits."""
    return errors.worktree_creation_failed(
        "the repository has no commits yet. Make a first commit, then try again."
    )


async def check_out(root: Path, path: Path, branch: str, *, hooks: bool = True) -> None:
    """Create a worktree at `path` on the existing branch `branch`.

    With `hooks` false no hook runs: if `core.hooksPath` points into the checkout (as with husky),
    `post-checkout` would be a program by the author of the commit.

    Raises:
        SpinneyError: `worktree_path_exists`, or `worktree_creation_failed` with git's reason,
            such as the path of the worktree that has the branch checked out.
    """
    check_branch_name(branch)
    await unregister_missing(root, path)
    created = await asyncio.to_thread(_create_directory, path)
    try:
        await git(
            root, *_hook_options(hooks), "worktree", "add", "--quiet", "--end-of-options",
            str(path), branch, write=True, timeout=CHECKOUT_TIMEOUT,
        )  # fmt: skip
    except BaseException as error:
        await _roll_back(root, path, created)
        if isinstance(error, SpinneyError):
            raise errors.worktree_creation_failed(error.message) from error
        raise


def _hook_options(hooks: bool) -> tuple[str, ...]:
    return () if hooks else ("-c", f"core.hooksPath={os.devnull}")


async def list_worktrees(root: Path) -> list[ListedWorktree]:
    """Return every worktree of the repository, its own checkout first."""
    listed = await git(root, "worktree", "list", "--porcelain", "-z", check=False)
    if listed.returncode == _UNKNOWN_OPTION:
        # Git before 2.36 has no -z, and before 2.31 it does not list locks.
        listed = await git(root, "worktree", "list", "--porcelain")
        records = os.fsdecode(listed.raw_stdout).split("\n\n")
        locks = await asyncio.to_thread(_read_locks, root)
        entries = (_parse_entry(record.split("\n")) for record in records if record.strip())
        found = [
            _with_lock(entry, locks[entry.path]) if entry.path in locks else entry
            for entry in entries
        ]
    elif listed.returncode == 0:
        records = os.fsdecode(listed.raw_stdout).split("\0\0")
        found = [_parse_entry(record.split("\0")) for record in records if record]
    else:
        raise SpinneyError(listed.message, "git_error")
    return [replace(worktree, is_main=index == 0) for index, worktree in enumerate(found)]


async def move_worktree(root: Path, path: Path, new_path: Path) -> None:
    """Move the worktree at `path` to `new_path`, which must not exist."""
    if await path_exists(new_path):
        raise errors.worktree_path_exists(str(new_path))
    await git(root, "worktree", "move", "--end-of-options", str(path), str(new_path), write=True)


async def remove_incomplete(root: Path, path: Path) -> None:
    """Remove what a killed `git worktree add` left at `path`; a complete worktree stays."""
    found = await find_listed(root, path)
    if found is not None and found.is_initializing and not found.is_main:
        # Twice, because its entry is locked as "initializing".
        await git(
            root, "worktree", "remove", "--force", "--force", "--end-of-options", str(found.path),
            write=True, check=False,
        )  # fmt: skip
    with contextlib.suppress(OSError):
        # Only if it is empty; otherwise it is not ours.
        await asyncio.to_thread(path.rmdir)


async def rename_branch(root: Path, branch: str, new_name: str) -> None:
    """Rename a branch, even one that is checked out in a worktree."""
    check_branch_name(new_name)
    async with branch_lock(root):
        if await branch_exists(root, new_name):
            raise errors.branch_exists(new_name)
        await git(root, "branch", "-m", "--end-of-options", branch, new_name, write=True)


_branch_locks: dict[Path, asyncio.Lock] = {}


def branch_lock(root: Path) -> asyncio.Lock:
    """Return the lock to hold while a branch of the repository is renamed or deleted.

    Concurrent renames share one temporary log (`.tmp-renamed-log`), and a rename or deletion that
    finds the config file locked is left half done and cannot be repeated.
    """
    return _branch_locks.setdefault(root, asyncio.Lock())


async def _find_start(root: Path, branch: str, base: str) -> str:
    """Return the commit at which a new branch starts. Raises as `add_worktree`."""
    own = f"refs/heads/{branch}"
    refs = await read_refs(root, *list_base_refs(base), own)
    bases = select_base(base, refs)
    if not bases:
        if not await has_commits(root):
            raise no_commits_error()
        bases = await resolve_base(root, base)
    commit = await _newest_commit(root, bases)
    if own in refs:
        raise errors.branch_exists(branch)
    return commit


async def _newest_commit(root: Path, commits: list[str]) -> str:
    """Return the first of these commits, or one of the others that contains it."""
    first, *others = commits
    for other in others:
        found = await git(root, "merge-base", "--is-ancestor", first, other, check=False)
        if found.returncode == 0:
            return other
    return first


async def path_exists(path: Path) -> bool:
    """Whether anything is at `path`, including a broken link."""
    return await asyncio.to_thread(os.path.lexists, path)


async def find_listed(root: Path, path: Path) -> ListedWorktree | None:
    """Return git's entry of the worktree at `path`, if it has one."""
    return await find_entry(await list_worktrees(root), path)


async def find_entry(listed: Sequence[ListedWorktree], path: Path) -> ListedWorktree | None:
    """Return the entry of the worktree at `path` among those that git lists."""
    # Git lists real paths; a parent replaced by a link resolves to none of them.
    real = Path(await asyncio.to_thread(os.path.realpath, path))
    return next((each for each in listed if each.path == real), None)


async def unregister_missing(
    root: Path, path: Path, *, force: bool = False, listed: ListedWorktree | None = None
) -> None:
    """Remove the repository's entry of a worktree at `path` whose directory is missing.

    Only this one: `prune` would also remove entries of worktrees on a disk that is not mounted.
    With `force` also one that is locked. `listed` is the entry, if it was just read.
    """
    if await path_exists(path):
        return
    if listed is None and await asyncio.to_thread(_may_be_listed, root, path):
        listed = await find_listed(root, path)
    if listed is not None:
        options = ["--force", "--force"] if force else ["--force"]
        await git(
            root, "worktree", "remove", *options, "--end-of-options", str(listed.path), write=True
        )


@dataclass(frozen=True, slots=True)
class _CreatedDirectory:
    """Directories that were created by us, and only these may be removed on failure."""

    identity: os.stat_result
    parents: list[Path]


def _create_directory(path: Path) -> _CreatedDirectory:
    parents = [parent for parent in path.parents if not parent.exists()]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir()
    except FileExistsError:
        raise errors.worktree_path_exists(str(path)) from None
    except OSError as error:
        raise errors.worktree_creation_failed(f"{path}: {error.strerror}") from error
    return _CreatedDirectory(path.stat(), parents)


async def _roll_back(root: Path, path: Path, created: _CreatedDirectory) -> None:
    await asyncio.to_thread(_remove_directory, path, created)
    with contextlib.suppress(SpinneyError):
        # Twice, because a killed git leaves its entry locked as "initializing".
        await git(
            root, "worktree", "remove", "--force", "--force", "--end-of-options", str(path),
            write=True, check=False,
        )  # fmt: skip


def _remove_directory(path: Path, created: _CreatedDirectory) -> None:
    if os.path.lexists(path) and os.path.samestat(path.lstat(), created.identity):
        shutil.rmtree(path, ignore_errors=True)
    with contextlib.suppress(OSError):
        for parent in created.parents:
            parent.rmdir()


def _may_be_listed(root: Path, path: Path) -> bool:
    """Whether git's own files have an entry of a worktree at `path`, or cannot be read."""
    directories = find_git_directories(root)
    if directories is None:
        return True
    own = os.path.realpath(path / ".git")
    try:
        for entry in directories.common_dir.glob("worktrees/*/gitdir"):
            marker = os.fsdecode(entry.read_bytes()).removesuffix("\n")
            if os.path.realpath(entry.parent / marker) == own:
                return True
    except OSError:
        return True
    return False


def _read_locks(root: Path) -> dict[Path, str]:
    """Return the locked worktrees with the reason for it, from git's own files."""
    directories = find_git_directories(root)
    found = {}
    for lock in directories.common_dir.glob("worktrees/*/locked") if directories else ():
        with contextlib.suppress(OSError):
            marker = os.fsdecode((lock.parent / "gitdir").read_bytes()).removesuffix("\n")
            found[Path(marker).parent] = os.fsdecode(lock.read_bytes()).strip()
    return found


def _parse_entry(attributes: list[str]) -> ListedWorktree:
    values = dict(line.partition(" ")[::2] for line in attributes if line)
    branch = values.get("branch")
    listed = ListedWorktree(
        path=Path(values["worktree"]),
        branch=branch.removeprefix("refs/heads/") if branch else None,
        commit=values.get("HEAD"),
        is_bare="bare" in values,
    )
    return _with_lock(listed, values["locked"]) if "locked" in values else listed


def _with_lock(listed: ListedWorktree, reason: str) -> ListedWorktree:
    is_initializing = reason == "initializing"
    return replace(listed, is_locked=True, lock_reason=reason, is_initializing=is_initializing)
