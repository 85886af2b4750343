"""Move a base branch by compare-and-swap, and let its checkout follow."""

import asyncio
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.git_layout import is_bare_repository
from model.base.plural import count
from model.base.text import clean_line
from model.git.branch_uses import describe_use
from model.git.changes import to_display_name
from model.git.in_the_way import find_in_the_way
from model.git.merging import find_operation
from model.git.repositories import list_base_refs, list_remotes, read_refs, select_base
from model.git.run import GitResult, git
from model.git.submodules import find_left_behind
from model.git.three_way import NO_HOOKS, TIMEOUT
from model.git.working_tree import read_working_tree
from model.git.worktrees import list_worktrees

_MAX_LISTED: Final = 5
_TOUCHED: Final = "not uptodate. Cannot merge."
"""What git says of a file with another time than in the index, be it all that has changed."""


@dataclass(frozen=True, slots=True)
class BaseBranch:
    """A local branch that others land in."""

    name: str
    commit: str
    checkout: Path | None
    """The working tree that has it checked out."""
    obstacle: str = field(default="", compare=False)
    """Why it must not be moved, as sentences; empty if it may."""
    commits: tuple[str, ...] = field(default=(), compare=False)
    """Its commit and that of its counterpart on `origin`, as `resolve_base` returns them."""

    @property
    def ref(self) -> str:
        """Its full name."""
        return f"refs/heads/{self.name}"


class DirtyCheckoutError(SpinneyError):
    """The checkout of a base has uncommitted changes; they could be stashed for a landing."""


async def read_base(root: Path, name: str) -> BaseBranch:
    """Return the base branch. Raises `not_found` if there is no local branch of this name."""
    listed = await git(
        root, "for-each-ref",
        "--format=%(refname)%00%(objectname)%00%(HEAD)%00%(worktreepath)%00", *list_base_refs(name),
    )  # fmt: skip
    fields = os.fsdecode(listed.raw_stdout).split("\0")
    found = {
        ref.lstrip("\n"): facts
        for ref, *facts in zip(*(fields[at::4] for at in range(4)), strict=False)
    }
    if f"refs/heads/{name}" not in found:
        raise SpinneyError(await _describe_missing(root, name), "not_found")
    commit, mark, path = found[f"refs/heads/{name}"]
    checkout = await _find_checkout(root, name, Path(path), is_here=mark == "*") if path else None
    commits = select_base(name, {ref: facts[0] for ref, facts in found.items()})
    obstacle = await asyncio.to_thread(describe_use, root, name)
    return BaseBranch(name, commit, checkout, obstacle, tuple(commits))


async def _find_checkout(root: Path, name: str, path: Path, *, is_here: bool) -> Path | None:
    """Return the first checkout of a branch that git has at `path`, and at `root` if `is_here`."""
    is_bare = await asyncio.to_thread(is_bare_repository, path)
    if not is_bare and (not is_here or path == root):
        return path
    # Of a bare repository git names the folder here, and of two checkouts the last.
    checkouts = (one.path for one in await list_worktrees(root) if one.branch == name)
    return next(checkouts, None)


async def check_can_follow(
    base: BaseBranch,
    to: str,
    environment: Mapping[str, str] | None = None,
    *,
    looks_only: bool = False,
) -> None:
    """Raise `conflict` if the checkout of the base cannot follow it to a commit.

    `environment` is for git where the commit is not among the repository's own objects. With
    `looks_only` nothing of the repository runs, so a file that was only touched is not looked at.
    """
    if base.obstacle:
        raise SpinneyError(base.obstacle, "conflict")
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
            f"{where}, with an unfinished {operation}. Finish or abort it, then try again.",
            "conflict",
        )
    if changed := await list_changes(path):
        raise DirtyCheckoutError(
            f"{where}, with {count(len(changed), 'uncommitted change')} "
            f"({list_names(changed)}). Commit or stash them there, then try again.",
            "conflict",
        )
    tried = await _read_tree(
        path, base.commit, to, "--dry-run", environment=environment, looks_only=looks_only
    )
    if tried:
        raise SpinneyError(f"{where}, which cannot follow: {tried}", "conflict")


async def list_changes(path: Path) -> list[str]:
    """Return what a person has changed in the checkout of a base, of what git tracks."""
    tree, _ = await read_working_tree(path)
    left_behind = await find_left_behind(path, tree)
    return [name for name in tree.changed if name not in left_behind]


async def move_base(root: Path, base: BaseBranch, to: str, why: str) -> None:
    """Move the base from the commit that it is known to have, and let its checkout follow.

    Raises:
        SpinneyError: `conflict` if it has moved meanwhile, or if its checkout cannot follow. The
            base is where it was then, as when this is canceled; the checkout may have a part of
            the files.
    """
    path = base.checkout or root
    try:
        await _swap(path, base.ref, base.commit, to, why)
        problem = await follow(path, base.commit, to) if base.checkout else ""
    except asyncio.CancelledError:
        # Whether it had moved is not known.
        with suppress(SpinneyError):
            await _swap(path, base.ref, to, base.commit, f"{why}: canceled")
        raise
    if problem:
        await _swap(path, base.ref, to, base.commit, f"{why}: taken back")
        raise SpinneyError(
            f"The checkout of '{base.name}' in {clean_line(str(path))} could not follow, "
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
        return await _read_tree(path, before, after)
    except SpinneyError as error:  # The time limit.
        return error.message


async def find_pushed(root: Path, branch: str, commit: str) -> str | None:
    """Return a remote's branch of this name that has the commit: `origin/main`."""
    names = await _list_counterparts(root, branch)
    if not names:
        return None
    found = await git(
        root, "for-each-ref", "--count=1", "--format=%(refname)", f"--contains={commit}", *names,
        check=False,
    )  # fmt: skip
    if found.returncode != 0 and "no such commit" not in found.stderr:
        raise SpinneyError(found.message, "git_error")
    return clean_line(found.stdout.removeprefix("refs/remotes/")) or None


async def describe_outdated(root: Path, base: BaseBranch) -> str:
    """Return a sentence about commits of the remote that the base lacks; empty without any."""
    names = await _list_counterparts(root, base.name)
    for name, commit in (await read_refs(root, *names)).items() if names else ():
        if commit == base.commit:
            continue  # As it was before the landing.
        counted = await git(root, "rev-list", "--count", name, "--not", base.ref, "--")
        if int(counted.stdout):
            remote = clean_line(name.removeprefix("refs/remotes/"))
            commits = count(int(counted.stdout), "commit")
            return f"{remote} has {commits} that {base.name} lacks. Pull before you push."
    return ""


async def _list_counterparts(root: Path, branch: str) -> list[str]:
    return [f"refs/remotes/{remote.name}/{branch}" for remote in await list_remotes(root)]


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
        # A full disk may refuse the reflog of a branch that has moved.
        if after in (await read_refs(cwd, ref)).values():
            return
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
    looks_only: bool = False,
) -> str:
    """Return the reason if index and files are not brought from `before` to `after`."""
    # Git overwrites what it ignores, be it the only copy.
    in_the_way = await find_in_the_way(path, after, environment)
    if in_the_way:
        return (
            f"Files there that git does not track would be overwritten: {list_names(in_the_way)}. "
            "Move them away, then try again."
        )
    # Submodules stay as they are, whatever the settings say: their pins may name commits that are
    # not there.
    command = (
        *NO_HOOKS, "read-tree", *options, "-m", "-u", "--no-recurse-submodules", before, after,
    )  # fmt: skip

    async def move() -> GitResult:
        return await git(
            path, *command, write=not looks_only, check=False, timeout=TIMEOUT,
            environment=environment,
        )  # fmt: skip

    result = await move()
    if _TOUCHED in result.stderr and looks_only:
        return ""  # Its content was compared before, by git's status.
    if _TOUCHED in result.stderr:  # Git looks at all files before it changes one.
        await refresh_index(path)
        result = await move()
    return "" if result.returncode == 0 else result.message or "git read-tree failed."


def list_names(paths: list[str]) -> str:
    """Return the first of these files, for a sentence."""
    names = [to_display_name(path) for path in paths[:_MAX_LISTED]]
    return ", ".join(names) + (", …" if len(paths) > _MAX_LISTED else "")
