"""Replaces and deletes files of a worktree: half of one is never read, nothing saved is lost.

People, editors and other agents save files at any time. So what is replaced is exchanged with the
new file first and looked at then: if it is not what it was expected to be, it is put back. Two
limits remain. A program that keeps a file open and writes into it after that look writes into a
file that is gone, as when an editor replaces it. If Spinney is killed between exchange and look,
what was saved just before is not looked at.
"""

import os
import re
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from model.base.exchanging import exchange, move_new

_TEMPORARY: Final = re.compile(r"\.[0-9a-f]{32}\.spinney")
_STARTED_AT: Final = time.time()
"""Temporary files older than that belong to no write of this process."""

Check = Callable[[Path], bool]
"""Whether what is at a path is what was expected of a file; the path is the file's or another."""


class SavedMeanwhileError(Exception):
    """A file was saved, made or deleted while it was going to be replaced, and is left as it is.

    Args:
        beside: Where an older save is, if the file was saved twice in that moment.
    """

    def __init__(self, beside: Path | None = None) -> None:
        self.beside = beside


@contextmanager
def replacing(target: Path, is_expected: Check | None = None) -> Iterator[Path]:
    """Yield a path beside `target`; what is written to it replaces `target` at the end.

    Without `is_expected`, whatever is there is replaced. Raises `OSError`, `SavedMeanwhileError`.
    """
    temporary = _name_beside(target)
    try:
        yield temporary
        if is_expected is None:
            temporary.replace(target)
        else:
            _replace_expected(target, temporary, is_expected)
    finally:
        temporary.unlink(missing_ok=True)


def delete_expected(target: Path, is_expected: Check) -> None:
    """Delete a file or link, if there is one. Raises as `replacing`."""
    if not os.path.lexists(target):
        return
    if not is_expected(target):
        raise SavedMeanwhileError
    temporary = _name_beside(target)
    target.rename(temporary)
    if is_expected(temporary):
        temporary.unlink()
    else:
        raise SavedMeanwhileError(_put_back(temporary, target))


def _replace_expected(target: Path, temporary: Path, is_expected: Check) -> None:
    exists = os.path.lexists(target)
    if not is_expected(target):
        raise SavedMeanwhileError
    mine = _identify(temporary)
    with suppress(FileExistsError, FileNotFoundError):
        if not exists:
            move_new(temporary, target)
            return
        exchange(temporary, target)
        if is_expected(temporary):
            return
        with suppress(OSError):
            exchange(temporary, target)  # Something was saved just before.
    is_kept = _identify(temporary) == mine or is_expected(temporary)
    raise SavedMeanwhileError(None if is_kept else _put_back(temporary, target))


def _put_back(temporary: Path, target: Path) -> Path | None:
    """Move what was saved to its path, or beside it if something is there; return where then."""
    try:
        move_new(temporary, target)
    except OSError:
        return _keep_beside(temporary, target)
    return None


def _keep_beside(temporary: Path, target: Path) -> Path:
    return temporary.rename(target.with_name(f"saved-meanwhile-{uuid.uuid4().hex[:8]}"))


def _name_beside(target: Path) -> Path:
    return target.with_name(f".{uuid.uuid4().hex}.spinney")


def _identify(file: Path) -> tuple[int, ...]:
    facts = file.lstat()
    return facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns


def remove_temporary_files(folders: Iterable[Path]) -> None:
    """Delete the temporary files that a process left in these folders when it was killed."""
    for folder in folders:
        with suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if _TEMPORARY.fullmatch(entry.name) and (
                    entry.stat(follow_symlinks=False).st_mtime < _STARTED_AT
                ):
                    Path(entry.path).unlink()
