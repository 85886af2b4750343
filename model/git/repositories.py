"""What a repository is and has: its root, branches, default branch and remotes."""

import asyncio
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError, not_a_repository
from model.base.git_layout import borrowed_from, looks_bare, repository_of
from model.base.text import clean_line
from model.domain.resources import Branch, Remote
from model.git.refs import check_ref, check_remote_name
from model.git.run import Output, git, without_credentials

_HEADS: Final = "refs/heads/"
_REMOTES: Final = "refs/remotes/"
_COMMON_NAMES: Final = ("main", "master")


async def find_root(path: Path) -> Path:
    """The root of the repository that holds `path`; a linked worktree leads to its repository.

    Raises:
        SpinneyError: `not_a_repository`; `git_error` when git refuses a repository, for example
            one that belongs to another user.
    """
    # Not `Path.is_dir`, which raises for a path that is too long for the system.
    if not await asyncio.to_thread(os.path.isdir, path):
        raise not_a_repository(str(path))
    path = await asyncio.to_thread(path.resolve)
    asked = await git(
        path, "rev-parse", "--is-bare-repository", "--is-inside-work-tree", "--absolute-git-dir",
        check=False, discover=True,
    )  # fmt: skip
    if asked.returncode != 0:
        if "not a git repository" in asked.stderr:
            raise not_a_repository(str(path))
        raise SpinneyError(asked.words, "git_error")
    bare, inside, directory = asked.stdout.split("\n", 2)
    if inside == "true" and not looks_bare(path):
        top = _path_in(await git(path, "rev-parse", "--show-toplevel", discover=True))
        other = await asyncio.to_thread(borrowed_from, Path(top))
        if other is not None:
            raise SpinneyError(
                f"{clean_line(top)} has no repository of its own: its .git leads to that of "
                f"{clean_line(str(other))}, where each commit and each branch of this one would "
                "end up. Add that one, or make a worktree of it.",
                "conflict",
            )
        return await asyncio.to_thread(repository_of, Path(top))
    if bare == "true":
        return _bare_root(path, Path(directory))
    raise not_a_repository(str(path))


async def has_commits(root: Path) -> bool:
    """Whether any branch, local or of a remote, has a commit."""
    refs = await git(root, "for-each-ref", "--count=1", _HEADS, _REMOTES)
    return bool(refs.raw)


async def current_branch(path: Path) -> str | None:
    """The branch that is checked out in `path`, also before its first commit; `None`: detached."""
    head = await git(path, "symbolic-ref", "--quiet", "HEAD", check=False)
    if head.returncode > 1:
        raise SpinneyError(head.words, "git_error")
    return head.stdout.removeprefix(_HEADS) or None


async def branches(root: Path) -> list[Branch]:
    """The local branches, then those of the remotes (`origin/main`), newest commit first each."""
    return [
        Branch(name=clean_line(_short(name)), current=current)
        for name, current in await _refs(root)
    ]


async def default_branch(root: Path) -> str:
    """The branch that worktrees are made from.

    What `origin` calls its head; else `init.defaultBranch`, `main` or `master` if there; else the
    current branch, also one without commits; else any.
    """
    refs = [name for name, _ in await _refs(root)]
    there = {_without_remote(name) for name in refs}
    head = await git(root, "symbolic-ref", "--quiet", _REMOTES + "origin/HEAD", check=False)
    configured = await git(root, "config", "--get", "init.defaultBranch", check=False)
    wanted = (head.stdout.removeprefix(_REMOTES + "origin/"), configured.stdout, *_COMMON_NAMES)
    for name in wanted:
        if name in there:
            return name
    current = await current_branch(root)
    if current:
        return current
    if not refs:
        raise SpinneyError(f"The repository has no branch: {root}", "git_error")
    return _without_remote(refs[0])


async def remotes(root: Path) -> list[Remote]:
    """The configured remotes; their URLs without user names and passwords."""
    found = await git(root, "config", "-z", "--get-regexp", r"^remote\..*\.url$", check=False)
    urls: dict[str, str] = {}
    for entry in found.fields:
        key, _, url = entry.partition("\n")
        urls.setdefault(key.removeprefix("remote.").removesuffix(".url"), url)
    return [
        Remote(name=clean_line(name), url=clean_line(without_credentials(url)))
        for name, url in urls.items()
    ]


async def remote_names(root: Path) -> list[str]:
    """What the configured remotes are called. Raises `conflict` where there is none."""
    names = [remote.name for remote in await remotes(root)]
    if not names:
        raise SpinneyError(
            "The repository has no remote. Add one with “git remote add origin …”, then try again.",
            "conflict",
        )
    return names


async def check_remote(root: Path, name: str) -> str:
    """`name`, if it is a configured remote: a URL in its place is never contacted."""
    check_remote_name(name)
    names = await remote_names(root)
    if name not in names:
        known = ", ".join(names)
        raise SpinneyError(f"The repository has no remote “{name}”. Its remotes: {known}.")
    return name


async def base_commits(root: Path, base: str) -> list[str]:
    """The commit ids that `base` stands for: the local branch, then its counterpart on `origin`.

    One of both may be ahead: the local branch of unpushed work, the other after a fetch. A tag or
    a commit id stands for itself. Raises `SpinneyError` when nothing has that name.
    """
    check_ref(base)
    names = [_HEADS + base, _REMOTES + base, f"{_REMOTES}origin/{base}"]
    found = await git(root, "for-each-ref", "--format=%(refname)%00%(objectname)", *names)
    ids = dict(line.split("\0") for line in found.stdout.splitlines())
    commits = list(dict.fromkeys(ids[name] for name in names if name in ids))
    if commits:
        return commits
    single = await git(
        root, "rev-parse", "--verify", "--quiet", "--end-of-options", base + "^{commit}",
        check=False,
    )  # fmt: skip
    if single.returncode != 0:
        raise SpinneyError(f"There is no branch or commit “{base}” in {root}.", "not_found")
    return [single.stdout]


async def branch_exists(root: Path, branch: str) -> bool:
    """Whether there is a local branch of this name."""
    name = _HEADS + branch
    return (await git(root, "show-ref", "--verify", "--quiet", name, check=False)).returncode == 0


async def _refs(root: Path) -> Iterable[tuple[str, bool]]:
    """Full names of the branches and whether they are checked out, without `origin/HEAD`."""
    listed = await git(
        root, "for-each-ref", "--sort=-committerdate",
        "--format=%(HEAD)%00%(symref)%00%(refname)", _HEADS, _REMOTES,
    )  # fmt: skip
    rows = [line.split("\0") for line in listed.stdout.splitlines()]
    found = [(name, mark == "*") for mark, symref, name in rows if not symref]
    return sorted(found, key=lambda ref: ref[0].startswith(_REMOTES))


def _short(ref: str) -> str:
    return ref.removeprefix(_HEADS).removeprefix(_REMOTES)


def _without_remote(ref: str) -> str:
    if ref.startswith(_HEADS):
        return ref.removeprefix(_HEADS)
    return ref.removeprefix(_REMOTES).partition("/")[2]


def _bare_root(path: Path, directory: Path) -> Path:
    """The directory of a bare repository, or the one whose `.git` file leads to it."""
    if looks_bare(path):
        return path
    holders = (parent for parent in (path, *path.parents) if (parent / ".git").is_file())
    return next(holders, directory)


def _path_in(output: Output) -> str:
    return os.fsdecode(output.raw.removesuffix(b"\n"))
