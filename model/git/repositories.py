"""The root, branches, default branch and remotes of a repository."""

import asyncio
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError, not_a_repository, worktree_directory_missing
from model.base.git_layout import find_main_checkout, find_owning_checkout, is_bare_repository
from model.base.text import clean_line
from model.domain.branches import Branch, Remote
from model.git.error_messages import without_credentials
from model.git.refs import check_ref, check_remote_name
from model.git.run import GitResult, git
from model.git.safe_config import list_settings

_HEADS: Final = "refs/heads/"
_REMOTES: Final = "refs/remotes/"
_COMMON_NAMES: Final = ("main", "master")


async def find_root(path: Path) -> Path:
    """Return the root of the repository that contains `path`, also for a linked worktree.

    Raises:
        SpinneyError: `not_a_repository`; `git_error` if git refuses a repository, for example
            one that belongs to another user.
    """
    # Not `Path.is_dir`, which raises for a path that is too long for the system.
    if not await asyncio.to_thread(os.path.isdir, path):
        raise not_a_repository(str(path))
    path = await asyncio.to_thread(path.resolve)
    found = await git(
        path, "rev-parse", "--is-bare-repository", "--is-inside-work-tree", "--absolute-git-dir",
        check=False, discover=True,
    )  # fmt: skip
    if found.returncode != 0:
        if "not a git repository" in found.stderr:
            raise not_a_repository(str(path))
        raise SpinneyError(found.message, "git_error")
    bare, inside, directory = found.stdout.split("\n", 2)
    if inside == "true" and not is_bare_repository(path):
        top = _parse_path(await git(path, "rev-parse", "--show-toplevel", discover=True))
        other = await asyncio.to_thread(find_owning_checkout, Path(top))
        if other is not None:
            raise SpinneyError(
                f"{clean_line(top)} has no repository of its own: its .git points to the one of "
                f"{clean_line(str(other))}, where every commit and branch would end up. Add that "
                "repository instead, or create a worktree of it.",
                "conflict",
            )
        return await asyncio.to_thread(find_main_checkout, Path(top))
    if bare == "true":
        return _find_bare_root(path, Path(directory))
    raise not_a_repository(str(path))


async def has_commits(root: Path) -> bool:
    """Whether any local or remote branch has a commit."""
    refs = await git(root, "for-each-ref", "--count=1", _HEADS, _REMOTES)
    return bool(refs.raw_stdout)


async def get_current_branch(path: Path) -> str | None:
    """Return the branch checked out in `path`, even without commits; `None` if detached."""
    head = await git(path, "symbolic-ref", "--quiet", "HEAD", check=False)
    if head.returncode > 1:
        raise SpinneyError(head.message, "git_error")
    return head.stdout.removeprefix(_HEADS) or None


async def list_branches(root: Path) -> list[Branch]:
    """Return the local branches, then the remote ones (`origin/main`), each newest first."""
    return [
        Branch(name=clean_line(_short_name(name)), current=current)
        for name, current in await _list_refs(root)
    ]


async def find_default_branch(root: Path) -> str:
    """Return the branch that new worktrees start from.

    The head branch of `origin`; else `init.defaultBranch`, `main` or `master` if it exists; else
    the current branch, even without commits; else any branch.
    """
    refs = [name for name, _ in await _list_refs(root)]
    existing = {_without_remote(name) for name in refs}
    head = await git(root, "symbolic-ref", "--quiet", _REMOTES + "origin/HEAD", check=False)
    configured = await git(root, "config", "--get", "init.defaultBranch", check=False)
    candidates = (head.stdout.removeprefix(_REMOTES + "origin/"), configured.stdout, *_COMMON_NAMES)
    for name in candidates:
        if name in existing:
            return name
    current = await get_current_branch(root)
    if current:
        return current
    if not refs:
        raise SpinneyError(f"The repository has no branch: {root}", "git_error")
    return _without_remote(refs[0])


async def list_remotes(root: Path) -> list[Remote]:
    """Return the configured remotes, their URLs without user names and passwords."""
    urls: dict[str, str] = {}
    for key, url in await asyncio.to_thread(_read_settings, root):
        section, _, rest = key.partition(".")
        name, dot, variable = rest.rpartition(".")
        if (section, dot, variable) == ("remote", ".", "url"):
            urls.setdefault(name, url)
    return [
        Remote(name=clean_line(name), url=clean_line(without_credentials(url)))
        for name, url in urls.items()
    ]


async def list_remote_names(root: Path) -> list[str]:
    """Return the names of the configured remotes. Raises `conflict` if there are none."""
    names = [remote.name for remote in await list_remotes(root)]
    if not names:
        raise SpinneyError(
            "The repository has no remote. Add one with 'git remote add origin <url>', then "
            "try again.",
            "conflict",
        )
    return names


async def check_remote(root: Path, name: str) -> str:
    """Return `name` if it is a configured remote; a URL is rejected, never contacted."""
    check_remote_name(name)
    names = await list_remote_names(root)
    if name not in names:
        known = ", ".join(names)
        raise SpinneyError(f"The repository has no remote '{name}'. Its remotes: {known}.")
    return name


async def resolve_base(root: Path, base: str) -> list[str]:
    """Return the commit ids of `base`: the local branch, then its counterpart on `origin`.

    Either may be ahead: the local branch with unpushed work, the other after a fetch. A tag or a
    commit id resolves to itself. Raises `SpinneyError` if nothing has that name.
    """
    commits = select_base(base, await read_refs(root, *list_base_refs(base)))
    return commits or [await _resolve_commit(root, base)]


def list_base_refs(base: str) -> tuple[str, ...]:
    """Return the full names under which a base branch may be known, its local one first."""
    check_ref(base)
    return _HEADS + base, _REMOTES + base, f"{_REMOTES}origin/{base}"


def select_base(base: str, refs: Mapping[str, str]) -> list[str]:
    """Return the commits that `refs` has for a base branch, as `resolve_base` does."""
    return list(dict.fromkeys(refs[name] for name in list_base_refs(base) if name in refs))


async def read_refs(root: Path, *names: str) -> dict[str, str]:
    """Return the commits of those of these refs that exist, or of all below a name with a `/`."""
    listed = await git(root, "for-each-ref", "--format=%(refname)%00%(objectname)", *names)
    return dict(line.split("\0") for line in listed.stdout.splitlines())


def _read_settings(root: Path) -> list[tuple[str, str]]:
    if not root.is_dir():
        raise worktree_directory_missing(str(root))
    return list(list_settings(root))


async def _resolve_commit(root: Path, base: str) -> str:
    single = await git(
        root, "rev-parse", "--verify", "--quiet", "--end-of-options", base + "^{commit}",
        check=False,
    )  # fmt: skip
    if single.returncode != 0:
        raise SpinneyError(
            f"There is no branch or commit '{base}' in {root}. If it was renamed or deleted, "
            "choose another base branch, for the worktree or in the project's settings.",
            "not_found",
        )
    return single.stdout


async def branch_exists(root: Path, branch: str) -> bool:
    """Whether a local branch of this name exists."""
    name = _HEADS + branch
    return (await git(root, "show-ref", "--verify", "--quiet", name, check=False)).returncode == 0


async def _list_refs(root: Path) -> Iterable[tuple[str, bool]]:
    """Return full branch names and whether each is checked out, without `origin/HEAD`."""
    listed = await git(
        root, "for-each-ref", "--sort=-committerdate",
        "--format=%(HEAD)%00%(symref)%00%(refname)", _HEADS, _REMOTES,
    )  # fmt: skip
    rows = [line.split("\0") for line in listed.stdout.splitlines()]
    found = [(name, mark == "*") for mark, symref, name in rows if not symref]
    return sorted(found, key=lambda ref: ref[0].startswith(_REMOTES))


def _short_name(ref: str) -> str:
    return ref.removeprefix(_HEADS).removeprefix(_REMOTES)


def _without_remote(ref: str) -> str:
    if ref.startswith(_HEADS):
        return ref.removeprefix(_HEADS)
    return ref.removeprefix(_REMOTES).partition("/")[2]


def _find_bare_root(path: Path, directory: Path) -> Path:
    """Return a bare repository's directory, or the one whose `.git` file points to it."""
    if is_bare_repository(path):
        return path
    holders = (parent for parent in (path, *path.parents) if (parent / ".git").is_file())
    return next(holders, directory)


def _parse_path(result: GitResult) -> str:
    return os.fsdecode(result.raw_stdout.removesuffix(b"\n"))
