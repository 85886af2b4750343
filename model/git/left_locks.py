"""Locks that git has left in a checkout because it was killed."""

import asyncio
import os
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from model.base.git_layout import find_git_directories
from model.base.text import clean_line

_PROC: Final = Path("/proc")
_PAUSE: Final = 0.1
_CLOCK_STEP: Final = 1.0
"""Seconds by which the time of a file may be behind the clock."""


async def clear_left_locks(path: Path, ref: str, since: float, patience: float) -> str:
    """Wait until no git works in a checkout, and delete the locks that a killed one has left.

    A lock is deleted only if it is of this user, was made after `since`, and nothing that runs can
    be its owner; where that cannot be known (there is no `/proc`), it stays.

    Args:
        path: The checkout.
        ref: The branch that it has checked out: `refs/heads/main`.
        since: When the git began that was interrupted, in seconds since 1970.
        patience: Seconds to wait for a git that is at work.

    Returns:
        What a person has to do, as a sentence, if a lock stays; else nothing.
    """
    deadline = time.monotonic() + patience
    while True:
        left = await asyncio.to_thread(_clear, path, ref, since)
        if not left or time.monotonic() > deadline:
            break
        await asyncio.sleep(_PAUSE)
    locks = [lock for lock in left if lock.name.endswith(".lock")]
    if not locks:
        return ""
    names = ", ".join(clean_line(str(lock)) for lock in locks)
    return f"Git is at work there, or was killed: once no git runs there any more, delete {names}."


def _clear(path: Path, ref: str, since: float) -> list[Path]:
    """Delete the locks without an owner; return those that stay, and where a git is at work."""
    directories = find_git_directories(path)
    if directories is None:
        return []
    git_dir, common_dir = directories.git_dir, directories.common_dir
    names = [git_dir / "index", git_dir / "HEAD", common_dir / ref]
    # Before the processes: the owner of a lock that is found now runs or has ended.
    locks = _stat_all(name.with_name(f"{name.name}.lock") for name in names)
    owners = _find_owners((path, git_dir, common_dir), locks)
    if owners is None or owners:
        return [*locks, *(owners or ())]
    for lock, found in locks.items():
        now = _stat_all([lock]).get(lock)
        is_same = now is not None and (now.st_ino, now.st_mtime) == (found.st_ino, found.st_mtime)
        if is_same and found.st_uid == os.getuid() and found.st_mtime >= since - _CLOCK_STEP:
            lock.unlink(missing_ok=True)
    return [*_stat_all(locks)]


def _stat_all(files: Iterable[Path]) -> dict[Path, os.stat_result]:
    found = {}
    for file in files:
        with suppress(FileNotFoundError, NotADirectoryError):
            found[file] = file.lstat()
    return found


def _find_owners(folders: Iterable[Path], locks: Iterable[Path]) -> list[Path] | None:
    """Return the processes that may work with git in these folders, or hold one of the locks.

    `None` if that cannot be known.
    """
    if not _PROC.is_dir():
        return None
    roots = [os.path.realpath(folder) for folder in folders]
    files = {os.path.realpath(lock) for lock in locks}
    return [process for process in _PROC.glob("[0-9]*") if _may_own(process, roots, files)]


def _may_own(process: Path, roots: Iterable[str], files: set[str]) -> bool:
    if _read_name(process).startswith(b"git"):
        at = _read_link(process / "cwd")
        if any(at == root or at.startswith(f"{root}/") for root in roots):
            return True
    return bool(files) and any(_read_link(one) in files for one in _list_open(process))


# A process may end meanwhile, or close a file, or be another user's.


def _read_name(process: Path) -> bytes:
    with suppress(OSError):
        return (process / "comm").read_bytes()
    return b""


def _read_link(link: Path) -> str:
    with suppress(OSError):
        return str(link.readlink())
    return ""


def _list_open(process: Path) -> list[Path]:
    with suppress(OSError):
        return list((process / "fd").iterdir())
    return []
