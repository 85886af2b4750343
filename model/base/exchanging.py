"""Exchange two files, or move one to where nothing is, in one step of the file system."""

import ctypes
import errno
import functools
import os
import sys
import uuid
from pathlib import Path
from typing import Any, Final, NamedTuple


class _Call(NamedTuple):
    """The function of the system's library that renames by flags, and its numbers."""

    name: str
    working_directory: int
    exchange: int
    only_new: int


_CALLS: Final = {
    "linux": _Call("renameat2", -100, exchange=2, only_new=1),
    "darwin": _Call("renameatx_np", -2, exchange=2, only_new=4),
}
_UNSUPPORTED: Final = frozenset({errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EPERM})
"""Answers of file systems, such as NFS, and of sandboxes that do not know the flags."""


def exchange(one: Path, other: Path) -> None:
    """Exchange two files or links; there is never nothing, or half a file, at either path.

    Where the file system cannot, there is nothing at `other` for a moment. What is saved there in
    that moment stays, `one` has what was at `other`, and its own content is gone.

    Raises `OSError`: `FileExistsError` in that case, `FileNotFoundError` if one is missing.
    """
    known = _CALLS.get(sys.platform)
    if known is not None and _rename(known, one, other, known.exchange):
        return
    held = one.with_name(f".{uuid.uuid4().hex}.spinney")
    other.rename(held)
    try:
        move_new(one, other)
    except FileExistsError:
        held.replace(one)
        raise
    except OSError:
        held.rename(other)
        raise
    held.rename(one)


def move_new(
    source: Path | str,
    target: Path | str,
    source_folder: int | None = None,
    target_folder: int | None = None,
) -> None:
    """Move a file or link to a path at which there is nothing; in open folders, if given.

    Where the file system cannot do that in one step, it is looked at first. Raises `OSError`:
    `FileExistsError` if something is there.
    """
    known = _CALLS.get(sys.platform)
    folders = source_folder, target_folder
    if known is not None and _rename(known, source, target, known.only_new, folders):
        return
    try:
        os.stat(target, dir_fd=target_folder, follow_symlinks=False)
    except FileNotFoundError:
        os.rename(source, target, src_dir_fd=source_folder, dst_dir_fd=target_folder)
    else:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))


def _rename(
    known: _Call,
    source: Path | str,
    target: Path | str,
    flags: int,
    folders: tuple[int | None, int | None] = (None, None),
) -> bool:
    """Rename with flags; return whether the file system knows them."""
    call = getattr(_load_system_library(), known.name, None)
    if call is None:
        return False
    one, other = (known.working_directory if each is None else each for each in folders)
    if call(one, os.fsencode(source), other, os.fsencode(target), ctypes.c_uint(flags)) == 0:
        return True
    number = ctypes.get_errno()
    if number in _UNSUPPORTED:
        return False
    raise OSError(number, os.strerror(number), str(source), None, str(target))


@functools.cache
def _load_system_library() -> Any:
    return ctypes.CDLL(None, use_errno=True)
