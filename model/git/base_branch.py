"""Move a base branch by compare-and-swap, and let its checkout follow."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.plural import count
from model.base.text import clean_line
from model.git.changes import to_display_name
from model.git.in_the_way import find_in_the_way
from model.git.merging import find_operation
from model.git.refs import check_ref
from model.git.repositories import list_remotes
from model.git.run import git
from model.git.three_way import NO_HOOKS, TIMEOUT
from model.git.working_tree import read_working_tree
from model.git.worktrees import list_worktrees

_MAX_LISTED: Final = 5


@dataclass(frozen=True, slots=True)
class BaseBranch:
    """A local branch that others land in."""

    name: str
    commit: str
    checkout: Path | None
    """The working tree that has it checked out."""

    @property
    def ref(self) -> str:
        """Its full name."""
        return f"refs/heads/{self.name}"


async def read_base(root: Path, name: str) -> BaseBranch:
    """Return the base branch. Raises `not_found` if there is no local branch of this name."""
    check_ref(name)
    found = await git(
        root, "rev-parse", "--verify", "--quiet", "--end-of-options",
        f"refs/heads/{name}^{{commit}}", check=False,
    )  # fmt: skip
    if found.returncode != 0:
        raise SpinneyError(await _describe_missing(root, name), "not_found")
    checkouts = [one for one in await list_worktrees(root) if one.branch == name]
    return BaseBranch(name, found.stdout, checkouts[0].path if checkouts else None)


async def check_can_follow(
    base: BaseBranch, to: str, environment: Mapping[str, str] | None = None
) -> None:
    """Raise `conflict` if the checkout of the base cannot follow it to a commit.

    `environment` is for git where the commit is not among the repository's own objects.
    """
    path = base.checkout
    if path is None:
        return
    where = f"'{base.name}' is checked out in {clean_line(str(path))}"
    if not await asyncio.to_thread(path.is_dir):
        raise SpinneyError(
            f"{where}, which is missing. Bring it back, or run 'git worktree prune'.", "conflict"
        )
    operation = await find_operation(path)
    if operation is not None:
        raise SpinneyError(
            f"{where}, with an unfinished {operation}. Finish or abort it, then land again.",
            "conflict",
        )
    tree, _ = await read_working_tree(path)
    if tree.changed:
        raise SpinneyError(
            f"{where}, with {count(len(tree.changed), 'uncommitted change')} "
            f"({list_names(tree.changed)}). Commit or stash them there, then land again.",
            "conflict",
        )
    await refresh_index(path)
    tried = await _read_tree(path, base.commit, to, "--dry-run", environment=environment)
    if tried:
        raise SpinneyError(f"{where}, which cannot follow: {tried}", "conflict")


async def move_base(root: Path, base: BaseBranch, to: str, why: str) -> None:
    """Move the base from the commit that it is known to have, and let its checkout follow.

    Raises:
        SpinneyError: `conflict` if it has moved meanwhile, or if its checkout cannot follow. The
            base is where it was then; the checkout may have a part of the files.
    """
    await _swap(base.checkout or root, base.ref, base.commit, to, why)
    if base.checkout is None:
        return
    problem = await follow(base.checkout, base.commit, to)
    if problem:
        await _swap(base.checkout, base.ref, to, base.commit, f"{why}: taken back")
        raise SpinneyError(
            f"The checkout of '{base.name}' in {clean_line(str(base.checkout))} could not follow, "
            f"so nothing has landed: {problem}",
            "conflict",
        )


async def follow(path: Path, before: str, after: str) -> str:
    """Bring the files of a clean checkout from one commit to another; return why it failed.

    No file is overwritten that git does not track, nor one that has changed: that is looked for
    first. What cannot be known before (a file that cannot be written, a full disk, a kill) leaves
    a part of the files changed: `model.git.interrupted_checkout` brings them back.
    """
    try:
        await refresh_index(path)
        return await _read_tree(path, before, after)
    except SpinneyError as error:  # The time limit.
        return error.message


async def find_pushed(root: Path, branch: str, commit: str) -> str | None:
    """Return a remote's branch of this name that has the commit: `origin/main`."""
    for name in await _list_counterparts(root, branch):
        found = await git(root, "merge-base", "--is-ancestor", commit, name, check=False)
        if found.returncode == 0:
            return clean_line(name.removeprefix("refs/remotes/"))
    return None


async def describe_outdated(root: Path, base: BaseBranch) -> str:
    """Return a sentence about commits of the remote that the base lacks; empty without any."""
    for name in await _list_counterparts(root, base.name):
        counted = await git(root, "rev-list", "--count", name, "--not", base.ref, "--")
        if int(counted.stdout):
            remote = clean_line(name.removeprefix("refs/remotes/"))
            commits = count(int(counted.stdout), "commit")
            return f"{remote} has {commits} that {base.name} lacks. Pull before you push."
    return ""


async def _list_counterparts(root: Path, branch: str) -> list[str]:
    remotes = [remote.name for remote in await list_remotes(root)]
    if not remotes:
        return []
    listed = await git(
        root, "for-each-ref", "--format=%(refname)",
        *(f"refs/remotes/{remote}/{branch}" for remote in remotes),
    )  # fmt: skip
    return listed.stdout.splitlines()


async def _describe_missing(root: Path, name: str) -> str:
    known = await git(
        root, "for-each-ref", "--count=1", "--format=%(refname:short)",
        f"refs/remotes/{name}", f"refs/remotes/*/{name}",
    )  # fmt: skip
    if known.stdout:
        return (
            f"There is no local branch '{name}' to land in, only {clean_line(known.stdout)}. Push "
            "the branch and open a pull request instead."
        )
    return (
        f"There is no branch '{name}' to land in: it was renamed or deleted. Choose another base "
        "branch in the project's settings."
    )


async def _swap(cwd: Path, ref: str, before: str, after: str, why: str) -> None:
    moved = await git(
        cwd, *NO_HOOKS, "update-ref", "-m", clean_line(why), ref, after, before,
        check=False, write=True,
    )  # fmt: skip
    if moved.returncode != 0:
        name = ref.removeprefix("refs/heads/")
        raise SpinneyError(
            f"'{name}' was not moved, because it has changed meanwhile or is in use. Look at it "
            f"again, then land. Git says: {moved.message}",
            "conflict",
        )


async def refresh_index(path: Path) -> None:
    """Let git notice that files which were only touched have not changed."""
    await git(path, *NO_HOOKS, "update-index", "-q", "--refresh", write=True, check=False)


async def _read_tree(
    path: Path,
    before: str,
    after: str,
    *options: str,
    environment: Mapping[str, str] | None = None,
) -> str:
    """Return the reason if index and files are not brought from `before` to `after`."""
    # Git overwrites what it ignores, be it the only copy.
    in_the_way = await find_in_the_way(path, after, environment)
    if in_the_way:
        return (
            f"Files there that git does not track would be overwritten: {list_names(in_the_way)}. "
            "Move them away, then try again."
        )
    result = await git(
        path, *NO_HOOKS, "read-tree", *options, "-m", "-u", before, after,
        write=True, check=False, timeout=TIMEOUT, environment=environment,
    )  # fmt: skip
    return "" if result.returncode == 0 else result.message or "git read-tree failed."


def list_names(paths: list[str]) -> str:
    """Return the first of these files, for a sentence."""
    names = [to_display_name(path) for path in paths[:_MAX_LISTED]]
    return ", ".join(names) + (", …" if len(paths) > _MAX_LISTED else "")
