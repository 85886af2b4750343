"""Clone a file where the file system can: a copy that shares its blocks until one changes."""

import ctypes
import fcntl
import functools
import os
import sys
from contextlib import suppress
from typing import Any, Final

_FICLONE: Final = 0x40049409
"""Linux's ioctl, from `linux/fs.h`: Btrfs, XFS, bcachefs, OCFS2, NFS 4.2."""
_NEW_FILE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def clone_file(source: int, folder: int, name: str) -> bool:
    """Clone the open file `source` as a new file `name` in the open folder.

    Returns whether the file system could; if not, there is no such file afterwards. Raises
    `OSError` if `name` exists or cannot be created.
    """
    if sys.platform == "darwin":
        return _clone_on_apfs(source, folder, name)
    if sys.platform != "linux":
        return False
    target = os.open(name, _NEW_FILE, 0o600, dir_fd=folder)
    try:
        fcntl.ioctl(target, _FICLONE, source)
    except OSError:
        with suppress(OSError):
            os.unlink(name, dir_fd=folder)
        return False
    else:
        return True
    finally:
        os.close(target)


def _clone_on_apfs(source: int, folder: int, name: str) -> bool:
    with suppress(OSError, AttributeError):
        return bool(_load_system_library().fclonefileat(source, folder, os.fsencode(name), 0) == 0)
    return False


@functools.cache
def _load_system_library() -> Any:
    return ctypes.CDLL(None, use_errno=True)
