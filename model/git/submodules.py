"""Submodules: which there are, and how they differ from their pins.

The pin is the commit that a commit of the repository names for one. Git moves it and leaves the
submodule's files as they are, so it then reports the submodule as changed. Nothing of a person is
in that, unless they changed it by themselves.
"""

import asyncio
import os
import re
import shlex
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from model.base.git_layout import find_git_directories
from model.base.text import clean_line
from model.git.run import git
from model.git.safe_config import list_settings
from model.git.uncommitted import list_uncommitted_files
from model.git.working_tree import Entry, WorkingTree, read_working_tree

SUBMODULE_MODE: Final = "160000"
_TIMEOUT: Final = 60
_MAX_EXAMINED: Final = 50
_MAX_SETTINGS: Final = 1_000_000
"""Bytes of `.gitmodules`."""
_MAX_NAMED: Final = 20
_WHOLE_PINS: Final = ("--ignore-submodules=none", "--no-renames", "--full-index")
"""Settings may leave submodules out of differences."""


_UNWANTED: Final = re.compile(
    r"submodule\..*\.(?:update=none|active=(?:false|no|off|0))", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Submodule:
    """A submodule, as the index has it."""

    name: str
    """By which git names its repository; may have slashes."""
    path: str
    pin: str
    """The commit that it should be at."""


async def list_submodules(path: Path) -> list[Submodule]:
    """Return the submodules that the index has and that are wanted."""
    settings = path / ".gitmodules"
    if not await asyncio.to_thread(_is_small_file, settings):
        return []
    listed = await git(
        path, "config", "--file", str(settings), "-z", "--get-regexp", r"^submodule\.", check=False
    )
    named = [field.partition("\n")[::2] for field in listed.fields]
    names = {
        value: key.removeprefix("submodule.").removesuffix(".path")
        for key, value in named
        if key.endswith(".path")
    }
    if not names:
        return []
    own = await asyncio.to_thread(lambda: list(list_settings(path)))
    unwanted = {
        key.removeprefix("submodule.").rpartition(".")[0]
        for key, value in [*named, *own]
        if _UNWANTED.fullmatch(f"{key}={value}")
    }
    listed = await git(path, "ls-files", "-t", "--stage", "-z", timeout=_TIMEOUT)
    found = await asyncio.to_thread(lambda: list(_parse_entries(listed.fields, names)))
    return [each for each in found if each.name not in unwanted]


def _is_small_file(file: Path) -> bool:
    try:
        facts = file.lstat()
    except OSError:
        return False
    return stat.S_ISREG(facts.st_mode) and facts.st_size <= _MAX_SETTINGS


def _parse_entries(fields: list[str], names: dict[str, str]) -> Iterator[Submodule]:
    for line in fields:
        head, _, path = line.partition("\t")
        tag, mode, pin, _ = head.split(" ")
        # What a sparse checkout leaves out is not wanted.
        if mode == SUBMODULE_MODE and tag == "H" and path in names:
            yield Submodule(names[path], path, pin)


def has_filled_submodules(path: Path) -> bool:
    """Whether a submodule of the worktree has its repository; git moves none then. Blocks."""
    directories = find_git_directories(path)
    return directories is not None and (directories.git_dir / "modules").is_dir()


async def find_changed_since(path: Path, moment: float) -> list[str]:
    """Return the submodules in which an uncommitted file has changed since then.

    Also those inside submodules. Raises what git reports.
    """
    found = []
    for submodule in await list_submodules(path):
        inside = path / submodule.path
        if await asyncio.to_thread(find_git_directories, inside) is None:
            continue
        files = await list_uncommitted_files(inside)
        if await asyncio.to_thread(_have_changed, inside, files, moment):
            found.append(submodule.path)
        deeper = await find_changed_since(inside, moment)
        found += [f"{submodule.path}/{name}" for name in deeper]
    return found


def _have_changed(root: Path, names: list[str], moment: float) -> bool:
    for name in names:
        file = root / name
        while not os.path.lexists(file):  # The folder of a deleted file has the time of that.
            file = file.parent
        facts = file.lstat()
        if max(facts.st_mtime, facts.st_ctime) >= moment:
            return True
    return False


async def find_left_behind(path: Path, tree: WorkingTree) -> set[str]:
    """Return the submodules of a worktree that differ from it by a move of their pin alone.

    Each stands at a commit that a branch, or what a branch was before, named as its pin, and no
    file in it was changed. `tree` is what was read of the worktree. Raises what git reports.
    """
    staged = {*tree.staged, *(name for _, name, _ in tree.unmerged)}
    names = [name for name in tree.submodules if name not in staged][:_MAX_EXAMINED]
    return {name for name in names if await _is_left_behind(path, name)}


async def _is_left_behind(path: Path, name: str) -> bool:
    commit = await _read_commit(path / name)
    if commit is None:
        return False
    named = await git(
        path, "--literal-pathspecs", "log", "--max-count=1", "--format=%H", "--no-show-signature",
        "-m", "--full-history", *_WHOLE_PINS, f"--find-object={commit}",
        "HEAD", "--branches", "--reflog", "--", name, check=False, timeout=_TIMEOUT,
    )  # fmt: skip
    if named.returncode != 0 or not named.stdout:
        return False
    inside, _ = await read_working_tree(path / name)
    return not inside.changed


async def describe_moved_pins(path: Path, before: str, after: str) -> str:
    """Return what to do where a checkout's move between two commits has moved pins, as a sentence.

    Empty if each submodule that is checked out there is at the commit that it should have.
    """
    if not await asyncio.to_thread((path / ".gitmodules").is_file):
        return ""
    moved = await list_pins(path, before, after)
    names = [
        name
        for name, (old, new) in moved.items()
        if new is not None and not await _is_settled(path / name, new, is_new=old is None)
    ]
    if not names:
        return ""
    command = shlex.join(["git", "-C", str(path), "submodule", "update", "--init", "--recursive"])
    which = shlex.join(["--", *names]) if len(names) <= _MAX_NAMED else ""
    are = "submodule there is" if len(names) == 1 else "submodules there are"
    return clean_line(
        f"{len(names)} {are} still at the commit from before. Run: {command} {which}".rstrip()
    )


async def list_pins(
    path: Path, before: str, after: str
) -> dict[str, tuple[Entry | None, Entry | None]]:
    """Return the submodules that two commits have otherwise, with the entries of both.

    An entry is `None` where there is no submodule. Raises what git reports.
    """
    listed = await git(
        path, "diff-tree", "-r", "-z", *_WHOLE_PINS, "--end-of-options", before, after,
        timeout=_TIMEOUT,
    )  # fmt: skip
    return await asyncio.to_thread(_parse_pins, listed.raw_stdout.split(b"\0"))


def _parse_pins(fields: list[bytes]) -> dict[str, tuple[Entry | None, Entry | None]]:
    found = {}
    for head, name in zip(fields[::2], fields[1::2], strict=False):
        old_mode, new_mode, old, new, _ = head[1:].decode().split(" ")
        sides = (Entry(old_mode, old), Entry(new_mode, new))
        before, after = (side if side.mode == SUBMODULE_MODE else None for side in sides)
        if before or after:
            found[os.fsdecode(name)] = before, after
    return found


async def _is_settled(submodule: Path, pin: Entry, *, is_new: bool) -> bool:
    """Whether it is at its pin; or if a person has not checked it out, which they may not want."""
    commit = await _read_commit(submodule)
    return not is_new if commit is None else commit == pin.object_id


async def _read_commit(submodule: Path) -> str | None:
    """Return the commit that is checked out in a submodule; `None` if none is."""
    if await asyncio.to_thread(find_git_directories, submodule) is None:
        return None
    head = await git(submodule, "rev-parse", "--verify", "--quiet", "HEAD", check=False)
    return head.stdout if head.returncode == 0 else None
