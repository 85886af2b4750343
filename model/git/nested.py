"""Find the repositories inside a worktree, and what each has that is nowhere else.

Git does not look into what it ignores, and of a repository inside it lists no file. So the folders
are walked here, and each repository is asked by itself.
"""

import asyncio
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final, Literal

from model.base.errors import SpinneyError
from model.base.git_layout import GitDirectories, find_git_directories, is_bare_repository
from model.base.plural import count
from model.base.text import clean_line
from model.git.run import git
from model.git.uncommitted import list_uncommitted_files

_MAX_EXAMINED: Final = 50
"""Repositories that git is asked about; further ones are counted."""
_AT_A_TIME: Final = 4
_MAX_NAME: Final = 200
_BARE: Final = frozenset({"HEAD", "objects", "refs"})
"""What a repository without a working tree has, judged as git does."""
_MAX_MOVES: Final = 2000
"""Entries of a reflog that are read."""
_LEFT: Final = re.compile(r"reset: |checkout: moving from [0-9a-f]{40,64} to ")
"""How an entry of a reflog begins whose commit before it was on no branch any more."""

_Kind = Literal["worktree", "repository", "submodule"]


@dataclass(frozen=True, slots=True)
class _Inside:
    repositories: list[Path]
    unreadable: list[Path]


async def describe_inner_losses(path: Path) -> list[str]:
    """Return what would be lost with the repositories below `path`, each as a phrase.

    A linked worktree is named in any case: an agent or a person may work in it. A clone or a
    submodule is named if it has uncommitted files, or commits that are on no remote. So is what
    cannot be read.
    """
    inside = await asyncio.to_thread(_walk, path)
    outer = await asyncio.to_thread(find_git_directories, path)
    modules = await asyncio.to_thread(_find_modules, outer, inside) if outer else []
    limit = asyncio.Semaphore(_AT_A_TIME)

    async def describe(repository: Path, name: str) -> str:
        async with limit:
            return await _describe(repository, name, outer)

    named = [(each, _name(path, each)) for each in inside.repositories]
    named += [(each, _name(outer.git_dir / "modules", each)) for each in modules if outer]
    described = await asyncio.gather(*(describe(*each) for each in named[:_MAX_EXAMINED]))
    found = list(filter(None, described))
    further = len(named) - len(described)
    if further:
        found.append(f"repositories inside it that were not looked at ({further})")
    names = (_name(path, folder) for folder in inside.unreadable[:_MAX_EXAMINED])
    return [*found, *(f"the folder {name}, which cannot be read" for name in names)]


def _walk(root: Path) -> _Inside:
    """Return the repositories below `root`, and the folders that cannot be read. Blocks."""
    inside = _Inside([], [])
    folders = [str(root)]
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(folder) as entries:
                inner = {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}
        except FileNotFoundError:
            continue
        except OSError:
            inside.unreadable.append(Path(folder))
            continue
        is_bare = inner.keys() >= _BARE and inner["objects"] and inner["refs"]
        if folder != str(root) and (
            is_bare or (".git" in inner and _is_used(Path(folder, ".git")))
        ):
            inside.repositories.append(Path(folder))
        if not is_bare:
            folders += (
                f"{folder}/{name}" for name, is_folder in inner.items()
                if is_folder and name != ".git"
            )  # fmt: skip
    inside.repositories.sort()
    return inside


def _is_used(marker: Path) -> bool:
    """Whether it is more than the empty folder that agents' sandboxes leave behind."""
    try:
        return not marker.is_dir() or any(marker.iterdir())
    except OSError:
        return True


def _find_modules(outer: GitDirectories, inside: _Inside) -> list[Path]:
    """Return the repositories of submodules that are not checked out. Blocks."""
    found = (find_git_directories(repository) for repository in inside.repositories)
    checked_out = {each.git_dir for each in found if each is not None}
    if outer.git_dir == outer.common_dir:
        return []
    modules = _walk(outer.git_dir / "modules").repositories
    return [each for each in modules if Path(os.path.realpath(each)) not in checked_out]


async def _describe(repository: Path, name: str, outer: GitDirectories | None) -> str:
    """Return what would be lost with a repository; empty if nothing would be."""
    directories = await asyncio.to_thread(find_git_directories, repository)
    if directories is None:
        return f"the repository {name} inside it, which cannot be read"
    kind = _classify(directories, outer)
    try:
        files = await _count_files(repository)
        known = await _list_main_tips(directories, outer) if kind == "submodule" and outer else []
        commits = await _count_commits(repository, kind, known)
        dropped = 0 if kind == "worktree" else await _count_dropped_commits(repository)
    except SpinneyError as error:
        return f"the {kind} {name} inside it, which cannot be read ({error.message.rstrip('.')})"
    parts = [count(files, "uncommitted file")] if files else []
    if commits:
        where = "no branch and on no remote" if kind == "worktree" else "no remote"
        parts.append(f"{count(commits, 'commit')} that {_is_or_are(commits)} on {where}")
    if dropped:
        parts.append(f"{count(dropped, 'commit')} that only its reflog has")
    if not parts and kind != "worktree":
        return ""
    return f"the {kind} {name} inside it" + (f", with {' and '.join(parts)}" if parts else "")


def _classify(directories: GitDirectories, outer: GitDirectories | None) -> _Kind:
    if directories.git_dir != directories.common_dir:
        return "worktree"
    if outer is not None and outer.git_dir in directories.git_dir.parents:
        return "submodule"
    return "repository"


async def _count_files(repository: Path) -> int:
    if not await asyncio.to_thread((repository / ".git").exists):
        return 0
    # What is in its own submodules is found by itself.
    return len(await list_uncommitted_files(repository))


async def _list_main_tips(directories: GitDirectories, outer: GitDirectories) -> list[str]:
    """Return the tips that the main checkout's repository of the same submodule has."""
    main = outer.common_dir / directories.git_dir.relative_to(outer.git_dir)
    if main == directories.git_dir or not await asyncio.to_thread(is_bare_repository, main):
        return []
    listed = await git(main, "show-ref", "--head", "--hash", check=False)
    return listed.stdout.split()


async def _count_commits(repository: Path, kind: _Kind, known: Sequence[str]) -> int:
    """Count what goes with the repository: of a linked worktree, its branch stays.

    `known` are commits that another repository has.
    """
    which = ("HEAD", "--not", "--branches") if kind == "worktree" else ("--all", "--not")
    given = ("--ignore-missing", "--stdin") if known else ()
    # A shallow clone has its oldest commits from a remote, even if no branch of it is known.
    counted = await git(
        repository, "rev-list", "--count", *which, "--remotes", *await _read_shallow(repository),
        *given, "--", timeout=60, environment={"GIT_WORK_TREE": "."},
        stdin="".join(f"^{commit}\n" for commit in known).encode(), check=kind != "worktree",
    )  # fmt: skip
    if counted.returncode == 0:
        return int(counted.stdout)
    head = await git(repository, "rev-parse", "--verify", "--quiet", "HEAD", check=False)
    if head.returncode == 0:
        raise SpinneyError(counted.message, "git_error")
    return 0  # Nothing was committed on its branch.


async def _count_dropped_commits(repository: Path) -> int:
    """Count the commits that a reset or a checkout left, and that are on nothing now.

    What was amended or rebased is not counted: other commits took its place.
    """
    log = await git(
        repository, "log", "--walk-reflogs", "--no-show-signature", "--format=%H %gs",
        f"--max-count={_MAX_MOVES}", "HEAD", "--", check=False,
    )  # fmt: skip
    moves = [line.partition(" ") for line in log.stdout.splitlines()]
    left = dict.fromkeys(old for (_, _, what), (old, _, _) in pairwise(moves) if _LEFT.match(what))
    if not left:
        return 0
    counted = await git(
        repository, "rev-list", "--count", "--ignore-missing", "--stdin", "--not", "--all",
        *await _read_shallow(repository), timeout=60, stdin="\n".join(left).encode(),
    )  # fmt: skip
    return int(counted.stdout)


async def _read_shallow(repository: Path) -> list[str]:
    directories = await asyncio.to_thread(find_git_directories, repository)
    if directories is None:
        return []
    try:
        text = await asyncio.to_thread((directories.common_dir / "shallow").read_text, "ascii")
    except (OSError, ValueError):
        return []
    return [line for line in text.split() if set(line) <= set("0123456789abcdef")]


def _name(root: Path, folder: Path) -> str:
    relative = clean_line(os.path.relpath(folder, root))
    return f"'{relative[:_MAX_NAME]}'"


def _is_or_are(number: int) -> str:
    return "is" if number == 1 else "are"
