"""Worktrees made, listed, moved and removed, and the branches that come and go with them.

What fails half-way is taken back; what would lose work is refused; nothing outside a listed
worktree is ever deleted. A person asked for each of these, so the repository's hooks run.
"""

import asyncio
import contextlib
import os
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from model import errors
from model.errors import SpinneyError
from model.git.refs import check_branch_name
from model.git.repositories import base_commits, branch_exists, current_branch, has_commits
from model.git.run import git
from model.git.status import uncommitted_files

_CHECKOUT_TIMEOUT: Final = 600
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

    @property
    def missing(self) -> bool:
        """Whether its directory was removed by hand."""
        return not self.path.is_dir()


async def add_worktree(root: Path, path: Path, branch: str, base: str) -> None:
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
        raise errors.worktree_failed(
            "the repository has no commits yet. Make a first commit, then try again."
        )
    commit = await _newest(root, await base_commits(root, base))
    if await branch_exists(root, branch):
        raise errors.branch_exists(branch)
    if await _stands(path):
        raise errors.worktree_path_exists(str(path))
    made = await git(
        root, "branch", "--no-track", "--end-of-options", branch, commit, write=True, check=False
    )
    if made.returncode != 0:
        if "already exists" in made.stderr and await branch_exists(root, branch):
            raise errors.branch_exists(branch)
        raise errors.worktree_failed(made.words)
    try:
        await check_out(root, path, branch)
    except BaseException:
        with contextlib.suppress(SpinneyError):
            await git(root, "branch", "-D", "--end-of-options", branch, write=True)
        raise


async def check_out(root: Path, path: Path, branch: str) -> None:
    """Make a worktree at `path` on the branch `branch`, which exists.

    Raises:
        SpinneyError: `worktree_path_exists`, or `worktree_failed` with git's own reason, such as
            the path of the worktree that holds the branch.
    """
    check_branch_name(branch)
    await _forget_missing(root, path)
    made = await asyncio.to_thread(_make_directory, path)
    try:
        await git(
            root, "worktree", "add", "--quiet", "--end-of-options", str(path), branch,
            write=True, timeout=_CHECKOUT_TIMEOUT,
        )  # fmt: skip
    except BaseException as error:
        await _take_back(root, path, made)
        if isinstance(error, SpinneyError):
            raise errors.worktree_failed(error.message) from error
        raise


async def list_worktrees(root: Path) -> list[ListedWorktree]:
    """Every worktree of the repository, its own checkout first."""
    listed = await git(root, "worktree", "list", "--porcelain", "-z", check=False)
    if listed.returncode == _USAGE:  # git before 2.36 has no -z
        listed = await git(root, "worktree", "list", "--porcelain")
        records = os.fsdecode(listed.raw).split("\n\n")
        found = [_listed(record.split("\n")) for record in records if record.strip()]
    elif listed.returncode == 0:
        records = os.fsdecode(listed.raw).split("\0\0")
        found = [_listed(record.split("\0")) for record in records if record]
    else:
        raise SpinneyError(listed.words, "git_error")
    return [replace(worktree, main=index == 0) for index, worktree in enumerate(found)]


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
    if not await _stands(path):
        await _forget_missing(root, path)
        return
    await _check_removable(root, path, base_dir)
    if not force:
        await _check_nothing_lost(path)
    options = ["--force"] if force else []
    removed = await git(
        root, "worktree", "remove", *options, "--end-of-options", str(path),
        write=True, timeout=_CHECKOUT_TIMEOUT, check=False,
    )  # fmt: skip
    if "containing submodules" in removed.stderr:
        raise SpinneyError(
            f"“{path.name}” holds submodules, whose commits would go with it. Push them, then "
            "remove it with force.",
            "conflict",
        )
    if removed.returncode != 0:
        raise SpinneyError(f"{path} was not removed: {removed.words}", "git_error")


async def move_worktree(root: Path, path: Path, new_path: Path) -> None:
    """Move the worktree at `path` to `new_path`, where nothing may stand."""
    if await _stands(new_path):
        raise errors.worktree_path_exists(str(new_path))
    await git(root, "worktree", "move", "--end-of-options", str(path), str(new_path), write=True)


async def prune(root: Path) -> None:
    """Make the repository forget all worktrees whose directories are gone."""
    await git(root, "worktree", "prune", write=True)


async def rename_branch(root: Path, branch: str, new_name: str) -> None:
    """Rename a branch, also one that is checked out in a worktree."""
    check_branch_name(new_name)
    if await branch_exists(root, new_name):
        raise errors.branch_exists(new_name)
    await git(root, "branch", "-m", "--end-of-options", branch, new_name, write=True)


async def delete_branch(root: Path, branch: str, force: bool = False) -> None:
    """Delete a local branch; one that is gone already is fine.

    Raises:
        SpinneyError: `conflict` when commits would be lost and `force` does not say so;
            `git_error` with git's reason when it is checked out somewhere.
    """
    check_branch_name(branch)
    if not await branch_exists(root, branch):
        return
    lost = 0 if force else await _lonely_commits(root, "refs/heads/" + branch, branch)
    if lost:
        raise SpinneyError(
            f"The branch “{branch}” has {_count(lost, 'commit')} that {_be(lost)} on no other "
            "branch and on no remote. Push it first, or delete it with force.",
            "conflict",
        )
    await git(root, "branch", "-D", "--end-of-options", branch, write=True)


async def _newest(root: Path, commits: list[str]) -> str:
    """The first of these commits, or a later one that holds it."""
    first, *others = commits
    for other in others:
        held = await git(root, "merge-base", "--is-ancestor", first, other, check=False)
        if held.returncode == 0:
            return other
    return first


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


async def _stands(path: Path) -> bool:
    """Whether anything is at `path`, also a link that leads nowhere."""
    return await asyncio.to_thread(os.path.lexists, path)


async def _check_nothing_lost(path: Path) -> None:
    files = await uncommitted_files(path)
    commits = await _lonely_commits(path, "HEAD", await current_branch(path))
    parts = []
    if files:
        parts.append(_count(files, "uncommitted file"))
    if commits:
        what = _count(commits, "commit")
        parts.append(f"{what} that {_be(commits)} on no other branch and on no remote")
    if parts:
        raise SpinneyError(
            f"“{path.name}” has {' and '.join(parts)}. Commit and push first, or remove it "
            "with force.",
            "conflict",
        )


async def _lonely_commits(path: Path, ref: str, branch: str | None) -> int:
    """How many commits of `ref` are on no branch but `branch`, and on no remote."""
    excluded = [f"--exclude={branch}"] if branch else []
    counted = await git(
        path, "rev-list", "--count", ref, "--not", *excluded, "--branches", "--remotes",
        "--", check=False,
    )  # fmt: skip
    # It fails on a branch without commits, which has none to lose.
    return int(counted.stdout) if counted.returncode == 0 else 0


async def _forget_missing(root: Path, path: Path) -> None:
    """Drop the repository's note of a worktree at `path` whose directory is gone.

    Only this one: `prune` would also forget worktrees on a disk that is not mounted now.
    """
    if await _stands(path):
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


def _listed(lines: list[str]) -> ListedWorktree:
    facts = dict(line.partition(" ")[::2] for line in lines if line)
    branch = facts.get("branch")
    return ListedWorktree(
        path=Path(facts["worktree"]),
        branch=branch.removeprefix("refs/heads/") if branch else None,
        commit=facts.get("HEAD"),
        bare="bare" in facts,
        locked="locked" in facts,
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _be(number: int) -> str:
    return "is" if number == 1 else "are"
