"""Copy files from one directory into another without following links in either.

Each file is written under a temporary name and then moved, so that a kill leaves no half of one
under its own. What exists already stays as it is.
"""

import errno
import os
import stat
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from model.base.amounts import format_size
from model.base.exchanging import move_new
from model.base.file_clone import clone_file
from model.base.text import clean_line

TEMPORARY_NAME: Final = ".spinney-copied-file"
"""The file that is being written, in the target directory."""
MAX_FILES: Final = 100_000
MAX_BYTES: Final = 5 * 1000**3
"""Bytes that are written. Files that the file system can clone take no room and do not count."""
MAX_NAMED: Final = 5
"""Files of each kind that are named."""
_KEPT_FREE: Final = 1000**3
"""Bytes that stay free on the target's disk."""
_CHUNK: Final = 1 << 20
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_SOURCE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_TARGET: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class FileCopier:
    """Copies files in a thread; another thread may read its numbers, and stop it."""

    def __init__(self, source: Path, target: Path) -> None:
        self.seen = 0
        """Files and links that were copied or need no copy, so far."""
        self.copied = 0
        self.size = 0
        """Bytes of those that were copied."""
        self.failures: list[str] = []
        """Sentences about files that could not be copied: the first ones."""
        self.failed = 0
        self.too_large: list[str] = []
        """The first files for which there is no room, with their sizes."""
        self.left_out = 0
        """How many there are of them."""
        self._source, self._target = source, target
        self._stopped = threading.Event()
        self._room = 0
        self._clone_attempts = 3
        self._open: tuple[str, int, int] | None = None
        """The folder of the last file, open in both directories."""

    def stop(self) -> None:
        """End after the current chunk."""
        self._stopped.set()

    def copy(self, names: Sequence[str]) -> None:
        """Copy these files, with their modes and times, and links as links. Blocks.

        Raises `OSError` if one of the directories cannot be opened.
        """
        source = os.open(self._source, _FOLDER & ~os.O_NOFOLLOW)
        try:
            target = os.open(self._target, _FOLDER)
            try:
                _remove_temporary(target)
                free = os.fstatvfs(target)
                self._room = min(MAX_BYTES, free.f_bavail * free.f_frsize - _KEPT_FREE)
                for name in names[:MAX_FILES]:
                    if self._stopped.is_set():
                        break
                    self._copy(name, source, target)
                    self.seen += 1
            finally:
                self._close_folder()
                _remove_temporary(target)
                os.close(target)
        finally:
            os.close(source)

    def _copy(self, name: str, source: int, target: int) -> None:
        try:
            folder, _, own = name.rpartition("/")
            from_folder, to_folder = self._open_folder(folder, source, target)
            if _exists(own, to_folder):
                return
            facts = os.stat(own, dir_fd=from_folder, follow_symlinks=False)
            if stat.S_ISLNK(facts.st_mode):
                link = self._read_link(own, from_folder, folder)
                os.symlink(link, own, dir_fd=to_folder)
            elif not stat.S_ISREG(facts.st_mode):
                self._fail(name, "it is neither a file nor a link")
                return
            elif not self._copy_content(own, from_folder, target):
                self._leave_out(name, facts.st_size)
                return
            else:
                move_new(TEMPORARY_NAME, own, target, to_folder)
            self.copied += 1
            self.size += facts.st_size
        except FileNotFoundError:
            pass  # It was removed meanwhile.
        except FileExistsError:
            _remove_temporary(target)  # It was made in the worktree meanwhile.
        except OSError as error:
            _remove_temporary(target)
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                self._room = 0
            if not self._stopped.is_set():
                self._fail(name, error.strerror or type(error).__name__)

    def _fail(self, name: str, reason: str) -> None:
        self.failed += 1
        if len(self.failures) < MAX_NAMED:
            shown = f"{reason[:1].lower()}{reason[1:]}"
            self.failures.append(f"{clean_line(name)} was not copied: {shown}.")

    def _leave_out(self, name: str, size: int) -> None:
        self.left_out += 1
        if len(self.too_large) < MAX_NAMED:
            self.too_large.append(f"{clean_line(name)} ({format_size(size)})")

    def _read_link(self, own: str, folder: int, parent: str) -> str:
        """Return where a link leads; a relative one that leaves the directory, absolutely."""
        link = os.readlink(own, dir_fd=folder)
        inside = os.path.normpath(Path(parent) / link)
        if link.startswith("/") or not (inside == ".." or inside.startswith("../")):
            return link
        return os.path.normpath(self._source / parent / link)

    def _copy_content(self, own: str, folder: int, target: int) -> bool:
        """Copy a file to the temporary one; false if there is no room for it."""
        descriptor = os.open(own, _SOURCE, dir_fd=folder)
        try:
            facts = os.fstat(descriptor)
            is_clone = self._clone(descriptor, target)
            if not is_clone and facts.st_size > self._room:
                return False
            flags = os.O_RDONLY | os.O_NOFOLLOW if is_clone else _TARGET
            copy = os.open(TEMPORARY_NAME, flags, 0o600, dir_fd=target)
            try:
                if not is_clone:
                    self._room -= facts.st_size
                    self._write(descriptor, copy)
                os.fchmod(copy, stat.S_IMODE(facts.st_mode) & 0o777)
                os.utime(copy, ns=(facts.st_atime_ns, facts.st_mtime_ns))
            finally:
                os.close(copy)
        finally:
            os.close(descriptor)
        return True

    def _clone(self, source: int, target: int) -> bool:
        """Clone a file as the temporary one; after some failures that is not tried any more."""
        if self._clone_attempts == 0:
            return False
        if clone_file(source, target, TEMPORARY_NAME):
            return True
        self._clone_attempts -= 1
        return False

    def _write(self, source: int, copy: int) -> None:
        while chunk := os.read(source, _CHUNK):
            if self._stopped.is_set():
                raise InterruptedError
            remaining = memoryview(chunk)
            while remaining:
                remaining = remaining[os.write(copy, remaining) :]

    def _open_folder(self, folder: str, source: int, target: int) -> tuple[int, int]:
        """Open a folder in both directories, creating it in the target; the last one stays open."""
        if self._open is None or self._open[0] != folder:
            self._close_folder()
            with _duplicates(source, target) as opened:
                for part in folder.split("/") if folder else ():
                    _enter(part, opened)
                self._open = (folder, opened[0], opened[1])
        return self._open[1:]

    def _close_folder(self) -> None:
        if self._open is not None:
            os.close(self._open[1])
            os.close(self._open[2])
            self._open = None


@contextmanager
def _duplicates(source: int, target: int) -> Iterator[list[int]]:
    """Yield two descriptors that are closed if the block fails."""
    opened: list[int] = []
    try:
        opened.append(os.dup(source))
        opened.append(os.dup(target))
        yield opened
    except BaseException:
        for descriptor in opened:
            os.close(descriptor)
        raise


def _enter(part: str, opened: list[int]) -> None:
    """Replace both descriptors by those of a folder in them, which the second may not have yet."""
    inner = os.open(part, _FOLDER, dir_fd=opened[0])
    os.close(opened[0])
    opened[0] = inner
    with suppress(FileExistsError):
        mode = stat.S_IMODE(os.fstat(inner).st_mode) & 0o777
        os.mkdir(
            part, mode | stat.S_IRWXU, dir_fd=opened[1]
        )  # Files follow, also if it is read-only.
    try:
        inner = os.open(part, _FOLDER, dir_fd=opened[1])
    except NotADirectoryError:
        raise OSError(
            errno.ENOTDIR, f"a file or link is in the way of the folder '{part}'"
        ) from None
    os.close(opened[1])
    opened[1] = inner


def _exists(name: str, folder: int) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _remove_temporary(target: int) -> None:
    with suppress(OSError):
        os.unlink(TEMPORARY_NAME, dir_fd=target)
