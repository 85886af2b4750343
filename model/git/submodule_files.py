"""Give a new worktree the files of its submodules, from what other checkouts have of them.

Git leaves them empty. Nothing is fetched from a network, no hook runs, and no command that the
repository's configuration names (`submodule.<name>.update`). Each gets a repository of its own, as
by `git submodule update`, with hard links to the objects of the one that it is made from.
"""

import asyncio
import contextlib
import os
import shlex
import shutil
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from model.base.errors import SpinneyError
from model.base.git_layout import find_git_directories, is_bare_repository
from model.base.text import clean_line
from model.git.run import git
from model.git.submodules import Submodule, list_submodules
from model.git.three_way import NO_HOOKS

_TIMEOUT: Final = 300.0
"""Seconds for all submodules of a worktree together."""
_MAX_SOURCES: Final = 200
"""Other worktrees that are asked for a commit, the newest first."""
_MAX_NAMED: Final = 10
_QUIET: Final = (*NO_HOOKS, "-c", "core.logAllRefUpdates=false")
"""A log of how it was made would look like commits that were left."""


_FETCH: Final = (
    "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-gc",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Limits:
    moves: bool
    deadline: float
    levels: int = 10
    """Of submodules inside submodules."""


async def fill_submodules(path: Path, *, moves: bool = False) -> str:
    """Check out the submodules of the worktree at `path`, also those inside submodules.

    With `moves` those that are checked out already are brought to their pins; else they stay.
    Canceling leaves none half made. Returns which could not be filled and the command that does
    it, as a sentence; empty if all have their files.
    """
    left = await _fill(path, None, _Limits(moves, time.monotonic() + _TIMEOUT))
    if not left:
        return ""
    names = ", ".join(clean_line(name) for name in left[:_MAX_NAMED])
    more = f" and {len(left) - _MAX_NAMED} more" if len(left) > _MAX_NAMED else ""
    command = shlex.join(["git", "-C", str(path), "submodule", "update", "--init", "--recursive"])
    plural = "" if len(left) == 1 else "s"
    return (
        f"The files of the submodule{plural} {names}{more} could not be taken from another "
        f"checkout. Run: {clean_line(command)}"
    )


async def _fill(path: Path, homes: list[Path] | None, limits: _Limits) -> list[str]:
    """Fill the submodules of a checkout; return the paths of those that could not be filled.

    `homes` are the git directories of other checkouts of it, if they are not its repository's.
    """
    outer = await asyncio.to_thread(find_git_directories, path)
    if outer is None:
        return []
    homes = [outer.common_dir] if homes is None else homes
    left = []
    for submodule in await list_submodules(path):
        inside = path / submodule.path
        try:
            modules = await asyncio.to_thread(_list_modules, homes, submodule.name)
            await _bring_to_pin(path, outer.git_dir, submodule, modules, limits)
        except (SpinneyError, OSError):
            left.append(submodule.path)
            continue
        if limits.levels:
            deeper = replace(limits, levels=limits.levels - 1)
            left += [f"{submodule.path}/{each}" for each in await _fill(inside, modules, deeper)]
    return left


async def _bring_to_pin(
    path: Path, git_dir: Path, submodule: Submodule, modules: list[Path], limits: _Limits
) -> None:
    """Bring a submodule to its pin. Raises `SpinneyError` or `OSError` if it is not there then."""
    inside, own = path / submodule.path, git_dir / "modules" / submodule.name
    await asyncio.to_thread(_check_place, path, git_dir / "modules", submodule)
    await asyncio.to_thread(_clear_interrupted, inside, own)
    if await asyncio.to_thread(find_git_directories, inside) is not None:
        if limits.moves:
            await _move(inside, submodule.pin, [own, *modules], limits)
        return
    source = await _find_source(modules, submodule.pin)
    await asyncio.to_thread(_require_free, inside, own)
    try:
        await _clone(inside, own, source, submodule.pin, limits)
        await _run(inside, limits, "checkout", "--quiet", "--detach", "--force", submodule.pin)
    except BaseException:
        await asyncio.shield(asyncio.to_thread(_remove, inside, own))
        raise
    await git(
        path, *NO_HOOKS, "submodule", "--quiet", "init", "--", submodule.path,
        write=True, check=False,
    )  # fmt: skip


async def _move(inside: Path, pin: str, modules: list[Path], limits: _Limits) -> None:
    """Bring a submodule that is checked out to another commit; its changes prevent that."""
    head = await git(inside, "rev-parse", "--verify", "HEAD", check=False)
    if head.stdout == pin:
        return
    source = await _find_source(modules, pin)
    if source != modules[0]:
        await _run(inside, limits, "fetch", *_FETCH, "--", str(source), pin)
    await _run(inside, limits, "checkout", "--quiet", "--detach", pin)


async def _clone(inside: Path, own: Path, source: Path, pin: str, limits: _Limits) -> None:
    """Make the repository of a submodule, with the remote branches that the source knows."""
    url = await git(inside.parent, "config", "--file", str(source / "config"), "remote.origin.url")
    await asyncio.to_thread(own.parent.mkdir, parents=True, exist_ok=True)
    await _run(
        inside.parent, limits, "clone", "--quiet", "--local", "--no-checkout", "--template=",
        "--separate-git-dir", str(own), "--origin", "origin", "--", str(source), str(inside),
    )  # fmt: skip
    # It names a branch of the source, which is none of the remote's.
    await _run(inside, limits, "update-ref", "--no-deref", "-d", "refs/remotes/origin/HEAD")
    await _run(
        inside, limits, "fetch", *_FETCH, "--prune", "--", str(source),
        "+refs/remotes/*:refs/remotes/*", pin,
    )  # fmt: skip
    await _run(inside, limits, "config", "remote.origin.url", url.stdout)


async def _run(cwd: Path, limits: _Limits, *args: str) -> None:
    left = limits.deadline - time.monotonic()
    if left <= 0:
        raise SpinneyError("The submodules took too long.", "timeout")
    await git(cwd, *_QUIET, *args, write=True, timeout=left)


async def _find_source(modules: list[Path], pin: str) -> Path:
    """Return the first of these repositories that has a commit."""
    for module in modules:
        found = await git(module, "cat-file", "-e", f"{pin}^{{commit}}", check=False)
        if found.returncode == 0:
            return module
    raise SpinneyError("No checkout has its commit.", "not_found")


def _list_modules(homes: list[Path], name: str) -> list[Path]:
    """Return the repositories that a submodule has in checkouts of its repository. Blocks."""
    found = []
    for home in homes:
        others = sorted((home / "worktrees").glob("*"), key=_get_time, reverse=True)[:_MAX_SOURCES]
        modules = (each / "modules" / name for each in (home, *others))
        found += [each for each in modules if is_bare_repository(each)]
    return found


def _get_time(folder: Path) -> float:
    try:
        return folder.stat().st_mtime
    except OSError:
        return 0.0  # It is being removed.


def _check_place(path: Path, modules: Path, submodule: Submodule) -> None:
    """Refuse names and paths that lead elsewhere, as an attacker's `.gitmodules` may. Blocks."""
    parts = submodule.name.split("/")
    above = [modules.joinpath(*parts[:depth]) for depth in range(1, len(parts))]
    real = Path(os.path.realpath(path), submodule.path)
    if (
        {"", ".", ".."} & {*parts}
        or any(is_bare_repository(each) for each in above)
        or Path(os.path.realpath(path / submodule.path)) != real
    ):
        raise SpinneyError("Its name or its path leads elsewhere.", "conflict")


def _clear_interrupted(inside: Path, own: Path) -> None:
    """Remove what a kill has left of a checkout that never was complete. Blocks."""
    if is_bare_repository(own) and not (own / "index").exists():
        is_writing = (own / "index.lock").exists()
        if (
            is_writing
            or not inside.is_dir()
            or {each.name for each in inside.iterdir()} <= {".git"}
        ):
            _remove(inside, own)


def _require_free(inside: Path, own: Path) -> None:
    if os.path.lexists(own) or (inside.is_dir() and any(inside.iterdir())):
        raise SpinneyError("Something else is in its place.", "conflict")


def _remove(inside: Path, own: Path) -> None:
    """Remove what was begun, and keep the empty folder that git has made for it. Blocks."""
    shutil.rmtree(own, ignore_errors=True)
    shutil.rmtree(inside, ignore_errors=True)
    with contextlib.suppress(OSError):
        inside.mkdir()
