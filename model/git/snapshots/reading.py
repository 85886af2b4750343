"""Read files of a worktree byte for byte, each at most once while it does not change."""

import errno
import hashlib
import os
import stat
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from model.base.errors import SpinneyError
from model.base.paths import open_itself
from model.git.snapshots import plumbing
from model.git.snapshots.objects import NewObjects
from model.git.snapshots.scan import to_mode
from model.git.snapshots.state import is_unusual
from model.git.working_tree import Entry

_MAX_READ: Final = 256_000
"""Bytes; git itself reads larger files, in chunks."""
_MAX_HELD: Final = 16_000_000
"""Bytes of contents that are held in memory; git reads what is beyond."""
_SETTLED: Final = 2.0
"""Seconds after which a file's times show a change: some file systems count in two seconds."""
_MAX_KNOWN: Final = 5_000
_LINK: Final = "120000"

_Facts = tuple[int, ...]


class KnownFile(NamedTuple):
    """A file that a snapshot has, and the facts by which a change of it is seen."""

    facts: _Facts
    entry: Entry


class FileVanishedError(Exception):
    """A file could not be read any more after the scan."""


class FileReader:
    """Makes the entries of a tree from files on disk.

    Args:
        root: The worktree.
        objects: Takes the contents.
        known: By path, the files of a snapshot that the repository has.
    """

    def __init__(
        self, root: Path, objects: NewObjects, known: Mapping[str, KnownFile] | None = None
    ) -> None:
        self._root = root
        self._objects = objects
        self._before = known or {}
        self._held = 0
        self._large: dict[str, tuple[str, str]] = {}
        self.entries: dict[str, Entry] = {}
        """What was read, by path in the tree."""
        self.known: dict[str, KnownFile] = {}
        """For a later reader, once all objects are stored."""
        self.modes: dict[str, int] = {}
        """Permissions other than 644 and 755."""
        self.unreadable: list[str] = []

    def read(self, paths: Iterable[str], folder: str = "") -> None:
        """Read files of the worktree; in the tree they come below `folder`. Blocks.

        Raises `FileVanishedError`.
        """
        for path in paths:
            tree_path = f"{folder}{path}" if folder else plumbing.to_tree_path(path)
            facts = self.read_file(f"{self._root}/{path}", tree_path)
            if facts is None:
                self.unreadable.append(path)
            elif is_unusual(facts):
                self.modes[path] = stat.S_IMODE(facts)

    def read_file(self, file: str, tree_path: str) -> int | None:
        """Read one file, and return its mode: 0 if there is none, `None` if reading is denied."""
        try:
            found = os.lstat(file)
        except OSError:
            return 0
        mode = to_mode(found.st_mode)
        if mode is None:
            return 0
        facts = (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_mode)
        before = self._before.get(tree_path)
        if before is not None and before.facts == facts:
            self.entries[tree_path] = before.entry
            self.known[tree_path] = before
            return found.st_mode
        if found.st_size > _MAX_READ or self._held + found.st_size > _MAX_HELD:
            if not os.access(file, os.R_OK):
                return None
            self._large[tree_path] = mode, file
            return found.st_mode
        started = time.time()
        try:
            content = os.fsencode(Path(file).readlink()) if mode == _LINK else _read(file)
        except PermissionError:
            return None
        except OSError as error:
            raise FileVanishedError(str(error)) from None
        self._held += len(content)
        entry = self.entries[tree_path] = Entry(mode, self._objects.add("blob", content))
        has_settled = started - max(found.st_mtime, found.st_ctime) > _SETTLED
        if has_settled and len(self.known) < _MAX_KNOWN:
            self.known[tree_path] = KnownFile(facts, entry)
        return found.st_mode

    async def store_large(self) -> None:
        """Let git store the files that are too large to be held. Raises as `plumbing.run`."""
        if not self._large:
            return
        large, self._large = self._large, {}
        hashed = await plumbing.run(
            self._root, "hash-object", "-w", "--no-filters", "--stdin-paths", check=False,
            stdin=b"".join(plumbing.quote_path(file) + b"\n" for _, file in large.values()),
            environment=self._objects.environment,
        )  # fmt: skip
        if hashed.returncode != 0:
            if "could not open" in hashed.stderr or "No such file" in hashed.stderr:
                raise FileVanishedError(hashed.message)
            raise SpinneyError(hashed.message, "git_error")
        for (path, (mode, _)), object_id in zip(large.items(), hashed.stdout.split(), strict=True):
            self.entries[path] = Entry(mode, object_id)


def identify(file: Path, algorithm: str = "sha1") -> Entry | None:
    """Return the entry of a file or link with its bytes on disk; `None` if nothing is there.

    Raises `OSError` if it cannot be read, or is neither.
    """
    try:
        mode = to_mode(file.lstat().st_mode)
        if mode is None:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), str(file))
        if mode == _LINK:
            content = os.fsencode(file.readlink())
            return Entry(mode, _hash([content], len(content), algorithm))
        with open(file, "rb", opener=open_itself) as opened:
            size = os.fstat(opened.fileno()).st_size
            parts = iter(lambda: opened.read(_MAX_READ), b"")
            return Entry(mode, _hash(parts, size, algorithm))
    except (FileNotFoundError, NotADirectoryError):
        return None


def has_content(entry: Entry | None, file: Path) -> bool:
    """Whether a file or link has the content of an entry; without one, whether nothing is there."""
    algorithm = "sha256" if entry is not None and len(entry.object_id) == 64 else "sha1"
    try:
        found = identify(file, algorithm)
    except OSError:
        return False
    if found is None or entry is None:
        return found is entry
    is_same_kind = (found.mode == _LINK) == (entry.mode == _LINK)
    return is_same_kind and found.object_id == entry.object_id


def _hash(parts: Iterable[bytes], size: int, algorithm: str) -> str:
    named = hashlib.new(algorithm, f"blob {size}\0".encode(), usedforsecurity=False)
    for part in parts:
        named.update(part)
    return named.hexdigest()


def _read(file: str) -> bytes:
    """Read a regular file, if it was not replaced by a pipe or a link. Raises `OSError`."""
    with open(file, "rb", opener=open_itself) as opened:
        return opened.read()
