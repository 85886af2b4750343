"""Worktrees made, listed and moved, and the branches that come with them; `removal` has the rest.

What fails half-way is taken back. A person asked for each of these, so the repository's hooks run,
except where somebody else's commit is checked out.
"""

import asyncio
import contextlib
import os
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from model.base import errors
from model.base.errors import SpinneyError
from model.base.git_layout import git_directories
from model.git.refs import check_branch_name
from model.git.repositories import base_commits, branch_exists, has_commits
from model.git.run import git

CHECKOUT_TIMEOUT: Final = 600
"""Seconds; a checkout of a very large repository takes minutes."""
_USAGE: Final = 129
"""Git's exit code for an option that it does not know."""


@dataclass(frozen=True, slots=True)
class ListedWorktree:
    """One entry of `git worktree list`; the repository's own checkout comes first."""

    path: Path
    branch: str | None = None
    """`None`: detached, or bare."""
    commit: str | None = None
    main: bool = False
    bare: bool = False
    locked: bool = False
    being_made: bool = False
    """Git has not checked it out whole: it does, or was killed at it."""


async def add_worktree(
    root: Path, path: Path, branch: str, base: str, *, hooks: bool = True
) -> None:
    """Make a worktree at `path` on the new branch `branch`, which starts at `base`.

    Args:
        root: The repository.
        path: Where nothing stands yet; missing parents are made.
        branch: The new branch. It tracks nothing until its first push.
        base: A local branch, a remote's branch, a tag or a commit. A local branch that is only
            behind its counterpart on `origin` stands for that one.

    Raises:
        SpinneyError: `branch_exists`, `worktree_path_exists`, or `worktree_failed` with git's own
            reason. Nothing is left behind.
    """
    check_branch_name(branch)
    if not await has_commits(root):
        raise without_commits()
    commit = await _newest(root, await base_commits(root, base))
    if await branch_exists(root, branch):
        raise errors.branch_exists(branch)
    if await stands(path):
        raise errors.worktree_path_exists(str(path))
    made = await git(
        root, "branch", "--no-track", "--end-of-options", branch, commit, write=True, check=False
    )
    if made.returncode != 0:
        if "already exists" in made.stderr and await branch_exists(root, branch):
            raise errors.branch_exists(branch)
        raise errors.worktree_failed(made.words)
    try:
        await check_out(root, path, branch, hooks=hooks)
    except BaseException:
        with contextlib.suppress(SpinneyError):
            await git(root, "branch", "-D", "--end-of-options", branch, write=True)
        raise


def without_commits() -> SpinneyError:
    """What is said where there is nothing to begin from."""
    return errors.worktree_failed(
        "the repository has no commits yet. Make a first commit, then try again."
    )


async def check_out(root: Path, path: Path, branch: str, *, hooks: bool = True) -> None:
    """Make a worktree at `path` on the branch `branch`, which exists.

    Without `hooks` none runs: where `core.hooksPath` leads into the checkout (as with husky),
    `post-checkout` would be the program of whoever wrote the commit.

    Raises:
        SpinneyError: `worktree_path_exists`, or `worktree_failed` with git's own reason, such as
            the path of the worktree that holds the branch.
    """
    check_branch_name(branch)
    await forget_missing(root, path)
    made = await asyncio.to_thread(_make_directory, path)
    try:
        await git(
            root, *_quiet(hooks), "worktree", "add", "--quiet", "--end-of-options", str(path),
            branch, write=True, timeout=CHECKOUT_TIMEOUT,
        )  # fmt: skip
    except BaseException as error:
        await _take_back(root, path, made)
        if isinstance(error, SpinneyError):
            raise errors.worktree_failed(error.message) from error
        raise


def _quiet(hooks: bool) -> tuple[str, ...]:
    return () if hooks else ("-c", f"core.hooksPath={os.devnull}")


async def list_worktrees(root: Path) -> list[ListedWorktree]:
    """Every worktree of the repository, its own checkout first."""
    listed = await git(root, "worktree", "list", "--porcelain", "-z", check=False)
    if listed.returncode == _USAGE:  # git before 2.36 has no -z, and before 2.31 tells no locks
        listed = await git(root, "worktree", "list", "--porcelain")
        records = os.fsdecode(listed.raw).split("\n\n")
        locks = await asyncio.to_thread(_locks, root)
        read = (_listed(record.split("\n")) for record in records if record.strip())
        found = [
            replace(entry, locked=True, being_made=locks[entry.path])
            if entry.path in locks
            else entry
            for entry in read
        ]
    elif listed.returncode == 0:
        records = os.fsdecode(listed.raw).split("\0\0")
        found = [_listed(record.split("\0")) for record in records if record]
    else:
        raise SpinneyError(listed.words, "git_error")
    return [replace(worktree, main=index == 0) for index, worktree in enumerate(found)]


async def move_worktree(root: Path, path: Path, new_path: Path) -> None:
    """Move the worktree at `path` to `new_path`, where nothing may stand."""
    if await stands(new_path):
        raise errors.worktree_path_exists(str(new_path))
    await git(root, "worktree", "move", "--end-of-options", str(path), str(new_path), write=True)


async def discard_half_made(root: Path, path: Path) -> None:
    """Take away what a killed `git worktree add` left at `path`; a finished worktree stays."""
    real = Path(await asyncio.to_thread(os.path.realpath, path))
    found = next((w for w in await list_worktrees(root) if w.path == real), None)
    if found is not None and found.being_made and not found.main:
        # Twice: its entry is locked as “initializing”.
        await git(
            root, "worktree", "remove", "--force", "--force", "--end-of-options", str(real),
            write=True, check=False,
        )  # fmt: skip
    with contextlib.suppress(OSError):
        # Made by us and still empty, or somebody's by now.
        await asyncio.to_thread(path.rmdir)


async def rename_branch(root: Path, branch: str, new_name: str) -> None:
    """Rename a branch, also one that is checked out in a worktree."""
    check_branch_name(new_name)
    async with branches_of(root):
        if await branch_exists(root, new_name):
            raise errors.branch_exists(new_name)
        await git(root, "branch", "-m", "--end-of-options", branch, new_name, write=True)


_branches: dict[Path, asyncio.Lock] = {}


def branches_of(root: Path) -> asyncio.Lock:
    """Held while a branch of the repository is renamed or deleted.

    Two renames at once meet in one temporary log (`.tmp-renamed-log`), and a rename or deletion
    that finds the config file locked has half happened and can't be repeated.
    """
    return _branches.setdefault(root, asyncio.Lock())


async def _newest(root: Path, commits: list[str]) -> str:
    """The first of these commits, or a later one that holds it."""
    first, *others = commits
    for other in others:
        held = await git(root, "merge-base", "--is-ancestor", first, other, check=False)
        if held.returncode == 0:
            return other
    return first


async def stands(path: Path) -> bool:
    """Whether anything is at `path`, also a link that leads nowhere."""
    return await asyncio.to_thread(os.path.lexists, path)


async def forget_missing(root: Path, path: Path) -> None:
    """Drop the repository's note of a worktree at `path` whose directory is gone.

    Only this one: `prune` would also forget worktrees on a disk that is not mounted now.
    """
    if await stands(path):
        return
    wanted = Path(await asyncio.to_thread(os.path.realpath, path))
    if any(worktree.path == wanted for worktree in await list_worktrees(root)):
        await git(
            root, "worktree", "remove", "--force", "--end-of-options", str(wanted), write=True
        )


@dataclass(frozen=True, slots=True)
class _Made:
    """Directories that were not there before: ours to take away again, and only these."""

    identity: os.stat_result
    parents: list[Path]


def _make_directory(path: Path) -> _Made:
    parents = [parent for parent in path.parents if not parent.exists()]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir()
    except FileExistsError:
        raise errors.worktree_path_exists(str(path)) from None
    except OSError as error:
        raise errors.worktree_failed(f"{path}: {error.strerror}") from error
    return _Made(path.stat(), parents)


async def _take_back(root: Path, path: Path, made: _Made) -> None:
    await asyncio.to_thread(_remove_directory, path, made)
    with contextlib.suppress(SpinneyError):
        # Twice: a killed git leaves its entry locked as “initializing”.
        await git(
            root, "worktree", "remove", "--force", "--force", "--end-of-options", str(path),
            write=True, check=False,
        )  # fmt: skip


def _remove_directory(path: Path, made: _Made) -> None:
    if os.path.lexists(path) and os.path.samestat(path.lstat(), made.identity):
        shutil.rmtree(path, ignore_errors=True)
    with contextlib.suppress(OSError):
        for parent in made.parents:
            parent.rmdir()


def _locks(root: Path) -> dict[Path, bool]:
    """The locked worktrees and whether they are being made, from the files that git reads."""
    places = git_directories(root)
    found = {}
    for note in places.common.glob("worktrees/*/locked") if places else ():
        with contextlib.suppress(OSError):
            marker = os.fsdecode((note.parent / "gitdir").read_bytes()).removesuffix("\n")
            found[Path(marker).parent] = note.read_bytes().strip() == b"initializing"
    return found


def _listed(lines: list[str]) -> ListedWorktree:
    facts = dict(line.partition(" ")[::2] for line in lines if line)
    branch = facts.get("branch")
    return ListedWorktree(
        path=Path(facts["worktree"]),
        branch=branch.removeprefix("refs/heads/") if branch else None,
        commit=facts.get("HEAD"),
        bare="bare" in facts,
        locked="locked" in facts,
        being_made=facts.get("locked") == "initializing",
    )
